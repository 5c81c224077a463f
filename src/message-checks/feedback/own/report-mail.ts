// The mail of a report: about DMARC (RFC 7489 §7.2.1.1) or TLS (RFC 8460 §5.3). It has a part for people, and the packed file.
import { field, foldText, phraseDate, sanitizedLine } from '../../../mail-format/reports/report-text.js';

const CRLF = '\r\n';

interface ReportMail {
  readonly kind: 'dmarc' | 'tls';
  /** The domain that the report is about. */
  readonly domain: string;
  /** The domain that sends it. */
  readonly submitter: string;
  readonly from: string;
  readonly to: string;
  readonly hostname: string;
  /** A UUID: Message-ID and boundary. */
  readonly id: string;
  readonly reportId: string;
  /** ms since the epoch. */
  readonly now: number;
  /** In s since the epoch. */
  readonly begin: number;
  readonly end: number;
  /** The report, as gzip. */
  readonly file: Uint8Array;
}

const KINDS = {
  dmarc: { name: 'DMARC', file: 'xml.gz', type: 'application/gzip', container: ['multipart/mixed;'] },
  tls: {
    name: 'TLS',
    file: 'json.gz',
    type: 'application/tlsrpt+gzip',
    container: ['multipart/report;', 'report-type="tlsrpt";'],
  },
} as const;

export const reportMessageId = ({ id, hostname }: Pick<ReportMail, 'id' | 'hostname'>): string =>
  `<${id}@${sanitizedLine(hostname)}>`;

/** Returns the message, with CRLF line ends. */
export function writeReportMail(mail: ReportMail): Uint8Array {
  const { kind, domain, submitter, id, reportId, begin, end, file } = mail;
  const { name: subject, file: suffix, type } = KINDS[kind];
  const boundary = `=_${id}`;
  const name = `${submitter}!${domain}!${begin}!${end}!${reportId}.${suffix}`;
  const text = foldText(
    kind === 'dmarc'
      ? `This is a DMARC aggregate report of ${submitter} about mail from ${domain}.`
      : `This is a report of ${submitter} about ${subject} with the mail hosts of ${domain}.`,
  );
  const encoded = Buffer.from(file).toString('base64').replace(/.{76}/g, `$&${CRLF}`);
  const body = [
    `--${boundary}`,
    'Content-Type: text/plain; charset=us-ascii',
    '',
    text,
    '',
    `--${boundary}`,
    field('Content-Type', [`${type};`, `name="${name}"`]).trimEnd(),
    field('Content-Disposition', ['attachment;', `filename="${name}"`]).trimEnd(),
    'Content-Transfer-Encoding: base64',
    '',
    encoded.trimEnd(),
    `--${boundary}--`,
    '',
  ];
  return Buffer.from(`${headerOf(mail, boundary)}${CRLF}${body.join(CRLF)}`);
}

function headerOf(mail: ReportMail, boundary: string): string {
  const { kind, domain, submitter, from, to, reportId, now } = mail;
  const { name, container } = KINDS[kind];
  return [
    field('From', [name, 'Reports', `<${sanitizedLine(from)}>`]),
    field('To', [`<${sanitizedLine(to)}>`]),
    field('Subject', ['Report', 'Domain:', domain, 'Submitter:', submitter, 'Report-ID:', `<${reportId}>`]),
    ...(kind === 'tls' ? [field('TLS-Report-Domain', [domain]), field('TLS-Report-Submitter', [submitter])] : []),
    field('Date', [phraseDate(now)]),
    field('Message-ID', [reportMessageId(mail)]),
    field('Auto-Submitted', ['auto-generated']),
    field('MIME-Version', ['1.0']),
    field('Content-Type', [...container, `boundary="${boundary}"`]),
  ].join('');
}
