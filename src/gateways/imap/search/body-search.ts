// BODY and TEXT (decision 0042). If the other keys leave few messages, their texts are read and searched for the string. If
// they leave many, the search index of the mailbox decides by words. Texts are also read for a string without a word, and when
// the index cannot answer.

import { FairSemaphore } from '../../../concurrency/fair-semaphore.js';
import { type SearchTerm, wordsOf } from '../../../mail-format/words/search-text.js';
import { searchForm } from '../../../mail-format/words/unicode-casemap.js';
import type { BlobStore } from '../../../store/blobs.js';
import type { Message, MessageNeeds } from '../messages/message-source.js';
import { PositionSet } from '../view/position-set.js';
import { type BodyTextRange, bodyTextOf, bodyTextRanges } from './body-texts.js';
import { isInHeader } from './message-fields.js';
import type { SearchPace } from './search-pace.js';

/** The most messages, and octets of their texts, that are read although the search index could decide. */
const MOST_READ = 1000;
const MOST_READ_OCTETS = 4 * 1024 * 1024;
/** Octets that are read at a time; a message up to SMALL_OCTETS is read as a whole. */
const BATCH_OCTETS = 1024 * 1024;
const SMALL_OCTETS = 64 * 1024;
/** Words of a string that are looked up in the index. */
const MOST_WORDS = 100;

/** Searches of this process that read bodies, one per account. The others wait; limits of connections bound their number. */
const readers = new FairSemaphore({ total: 4, share: 1 });

const INDEX: MessageNeeds = { index: true };
const WHOLE: MessageNeeds = { header: true, index: true };
const HEADER: MessageNeeds = { header: true };

/** The messages of the search, as positions in the view. */
export interface SearchedMessages {
  readonly columns: { readonly count: number; withUids(uids: Uint32Array): PositionSet };
  eachMessage(
    among: PositionSet,
    needs: MessageNeeds,
    use: (message: Message, position: number) => Promise<void> | void,
  ): Promise<void>;
}

export interface BodySearchOptions {
  readonly accountId: string;
  readonly blobs: Pick<BlobStore, 'readAll' | 'readRanges'>;
  readonly pace: SearchPace;
  /**
   * Returns the ascending UIDs of the folder's messages in which the search index finds the term; undefined when the index
   * cannot answer now.
   */
  byWords(term: SearchTerm, part: 'body' | 'text'): Promise<Uint32Array | undefined>;
}

interface ReadMessage {
  readonly message: Message;
  readonly position: number;
  readonly ranges: readonly BodyTextRange[];
  /** Whether the ranges include the MIME header fields of all parts. */
  readonly isWhole: boolean;
}

/** Texts in the form in which they are searched. */
interface MessageTexts {
  readonly body: string;
  /** The MIME header fields of parts; undefined when they were not read. */
  readonly mimeHeaders: string | undefined;
}

const isFoundIn = (sought: string, { body, mimeHeaders }: MessageTexts, part: 'body' | 'text'): boolean =>
  body.includes(sought) || (part === 'text' && mimeHeaders?.includes(sought) === true);

/** Serves the BODY and TEXT keys of one search. */
export class BodySearch {
  readonly #options: BodySearchOptions;
  /** Texts that were read, by UID; kept only when the messages are few. */
  readonly #texts = new Map<number, MessageTexts>();
  /** Text ranges of few messages, by UID, because an index is parsed at every access. */
  readonly #ranges = new Map<number, readonly BodyTextRange[]>();

  constructor(options: BodySearchOptions) {
    this.#options = options;
  }

  /** Returns the messages of `among` that contain the string. */
  async matching(
    part: 'body' | 'text',
    text: string,
    among: PositionSet,
    messages: SearchedMessages,
  ): Promise<PositionSet> {
    const sought = searchForm(text);
    if (sought === '') return among;
    const term = termOf(text);
    const isFew = await this.#areFew(among, messages);
    const indexed = term === undefined || isFew ? undefined : await this.#options.byWords(term, part);
    if (indexed === undefined) return this.#byReading(part, sought, among, messages, isFew);
    const found = among.and(messages.columns.withUids(indexed));
    return part === 'body' ? found : found.or(await inHeaders(sought, among.minus(found), messages));
  }

  /** Tells whether the messages are few and their texts short. */
  async #areFew(among: PositionSet, messages: SearchedMessages): Promise<boolean> {
    if (among.count > MOST_READ) return false;
    let octets = 0;
    await messages.eachMessage(among, INDEX, ({ uid, index }) => {
      const ranges = this.#ranges.get(uid) ?? bodyTextRanges(index);
      this.#ranges.set(uid, ranges);
      octets += octetsOf(ranges);
    });
    return octets <= MOST_READ_OCTETS;
  }

  async #byReading(
    part: 'body' | 'text',
    sought: string,
    among: PositionSet,
    messages: SearchedMessages,
    isKept: boolean,
  ): Promise<PositionSet> {
    const found = new PositionSet(among.size);
    let batch: ReadMessage[] = [];
    let octets = 0;
    const searchBatch = async (): Promise<void> => {
      const texts = await this.#read(batch);
      for (const [i, text] of texts.entries()) {
        const { message, position } = batch[i]!;
        if (isKept) this.#texts.set(message.uid, text);
        if (isFoundIn(sought, text, part)) found.add(position);
      }
      batch = [];
      octets = 0;
    };
    const { accountId, pace } = this.#options;
    const permit = await pace.while(readers.acquire(accountId), among.count);
    try {
      // The client may have left during the wait.
      await pace.rest(0, among.count);
      await messages.eachMessage(among, WHOLE, (message, position) => {
        const text = this.#texts.get(message.uid);
        const isFound =
          (part === 'text' && isInHeader(message, sought)) || (text !== undefined && isFoundIn(sought, text, part));
        if (isFound) found.add(position);
        const isRead = text !== undefined && (part === 'body' || text.mimeHeaders !== undefined);
        if (isFound || isRead) return;
        const all = this.#ranges.get(message.uid) ?? bodyTextRanges(message.index);
        const ranges = part === 'text' ? all : all.filter(({ isMimeHeader }) => !isMimeHeader);
        batch.push({ message, position, ranges, isWhole: ranges.length === all.length });
        octets += message.size <= SMALL_OCTETS ? message.size : octetsOf(ranges);
        return octets >= BATCH_OCTETS ? searchBatch() : undefined;
      });
      await searchBatch();
    } finally {
      permit.release();
    }
    return found;
  }

  async #read(batch: readonly ReadMessage[]): Promise<MessageTexts[]> {
    const { blobs, pace } = this.#options;
    const small = batch.filter(({ message }) => message.size <= SMALL_OCTETS).map(({ message }) => message.blob);
    const whole = small.length === 0 ? undefined : await blobs.readAll(small);
    const texts: MessageTexts[] = [];
    for (const { message, ranges, isWhole } of batch) {
      const octets = whole?.get(message.blob);
      const pieces =
        octets === undefined
          ? await blobs.readRanges(message.blob, ranges)
          : ranges.map(({ start, end }) => octets.subarray(start, end));
      let body = '';
      let mimeHeaders = '';
      for (const [i, range] of ranges.entries()) {
        const text = ` ${searchForm(bodyTextOf(range, pieces[i]!))}`;
        if (range.isMimeHeader) mimeHeaders += text;
        else body += text;
        if (pace.isDue) await pace.rest(texts.length, batch.length);
      }
      texts.push({ body, mimeHeaders: isWhole ? mimeHeaders : undefined });
    }
    return texts;
  }
}

/** Searches whole headers, because the index contains only the fields of the envelope. */
async function inHeaders(sought: string, among: PositionSet, messages: SearchedMessages): Promise<PositionSet> {
  const found = new PositionSet(among.size);
  await messages.eachMessage(among, HEADER, (message, position) => {
    if (isInHeader(message, sought)) found.add(position);
  });
  return found;
}

function octetsOf(ranges: readonly BodyTextRange[]): number {
  return ranges.reduce((sum, { start, end }) => sum + end - start, 0);
}

/** Returns consecutive words; the last one may be the start of a word unless other characters follow it. */
function termOf(text: string): SearchTerm | undefined {
  const words = wordsOf(text, MOST_WORDS);
  if (words.length === 0) return undefined;
  const isCut = words.length === MOST_WORDS;
  return { words, prefix: isCut || wordsOf(`${text}x`).length === words.length };
}
