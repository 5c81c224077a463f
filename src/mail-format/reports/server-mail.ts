// Mail that the server itself writes to people: plain text, which nobody answers automatically (RFC 3834 §5).
import { encodeWords, field, phraseDate, sanitizedLine } from './report-text.js';

const CRLF = '\r\n';

export interface ServerMail {
  /** The words of the name, such as `Mail` and `Server`. */
  readonly name: readonly string[];
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly hostname: string;
  /** A random UUID, for the Message-ID. */
  readonly id: string;
  /** ms since the epoch. */
  readonly now: number;
  /** Folded, without the last line end. */
  readonly paragraphs: readonly string[];
  /** The mail is placed in a mailbox of this server, not sent. */
  readonly isPlaced: boolean;
}

/** Returns the message, with CRLF line ends. */
export function writeServerMail(mail: ServerMail): Uint8Array {
  const { name, from, to, subject, hostname, id, now, paragraphs, isPlaced } = mail;
  const header = [
    ...(isPlaced ? [field('Return-Path', ['<>'])] : []),
    field('From', [...name, `<${sanitizedLine(from)}>`]),
    field('To', [`<${sanitizedLine(to)}>`]),
    field('Subject', encodeWords(subject)),
    field('Date', [phraseDate(now)]),
    field('Message-ID', [`<${id}@${sanitizedLine(hostname)}>`]),
    field('Auto-Submitted', ['auto-generated']),
    field('MIME-Version', ['1.0']),
    field('Content-Type', ['text/plain;', 'charset=utf-8']),
    field('Content-Transfer-Encoding', ['8bit']),
  ];
  return Buffer.from(`${header.join('')}${CRLF}${paragraphs.join(CRLF + CRLF)}${CRLF}`);
}
