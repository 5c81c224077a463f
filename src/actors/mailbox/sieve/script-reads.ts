// Reads what scripts look at: the header of a message, and its body when the script tests it. An inline message is in memory; a stored one is
// read before the delivery is planned.
import { MessageHeader } from '../../../mail-format/header/message-header.js';
import type { MessageIndex } from '../../../mail-format/message-index.js';
import type { SieveMessage } from '../../../mail-format/sieve/message.js';
import { MOST_SCRIPTED_OCTETS, storedBody } from '../../../mail-format/sieve/stored-body.js';
import type { BlobContent, BlobStore } from '../../../store/blobs.js';

/** A message that a script judges. */
export interface ScriptedMessage {
  readonly blob: string;
  readonly readsBody: boolean;
}

/** What was read, by blob; or the fault that prevented it. */
export type ScriptedMessages = ReadonlyMap<string, SieveMessage | { readonly fault: unknown }>;

const MOST_HEADER_OCTETS = 256 * 1024;
const AT_ONCE = 4;

/** The message of a delivery whose octets are in memory; undefined when they are not. */
export function inlineScripted(
  content: Pick<BlobContent, 'index' | 'chunks'>,
  readsBody: boolean,
): SieveMessage | undefined {
  const pieces = content.chunks();
  if (!(Symbol.iterator in pieces)) return undefined;
  const { index } = content;
  let missing = endOf(index, readsBody);
  const octets: Uint8Array[] = [];
  for (const piece of pieces) {
    octets.push(piece.subarray(0, missing));
    missing -= octets.at(-1)!.length;
    if (missing === 0) break;
  }
  return messageOf(index, octets.length === 1 ? octets[0]! : Buffer.concat(octets), readsBody);
}

/** Reads the messages, or keeps the fault of each that cannot be read. */
export async function readScripted(
  blobs: Pick<BlobStore, 'index' | 'read'>,
  messages: readonly ScriptedMessage[],
): Promise<ScriptedMessages> {
  const read = new Map<string, SieveMessage | { readonly fault: unknown }>();
  const queue = [...new Map(messages.map((message) => [message.blob, message])).values()];
  async function work(): Promise<void> {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { blob, readsBody } = next;
      read.set(blob, await readOne(blobs, blob, readsBody).catch((fault: unknown) => ({ fault })));
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return read;
}

/** @throws StoreFault */
async function readOne(
  blobs: Pick<BlobStore, 'index' | 'read'>,
  blob: string,
  readsBody: boolean,
): Promise<SieveMessage> {
  const index = await blobs.index(blob);
  if (index === undefined) throw new Error(`there is no blob ${blob}`);
  return messageOf(index, await blobs.read(blob, 0, endOf(index, readsBody)), readsBody);
}

function endOf({ root, size }: MessageIndex, readsBody: boolean): number {
  return readsBody ? Math.min(size, MOST_SCRIPTED_OCTETS) : Math.min(root.bodyStart, MOST_HEADER_OCTETS);
}

function messageOf(index: MessageIndex, octets: Uint8Array, readsBody: boolean): SieveMessage {
  const header = octets.subarray(0, Math.min(index.root.bodyStart, MOST_HEADER_OCTETS));
  const fields = new MessageHeader(index, header).pairs().map(([name, value]) => ({ name, value }));
  return { size: index.size, fields, body: readsBody ? storedBody(index, octets) : undefined };
}
