// Reads the parts of messages that filters look at: headers, and bodies in which their texts and expressions are searched.
import { atMost } from '../../../concurrency/time-bounds.js';
import { MessageHeader } from '../../../mail-format/header/message-header.js';
import type { BlobContent, BlobStore } from '../../../store/blobs.js';
import type { EmailSummaryRow } from '../../../store/mailboxes.js';
import type { EmailTexts } from '../search/email-texts.js';
import { searchBody } from './body-search.js';
import { type Asking, type EmailFacts, type UnreadParts, undecided, unreadParts } from './filter-match.js';

/** What was read of a message. */
export type ReadMessage = Pick<EmailFacts, 'header' | 'body'>;

export const NOTHING_READ: ReadMessage = { header: null, body: null };

/** A message that filters judge. */
export interface JudgedMessage {
  readonly blob: string;
  readonly facts: EmailFacts;
}

const AT_ONCE = 4;
/** The octets of a header that are read; the index reads no more either. */
const MOST_HEADER_OCTETS = 256 * 1024;
const NO_INDEX = { envelope: { to: [], cc: [] } };

/** The facts that filters look at, from an email's row or summary. */
export function factsOf(
  email: Pick<EmailSummaryRow, 'fromAddress' | 'subject' | 'hasAttachments' | 'size'>,
  { header, body }: ReadMessage = NOTHING_READ,
): EmailFacts {
  const { fromAddress, subject, hasAttachments, size } = email;
  return { fromAddress, subject, hasAttachments, size, header, body };
}

/** The header of a message that is not stored yet; undefined when its octets are not in memory. */
export function headerOf(content: Pick<BlobContent, 'index' | 'chunks'>): MessageHeader | undefined {
  const { index } = content;
  const pieces = content.chunks();
  if (!(Symbol.iterator in pieces)) return undefined;
  const octets: Uint8Array[] = [];
  let missing = index.root.bodyStart;
  for (const piece of pieces) {
    octets.push(piece.subarray(0, missing));
    missing -= octets.at(-1)!.length;
    if (missing === 0) break;
  }
  return new MessageHeader(index, octets.length === 1 ? octets[0]! : Buffer.concat(octets));
}

/** The header of a stored message; an empty one when there is no such blob. @throws StoreFault */
export async function storedHeader(blobs: Pick<BlobStore, 'index' | 'read'>, blob: string): Promise<MessageHeader> {
  const index = await blobs.index(blob);
  if (index === undefined) return new MessageHeader(NO_INDEX, new Uint8Array());
  return new MessageHeader(index, await blobs.read(blob, 0, Math.min(index.root.bodyStart, MOST_HEADER_OCTETS)));
}

/** Reads the parts that the filters need, in the given time; a failed message is passed to `failed`. Keyed by blob. */
export async function readParts(
  texts: EmailTexts,
  accountId: string,
  asking: readonly Asking[],
  messages: readonly JudgedMessage[],
  withinMs: number,
  failed: (error: unknown, blob: string) => void,
): Promise<ReadonlyMap<string, ReadMessage>> {
  const read = new Map<string, ReadMessage>();
  const waiting = new Map(messages.map((message) => [message.blob, message]));
  if (waiting.size === 0) return read;
  const queue = [...waiting.values()];
  let isLate = false;
  async function work(): Promise<void> {
    for (let next = queue.shift(); next !== undefined && !isLate; next = queue.shift()) {
      const { blob, facts } = next;
      try {
        for await (const parts of partsOf(texts, accountId, blob, asking, facts)) if (!isLate) read.set(blob, parts);
        if (!isLate) waiting.delete(blob);
      } catch (error) {
        if (!isLate) failed(error, blob);
        waiting.delete(blob);
      }
    }
  }
  isLate = !(await atMost(Promise.all(Array.from({ length: AT_ONCE }, work)), withinMs));
  if (isLate) for (const blob of waiting.keys()) failed(new Error('it was not read in time'), blob);
  return read;
}

/** Yields what is read so far: the header comes first, because it may decide that the body is not needed. */
async function* partsOf(
  texts: EmailTexts,
  accountId: string,
  blob: string,
  asking: readonly Asking[],
  facts: EmailFacts,
): AsyncGenerator<ReadMessage> {
  let { header } = facts;
  let unread: UnreadParts = unreadParts(asking, facts);
  if (unread.header) {
    header = await texts.header(blob);
    yield { header, body: null };
    unread = unreadParts(asking, { ...facts, header });
  }
  if (!unread.body) return;
  const { text, extent } = await texts.text(accountId, blob);
  if (extent === 'undecoded') throw new Error('it was not decoded in time');
  const searching = undecided(asking, { ...facts, header });
  yield { header, body: await searchBody({ text, isWhole: extent === 'whole' }, facts.subject, searching) };
}
