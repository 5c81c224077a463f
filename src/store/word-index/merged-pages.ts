// Merges segments: their pages are read in parallel in the order of the words, so the memory is one page of each. Lists are
// copied unchanged except for their first docId, unless emails are left out.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { damagedPage, type IndexPage } from './index-page.js';
import { OctetBuffer, putOctets } from './octet-buffer.js';
import { PageEntries } from './page-entries.js';
import { PageWriter } from './page-writer.js';
import { VarintReader } from './varint-reader.js';

export interface MergeSource {
  readonly pages: AsyncIterable<IndexPage> | Iterable<IndexPage>;
  readonly emails: number;
  /** The docId of each email among the live emails of this source, or -1; undefined when all are live. */
  readonly docMap?: Int32Array;
}

/**
 * Octets of postings that are processed in one turn of the event loop: about a millisecond of work. Each entry counts
 * ENTRY_OCTETS more.
 */
const STRETCH = 64 * 1024;
const ENTRY_OCTETS = 32;
const FIRST_WORD_CAPACITY = 512;
const KEY_OCTETS = 6;

/**
 * Merges the sources in order: the emails of a source follow those of the sources before it. Yields to the event loop between
 * stretches of work.
 */
export async function* mergedPages(sources: readonly MergeSource[]): AsyncGenerator<IndexPage> {
  const writer = new PageWriter();
  const readers: SourceReader[] = [];
  let base = 0;
  try {
    for (const [number, source] of sources.entries()) {
      const reader = new SourceReader(source, number, base);
      base += reader.emails;
      readers.push(reader);
    }
    const heap = new Heap();
    for (const reader of readers) if (await reader.next()) heap.push(reader);
    let octets = 0;
    while (heap.first !== undefined) {
      const { word } = heap.first;
      writer.beginWord(word.octets, 0, word.length);
      do {
        const reader: SourceReader = heap.first;
        octets += reader.appendTo(writer);
        if (reader.advance() || (await reader.next())) heap.firstChanged();
        else heap.removeFirst();
      } while (heap.first !== undefined && writer.isWord(heap.first.word.octets, heap.first.word.length));
      writer.endWord();
      if (writer.ready.length > 0) yield* writer.ready.splice(0);
      if (octets < STRETCH) continue;
      octets = 0;
      await nextTurn();
    }
    writer.end();
    yield* writer.ready.splice(0);
  } finally {
    for (const reader of readers) await reader.close();
  }
}

/** Reads the entries of a source one by one. */
class SourceReader {
  readonly number: number;
  readonly emails: number;
  /** The word of the current entry. */
  readonly word = new OctetBuffer(FIRST_WORD_CAPACITY);
  /** The first octets of the word as a number: most words differ there. */
  key = 0;
  readonly #source: MergeSource;
  readonly #base: number;
  readonly #pages: AsyncIterator<IndexPage> | Iterator<IndexPage>;
  #entries: PageEntries | undefined;

  constructor(source: MergeSource, number: number, base: number) {
    const { pages, emails, docMap } = source;
    this.#source = source;
    this.number = number;
    this.#base = base;
    this.emails = docMap === undefined ? emails : docMap.reduce((count, docId) => count + (docId < 0 ? 0 : 1), 0);
    this.#pages = Symbol.asyncIterator in pages ? pages[Symbol.asyncIterator]() : pages[Symbol.iterator]();
  }

  /** Moves to the next entry of the page. */
  advance(): boolean {
    const entries = this.#entries;
    if (entries === undefined || !entries.next()) return false;
    if (entries.lastDocId >= this.#source.emails) throw damagedPage('a docId is too large');
    const { word } = this;
    const { words, shared, restStart, restEnd } = entries;
    word.length = shared;
    word.length = putOctets(word.reserve(restEnd - restStart), shared, words, restStart, restEnd);
    if (shared < KEY_OCTETS) this.key = keyOf(word);
    return true;
  }

  /** Moves to the first entry of the next page. */
  async next(): Promise<boolean> {
    for (;;) {
      const { done, value } = await this.#pages.next();
      if (done) return false;
      this.#entries = new PageEntries(value, true);
      if (this.advance()) return true;
    }
  }

  async close(): Promise<void> {
    await this.#pages.return?.();
  }

  /** Appends the postings of this entry. Returns how many octets they count. */
  appendTo(writer: PageWriter): number {
    const entries = this.#entries!;
    if (this.#source.docMap === undefined) writer.copyPostings(entries, this.#base);
    else this.#copyLive(writer, entries, this.#source.docMap);
    return ENTRY_OCTETS + entries.listEnd - entries.listStart + entries.positionsEnd - entries.positionsStart;
  }

  #copyLive(writer: PageWriter, entries: PageEntries, docMap: Int32Array): void {
    const list = new VarintReader(entries.words, entries.listStart, entries.listEnd);
    const positions = new VarintReader(entries.positions, entries.positionsStart, entries.positionsEnd);
    let docId = 0;
    for (let left = entries.count; left > 0; left--) {
      const posting = list.next();
      docId += posting >>> 1;
      const start = positions.at;
      positions.skip(positions.next());
      if (docId >= docMap.length) throw damagedPage('a docId is too large');
      const target = docMap[docId]!;
      if (target < 0) continue;
      writer.copyPosting(this.#base + target, (posting & 1) === 1, positions.octets, start, positions.at);
    }
    if (!list.isAtEnd || !positions.isAtEnd || docId !== entries.lastDocId) throw damagedPage('postings go on');
  }
}

/** A heap of readers, ordered by their words; readers with the same word are in the order of the sources. */
class Heap {
  readonly #readers: SourceReader[] = [];

  get first(): SourceReader | undefined {
    return this.#readers[0];
  }

  push(reader: SourceReader): void {
    const readers = this.#readers;
    let at = readers.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(reader, readers[parent]!)) break;
      readers[at] = readers[parent]!;
      at = parent;
    }
    readers[at] = reader;
  }

  /** Restores the order after the first reader has moved to another word. */
  firstChanged(): void {
    this.#sink(this.#readers[0]!);
  }

  removeFirst(): void {
    const last = this.#readers.pop()!;
    if (this.#readers.length > 0) this.#sink(last);
  }

  #sink(reader: SourceReader): void {
    const readers = this.#readers;
    const { length } = readers;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= length) break;
      if (child + 1 < length && isBefore(readers[child + 1]!, readers[child]!)) child++;
      if (!isBefore(readers[child]!, reader)) break;
      readers[at] = readers[child]!;
      at = child;
    }
    readers[at] = reader;
  }
}

function keyOf({ octets, length }: OctetBuffer): number {
  let key = 0;
  for (let i = 0; i < KEY_OCTETS; i++) key = key * 256 + (i < length ? octets[i]! : 0);
  return key;
}

function isBefore(a: SourceReader, b: SourceReader): boolean {
  if (a.key !== b.key) return a.key < b.key;
  const length = Math.min(a.word.length, b.word.length);
  for (let i = KEY_OCTETS; i < length; i++) {
    const difference = a.word.octets[i]! - b.word.octets[i]!;
    if (difference !== 0) return difference < 0;
  }
  return a.word.length === b.word.length ? a.number < b.number : a.word.length < b.word.length;
}
