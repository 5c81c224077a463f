// Reads messages of a mailbox file (RFC 4155; mboxrd and mboxo). Quoted `From ` lines lose one `>`, and bare line feeds become
// CRLF; all other octets stay unchanged.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { withMailLineEnds } from './line-ends.js';
import { headerFlags } from './mbox-fields.js';
import { MboxSplitter, type SplitMessage } from './mbox-splitter.js';
import { type MailSource, MOST_OCTETS, type SourceItem } from './source.js';

const PIECE_OCTETS = 1024 * 1024;
const QUOTED = Buffer.from('>From ');
const QUOTE = 0x3e;
const LF = 0x0a;

export async function mboxSource(file: string, folder: string): Promise<MailSource> {
  const { size } = await stat(file);
  const progress = { done: 0, total: size };
  let number = 0;

  function itemOf({ octet, date, bytes }: SplitMessage): SourceItem {
    const where = `message ${++number} at octet ${octet}`;
    if (bytes === undefined) return { kind: 'failure', where, problem: `larger than ${MOST_OCTETS} octets` };
    if (bytes.length === 0) return { kind: 'failure', where, problem: 'empty' };
    const message = withMailLineEnds(unquoted(bytes));
    return { kind: 'message', where, folder, bytes: message, receivedAt: date, flags: headerFlags(message) };
  }

  async function* items(): AsyncGenerator<SourceItem, void> {
    const splitter = new MboxSplitter();
    for await (const piece of createReadStream(file, { highWaterMark: PIECE_OCTETS })) {
      for (const message of splitter.push(piece as Buffer)) yield itemOf(message);
      progress.done += (piece as Buffer).length;
    }
    for (const message of splitter.end()) yield itemOf(message);
  }

  return { items, progress };
}

/** Searches by octets: a large message of quoted lines has more matches than a regular expression may find. */
function unquoted(message: Buffer): Buffer {
  let found = message.indexOf(QUOTED);
  if (found < 0) return message;
  const kept = Buffer.allocUnsafe(message.length);
  let from = 0;
  let to = 0;
  for (; found >= 0; found = message.indexOf(QUOTED, found + QUOTED.length)) {
    if (!isBehindQuotes(message, found)) continue;
    to += message.copy(kept, to, from, found);
    from = found + 1;
  }
  to += message.copy(kept, to, from);
  return kept.subarray(0, to);
}

/** Whether only quote signs stand between the start of the line and this octet. */
function isBehindQuotes(message: Buffer, octet: number): boolean {
  let at = octet;
  while (at > 0 && message[at - 1] === QUOTE) at--;
  return at === 0 || message[at - 1] === LF;
}
