// Unpacks the attachment of a report: gzip, a ZIP archive with one file, or plain text. The first octets decide, because senders declare
// wrong types. What grows too large, or grows too much, is refused before it is in memory.
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { UnreadableReport } from '../feedback-reports.js';
import { readZip } from './zip-entry.js';

/** Octets of an unpacked report; the largest genuine ones have a few MB. */
const MOST_OCTETS = 32 * 1024 * 1024;
/** A report may always have this many octets. */
const FREE_OCTETS = 1024 * 1024;
/** Larger reports are at most this many times as large as their packed form. Genuine XML shrinks to a tenth or a fiftieth. */
const MOST_RATIO = 200;

const unzip = promisify(gunzip);

/** The octets that a packed report of this size may have. */
function mostOctets(packed: number): number {
  return Math.min(MOST_OCTETS, Math.max(FREE_OCTETS, packed * MOST_RATIO));
}

/** @throws UnreadableReport */
export async function unpackReport(octets: Buffer): Promise<Buffer> {
  const most = mostOctets(octets.length);
  if (octets[0] === 0x1f && octets[1] === 0x8b) {
    try {
      return await unzip(octets, { maxOutputLength: most });
    } catch {
      throw new UnreadableReport('the gzip file cannot be unpacked within the bounds');
    }
  }
  if (octets.subarray(0, 4).toString('latin1') === 'PK\u0003\u0004') return readZip(octets, most);
  if (octets.length > MOST_OCTETS) throw new UnreadableReport('the report is too large');
  return octets;
}
