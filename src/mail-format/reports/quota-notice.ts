// The notice to a user whose mailbox is nearly full: a message of plain text, from the system.
import { encodeWords, field, foldText, phraseDate } from './report-text.js';

export interface QuotaNotice {
  readonly hostname: string;
  /** A random UUID, for the Message-ID. */
  readonly id: string;
  /** ms since the epoch. */
  readonly now: number;
  /** The address of the account. */
  readonly address: string;
  readonly used: { readonly bytes: number; readonly messages: number };
  /** null: no limit. */
  readonly limit: { readonly bytes: number | null; readonly messages: number | null };
}

const CRLF = '\r\n';
const MIB = 1024 * 1024;

/** Returns the message, with CRLF line ends. */
export function writeQuotaNotice({ hostname, id, now, address, used, limit }: QuotaNotice): Uint8Array {
  const header = [
    field('Return-Path', ['<>']),
    field('From', ['Mail', 'System', `<mailer-daemon@${hostname}>`]),
    field('To', [`<${address}>`]),
    field('Subject', encodeWords('Your mailbox is nearly full')),
    field('Date', [phraseDate(now)]),
    field('Message-ID', [`<${id}@${hostname}>`]),
    field('Auto-Submitted', ['auto-generated']),
    field('MIME-Version', ['1.0']),
    field('Content-Type', ['text/plain;', 'charset=utf-8']),
  ];
  const lines = [
    `The mailbox of ${address} uses more than 90 % of what it may use:`,
    ...(limit.bytes === null ? [] : [`- ${mebibytes(used.bytes)} of ${mebibytes(limit.bytes)} MiB`]),
    ...(limit.messages === null ? [] : [`- ${used.messages} of ${limit.messages} messages`]),
    'When it is full, mail to you is returned to its senders after some days, and you cannot save drafts or send mail.',
    'Delete mail that you no longer need, and empty the trash. Mail in the trash counts too.',
  ];
  const text = lines.map((line) => `${foldText(line)}${CRLF}`).join(CRLF);
  return Buffer.from(`${header.join('')}${CRLF}${text}`);
}

const mebibytes = (bytes: number): string => (bytes / MIB).toFixed(1);
