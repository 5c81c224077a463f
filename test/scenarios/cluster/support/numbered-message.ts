// Messages of the load: the id of an attempt is the subject, and stands in every line of the body with the number of the line. So a
// message that was cut, mixed with another, or lost its end is noticed wherever it is read.
import { simpleParser } from 'mailparser';

export interface NumberedMessage {
  readonly id: string;
  /** The approximate size of the whole message. */
  readonly octets: number;
}

const LINE = 76;
/** A message of at most 256 KiB is given to its mailbox with the command; the header that a node adds has some hundred octets. */
const BOUND = 262_144;
const AROUND = 3_000;
/** Most messages are small, because large ones take most of the time. One is around the bound, another one beyond it. */
const SIZES = [
  [1_000, 4_000, BOUND, 2_000, 1_000, 48_000, 2_000, 8_000],
  [4_000, 1_000, 2_000, 300_000, 8_000, 2_000, 16_000, 1_000],
  [2_000, 4_000, 1_000, 2_000, 8_000, 1_000, 2_000, 4_000],
].flat();

/** Returns the size of a sender's message. Each sender begins at another size. */
export function octetsOf(sender: number, message: number): number {
  const size = SIZES[(3 * sender + message) % SIZES.length]!;
  return size === BOUND ? BOUND - AROUND + ((sender * 977 + message * 131) % (2 * AROUND)) : size;
}

export function bodyOf({ id, octets }: NumberedMessage): string {
  const lines: string[] = [];
  for (let i = 0; i * (LINE + 2) < octets; i++) lines.push(`${i} ${id} `.padEnd(LINE, '.'));
  return `${lines.join('\r\n')}\r\n`;
}

/** Returns the whole message. No line begins with a dot. */
export function messageOf(message: NumberedMessage, from: string, to: readonly string[]): string {
  const messageId = `<${message.id.replaceAll(' ', '.')}@load.test>`;
  const header = [`From: ${from}`, `To: ${to.join(', ')}`, `Subject: ${message.id}`, `Message-ID: ${messageId}`];
  return `${header.join('\r\n')}\r\n\r\n${bodyOf(message)}`;
}

/** `source`: what a server has stored, its own header fields included; the server may have chosen the transfer encoding. */
export async function isWhole(message: NumberedMessage, source: Buffer): Promise<boolean> {
  const wanted = bodyOf(message).trimEnd();
  const text = source.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  if (end > 0 && text.slice(end + 4).trimEnd() === wanted) return true;
  const parsed = await simpleParser(source, { skipHtmlToText: true, skipTextToHtml: true, skipTextLinks: true });
  return parsed.text?.trimEnd() === wanted.replaceAll('\r\n', '\n');
}
