// Reads the report in the attachment of a message: unpacks it, and tells XML from JSON by its first character.
import { decodeTransfer } from '../../../mail-format/decode/transfer.js';
import type { IndexedPart } from '../../../mail-format/message-index.js';
import { type FeedbackReport, UnreadableReport } from '../feedback-reports.js';
import { readDmarcXml } from './dmarc-xml.js';
import { readTlsJson } from './tls-json.js';
import { unpackReport } from './unpacked-report.js';

/** `body`: the octets of the part in its transfer encoding. @throws UnreadableReport */
export async function readReportFile(
  { encoding }: Pick<IndexedPart, 'encoding'>,
  body: Uint8Array,
): Promise<FeedbackReport> {
  const octets = await unpackReport(Buffer.from(decodeTransfer(encoding, body)));
  const first = octets
    .subarray(0, 100)
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .trimStart()[0];
  if (first === '{') return readTlsJson(octets);
  if (first === '<') return readDmarcXml(octets);
  throw new UnreadableReport('the attachment is no report');
}
