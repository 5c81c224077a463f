// The body of a message as scripts look at it, made from the octets of the message and its MIME index. Parts are decoded when a script looks
// at them.
import { htmlText } from '../decode/html-text.js';
import { textOf } from '../decode/part-text.js';
import { decodeTransfer } from '../decode/transfer.js';
import type { IndexedPart, MessageIndex } from '../message-index.js';
import type { SieveBody, SievePart } from './message.js';

/** The octets of a message that scripts look at, from its start. */
export const MOST_SCRIPTED_OCTETS = 1024 * 1024;

/** `octets`: the start of the message. Parts that lie behind it are empty. */
export function storedBody({ root }: Pick<MessageIndex, 'root'>, octets: Uint8Array): SieveBody {
  const leaves = leavesOf(root);
  const texts = leaves
    .filter(({ type }) => type === 'text')
    .map((part) => ({ part, text: once(() => read(part, octets)) }));
  const known = new Map(texts.map(({ part, text }) => [part, text]));
  return {
    raw: once(() => Buffer.from(octets.subarray(root.bodyStart)).toString('utf8')),
    parts: leaves.map(
      (part): SievePart => ({
        type: `${part.type}/${part.subtype}`,
        text: known.get(part) ?? once(() => Buffer.from(decoded(part, octets)).toString('utf8')),
      }),
    ),
    text: once(() => texts.map(({ part, text }) => (part.subtype === 'html' ? htmlText(text()) : text())).join('\n')),
  };
}

function read(part: IndexedPart, octets: Uint8Array): string {
  return textOf(part, octets.subarray(part.bodyStart, part.bodyEnd));
}

function decoded(part: IndexedPart, octets: Uint8Array): Uint8Array {
  return decodeTransfer(part.encoding, octets.subarray(part.bodyStart, part.bodyEnd));
}

/** The parts without others, in order. */
function leavesOf(root: IndexedPart): readonly IndexedPart[] {
  const leaves: IndexedPart[] = [];
  const open = [root];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (part.parts.length === 0) leaves.push(part);
    else for (let i = part.parts.length - 1; i >= 0; i--) open.push(part.parts[i]!);
  }
  return leaves;
}

function once(make: () => string): () => string {
  let made: string | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
