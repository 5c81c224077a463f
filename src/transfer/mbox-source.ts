// Messages of a mailbox file (RFC 4155; mboxrd and mboxo). Quoted `From ` lines lose one `>`, and line feeds alone become line
// ends of mail; all other octets stay as they are.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { withMailLineEnds } from './line-ends.js';
import { headerFlags } from './mbox-fields.js';
import { MboxSplitter, type SplitMessage } from './mbox-splitter.js';
import { type MailSource, MOST_OCTETS, type SourceItem } from './source.js';

const PIECE_OCTETS = 1024 * 1024;
const QUOTED = Buffer.from('>From ');

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

function unquoted(message: Buffer): Buffer {
  if (!message.includes(QUOTED)) return message;
  return Buffer.from(message.toString('latin1').replace(/(^|\n)>(>*From )/g, '$1$2'), 'latin1');
}
