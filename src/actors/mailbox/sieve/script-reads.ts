// Reads what scripts look at: the header of a message, and its body when the script tests it. An inline message is in memory; a stored one is
// read before the delivery is planned.
import { FairSemaphore } from '../../../concurrency/fair-semaphore.js';
import { MessageHeader } from '../../../mail-format/header/message-header.js';
import type { MessageIndex } from '../../../mail-format/message-index.js';
import type { SieveMessage } from '../../../mail-format/sieve/message.js';
import { MOST_SCRIPTED_OCTETS, storedBody } from '../../../mail-format/sieve/stored-body.js';
import type { BlobContent, BlobStore } from '../../../store/blobs.js';
import { StoreFault } from '../../../store/errors.js';

/** A message that a script judges. */
export interface ScriptedMessage {
  readonly blob: string;
  readonly readsBody: boolean;
}

/** What was read, by blob; or the fault that prevented it. */
export type ScriptedMessages = ReadonlyMap<string, SieveMessage | { readonly fault: unknown }>;

/** Messages for the scripts of a group of deliveries. */
export interface ReadForScripts {
  readonly messages: ScriptedMessages;
  /** Ends the use of their memory. */
  release(): void;
}

interface Found extends ScriptedMessage {
  readonly index: MessageIndex;
  /** How much of it is read. */
  readonly octets: number;
}

const MOST_HEADER_OCTETS = 256 * 1024;
const AT_ONCE = 4;
/** The octets that all deliveries of a node, and those of one account, have in memory for scripts. */
const MOST_OCTETS = 64 * 1024 * 1024;
const MOST_OCTETS_OF_ACCOUNT = 16 * 1024 * 1024;
const TOO_MUCH = new StoreFault('store-unavailable', 'too much mail is read for scripts at once', { temporary: true });

/** The accounts of the node share it. */
const memory = new FairSemaphore({ total: MOST_OCTETS, share: MOST_OCTETS_OF_ACCOUNT });

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

/**
 * Reads the messages, or keeps the fault of each that cannot be read. What does not fit in the share of the account is read later; so is
 * everything when `signal` aborts while other messages have the memory.
 */
export async function readScripted(
  blobs: Pick<BlobStore, 'index' | 'read'>,
  accountId: string,
  messages: readonly ScriptedMessage[],
  signal?: AbortSignal,
): Promise<ReadForScripts> {
  const all = [...new Map(messages.map((message) => [message.blob, message])).values()];
  const read = new Map<string, SieveMessage | { readonly fault: unknown }>();
  const keepFault = (blob: string) => (fault: unknown) => void read.set(blob, { fault });
  const found: Found[] = [];
  await atOnce(all, ({ blob, readsBody }) =>
    indexOf(blobs, blob)
      .then((index) => void found.push({ blob, readsBody, index, octets: endOf(index, readsBody) }))
      .catch(keepFault(blob)),
  );
  const { fitting, others, octets } = withinShare(found);
  for (const { blob } of others) keepFault(blob)(TOO_MUCH);
  const permit = await memory.acquire(accountId, { weight: octets, signal }).catch(() => undefined);
  if (permit === undefined) {
    for (const { blob } of fitting) keepFault(blob)(TOO_MUCH);
    return { messages: read, release() {} };
  }
  await atOnce(fitting, ({ blob, readsBody, index, octets: end }) =>
    blobs
      .read(blob, 0, end)
      .then((start) => void read.set(blob, messageOf(index, start, readsBody)))
      .catch(keepFault(blob)),
  );
  return { messages: read, release: () => permit.release() };
}

/** At least one message fits. */
function withinShare(found: readonly Found[]) {
  let octets = 0;
  const fitting: Found[] = [];
  const others: Found[] = [];
  for (const one of found) {
    const isFitting = fitting.length === 0 || octets + one.octets <= MOST_OCTETS_OF_ACCOUNT;
    if (isFitting) octets += one.octets;
    (isFitting ? fitting : others).push(one);
  }
  return { fitting, others, octets };
}

async function atOnce<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const queue = [...items];
  async function next(): Promise<void> {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  }
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

/** @throws StoreFault */
async function indexOf(blobs: Pick<BlobStore, 'index'>, blob: string): Promise<MessageIndex> {
  const index = await blobs.index(blob);
  if (index === undefined) throw new Error(`there is no blob ${blob}`);
  return index;
}

function endOf({ root, size }: MessageIndex, readsBody: boolean): number {
  return readsBody ? Math.min(size, MOST_SCRIPTED_OCTETS) : Math.min(root.bodyStart, MOST_HEADER_OCTETS);
}

function messageOf(index: MessageIndex, octets: Uint8Array, readsBody: boolean): SieveMessage {
  const header = octets.subarray(0, Math.min(index.root.bodyStart, MOST_HEADER_OCTETS));
  const fields = new MessageHeader(index, header).pairs().map(([name, value]) => ({ name, value }));
  const isHeaderWhole = index.root.bodyStart <= MOST_HEADER_OCTETS;
  return { size: index.size, fields, isHeaderWhole, body: readsBody ? storedBody(index, octets) : undefined };
}
