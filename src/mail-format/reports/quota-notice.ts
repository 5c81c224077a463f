// The notice to a user whose mailbox is nearly full: a message of plain text, from the system.
import { foldText } from './report-text.js';
import { writeServerMail } from './server-mail.js';

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

const MIB = 1024 * 1024;

/** Returns the message, with CRLF line ends. */
export function writeQuotaNotice({ hostname, id, now, address, used, limit }: QuotaNotice): Uint8Array {
  const lines = [
    `The mailbox of ${address} uses more than 90 % of what it may use:`,
    ...(limit.bytes === null ? [] : [`- ${mebibytes(used.bytes)} of ${mebibytes(limit.bytes)} MiB`]),
    ...(limit.messages === null ? [] : [`- ${used.messages} of ${limit.messages} messages`]),
    'When it is full, mail to you is returned to its senders after some days, and you cannot save drafts or send mail.',
    'Delete mail that you no longer need, and empty the trash. Mail in the trash counts too.',
  ];
  return writeServerMail({
    name: ['Mail', 'System'],
    from: `mailer-daemon@${hostname}`,
    ...{ to: address, subject: 'Your mailbox is nearly full', hostname, id, now, isPlaced: true },
    paragraphs: lines.map((line) => foldText(line)),
  });
}

const mebibytes = (bytes: number): string => (bytes / MIB).toFixed(1);
