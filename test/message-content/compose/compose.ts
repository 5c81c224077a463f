// Composes messages for tests: a test gives the fields that it needs, and gets the octets.

import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import type { MessageIndex } from '../../../src/mail-format/message-index.js';
import {
  composeMessage,
  type MessageToCompose,
  type OutgoingAttachment,
} from '../../../src/message-content/compose/message.js';
import { Spool } from '../../../src/message-content/spool/spool.js';

export const PLAIN: MessageToCompose = {
  messageId: '<018f@mail.example.test>',
  date: new Date('2026-01-02T03:04:05Z'),
  from: { name: 'Alice', address: 'alice@example.test' },
  to: [{ name: 'Bob', address: 'bob@remote.test' }],
  cc: [],
  bcc: [],
  subject: 'Subject',
  replyTo: null,
  headers: [],
  inReplyTo: null,
  references: [],
  textBody: 'Hello\n',
  htmlBody: null,
  attachments: [],
};

/** The spool has little memory per message, so that most tests use files too; its directory is its own, as on a node. */
export const newSpool = (): Spool => new Spool({ directory: temporaryDirectory(), inMemory: 64 * 1024 });

export interface Composed {
  readonly octets: Buffer;
  /** The fields are unfolded. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly index: MessageIndex;
}

export async function compose(
  changes: Partial<MessageToCompose>,
  maxSize = 100_000_000,
  spool = newSpool(),
): Promise<Composed> {
  const content = await composeMessage({ ...PLAIN, ...changes }, spool.writer('an-account'), maxSize);
  const pieces: Uint8Array[] = [];
  for await (const piece of content.chunks()) pieces.push(piece);
  content.release();
  const octets = Buffer.concat(pieces);
  const head = octets.subarray(0, octets.indexOf('\r\n\r\n')).toString('utf8');
  const fields = head
    .replace(/\r\n[ \t]/g, ' ')
    .split('\r\n')
    .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()] as const);
  return { octets, fields, index: content.index };
}

export const attachment = (content: Uint8Array, changes: Partial<OutgoingAttachment> = {}): OutgoingAttachment => ({
  fileName: 'file.bin',
  contentType: 'application/octet-stream',
  contentId: null,
  inline: false,
  encoding: 'base64',
  content: async function* () {
    for (let at = 0; at < content.length; at += 10_007) yield content.subarray(at, at + 10_007);
  },
  ...changes,
});

/** Checks the rules of RFC 5322 §2.1.1 and §2.3 for lines, and that the message does not need 8BITMIME. */
export function faultsOf(octets: Buffer): readonly string[] {
  const text = octets.toString('latin1');
  const faults: string[] = [];
  if (/[^\r]\n|\r(?!\n)/.test(text)) faults.push('a bare CR or LF');
  if (/[\0\x80-\xff]/.test(text)) faults.push('an octet that is not ASCII');
  if (text.split('\r\n').some((line) => line.length > 998)) faults.push('a line that is too long');
  if (/\r\n[ \t]+\r\n/.test(text.slice(0, text.indexOf('\r\n\r\n') + 2))) faults.push('a blank line in the header');
  return faults;
}
