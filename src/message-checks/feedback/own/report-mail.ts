// The mail of a DMARC aggregate report (RFC 7489 §7.2.1.1): a part for people, and the packed file.
import { field, foldText, phraseDate, sanitizedLine } from '../../../mail-format/reports/report-text.js';

const CRLF = '\r\n';

interface ReportMail {
  /** The domain that the report is about. */
  readonly domain: string;
  /** The domain that sends it. */
  readonly submitter: string;
  readonly from: string;
  readonly to: string;
  readonly hostname: string;
  /** A UUID: Message-ID, boundary and id of the report. */
  readonly id: string;
  /** ms since the epoch. */
  readonly now: number;
  /** In s since the epoch. */
  readonly begin: number;
  readonly end: number;
  /** The report, as gzip. */
  readonly file: Uint8Array;
}

export const reportMessageId = ({ id, hostname }: Pick<ReportMail, 'id' | 'hostname'>): string =>
  `<${id}@${sanitizedLine(hostname)}>`;

/** Returns the message, with CRLF line ends. */
export function writeReportMail(mail: ReportMail): Uint8Array {
  const { domain, submitter, from, to, id, now, begin, end, file } = mail;
  const boundary = `=_${id}`;
  const name = `${submitter}!${domain}!${begin}!${end}!${id}.xml.gz`;
  const header = [
    field('From', ['DMARC', 'Reports', `<${sanitizedLine(from)}>`]),
    field('To', [`<${sanitizedLine(to)}>`]),
    field('Subject', ['Report', 'Domain:', domain, 'Submitter:', submitter, 'Report-ID:', `<${id}>`]),
    field('Date', [phraseDate(now)]),
    field('Message-ID', [reportMessageId(mail)]),
    field('Auto-Submitted', ['auto-generated']),
    field('MIME-Version', ['1.0']),
    field('Content-Type', ['multipart/mixed;', `boundary="${boundary}"`]),
  ];
  const text = foldText(`This is a DMARC aggregate report of ${submitter} about mail from ${domain}.`);
  const encoded = Buffer.from(file).toString('base64').replace(/.{76}/g, `$&${CRLF}`);
  const body = [
    `--${boundary}`,
    'Content-Type: text/plain; charset=us-ascii',
    '',
    text,
    '',
    `--${boundary}`,
    field('Content-Type', ['application/gzip;', `name="${name}"`]).trimEnd(),
    field('Content-Disposition', ['attachment;', `filename="${name}"`]).trimEnd(),
    'Content-Transfer-Encoding: base64',
    '',
    encoded.trimEnd(),
    `--${boundary}--`,
    '',
  ];
  return Buffer.from(`${header.join('')}${CRLF}${body.join(CRLF)}`);
}
