// Writes the notification that a message was rejected automatically (RFC 5429 §2.1.3): a message disposition notification (RFC 8098) with a
// part for people and a part for programs. None of the text that others chose can end a line or begin a field.
import { part } from './automatic-reply-mail.js';
import { encodeWords, field, phraseDate, sanitizedLine } from './report-text.js';

const CRLF = '\r\n';
const MESSAGE_ID = /^<[!-;=?-~]{1,500}>$/;

export interface Mdn {
  /** The address that was written to. */
  readonly from: string;
  readonly to: string;
  /** The subject of the message that is rejected. */
  readonly subject: string;
  readonly messageId: string | null;
  readonly reason: string;
  readonly hostname: string;
  /** A random UUID, for the Message-ID and the boundary. */
  readonly id: string;
  /** ms since the epoch. */
  readonly now: number;
}

/** Returns the message, with CRLF line ends. */
export function writeMdn({ from, to, subject, messageId, reason, hostname, id, now }: Mdn): Uint8Array {
  const host = sanitizedLine(hostname);
  const boundary = `mdn-${id}`;
  const original = messageId !== null && MESSAGE_ID.test(messageId) ? messageId : undefined;
  const header = [
    field('From', [`<${sanitizedLine(from)}>`]),
    field('To', [`<${sanitizedLine(to)}>`]),
    field('Subject', encodeWords(`Rejected: ${sanitizedLine(subject) || '(no subject)'}`)),
    field('Date', [phraseDate(now)]),
    field('Message-ID', [`<${id}@${host}>`]),
    ...(original === undefined ? [] : [field('In-Reply-To', [original]), field('References', [original])]),
    field('Auto-Submitted', ['auto-replied']),
    field('MIME-Version', ['1.0']),
    field('Content-Type', ['multipart/report;', 'report-type=disposition-notification;', `boundary="${boundary}"`]),
  ];
  const told = `Your message was refused by the mail filter of its recipient:${CRLF}${CRLF}${reason}${CRLF}`;
  const recipient = sanitizedLine(from);
  const disposition = [
    field('Reporting-UA', [`${host};`, 'Mansio']),
    field('Final-Recipient', [/^[ -~]*$/.test(recipient) ? 'rfc822;' : 'utf-8;', recipient]),
    ...(original === undefined ? [] : [field('Original-Message-ID', [original])]),
    field('Disposition', ['automatic-action/MDN-sent-automatically;', 'deleted']),
  ].join('');
  const parts = [part('plain', told), `Content-Type: message/disposition-notification${CRLF}${CRLF}${disposition}`];
  const delimited = parts.map((one) => `--${boundary}${CRLF}${one}${CRLF}`).join('');
  return Buffer.from(`${header.join('')}${CRLF}${delimited}--${boundary}--${CRLF}`);
}
