// Makes a segment of the words of some emails. Words get numbers in the order in which they appear, occurrences are sorted by
// the word they are of, and the words are written in the order of their octets.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { uuidOctets } from '../../mail/ids.js';
import type { EmailWords } from '../search.js';
import { BODY_POSITION, type Segment } from './index-page.js';
import { PageWriter } from './page-writer.js';
import { Vocabulary } from './vocabulary.js';

const ID_OCTETS = 16;
/** No phrase reaches from one field into the next. */
const GAP = 10;
/** Words of header fields that are beyond have no position: they are found, but not in phrases. */
const HEADER_END = BODY_POSITION - GAP;
const NO_POSITION = 0;
/** Of the different words of an email; the words of a longer text are not found. Each counts a little more than its octets. */
const EMAIL_OCTETS = 800_000;
const WORD_OCTETS = 8;
/** Occurrences that are handled in one turn of the event loop: less than a millisecond of work. */
const STRETCH = 10_000;
const FIRST_CAPACITY = 16 * 1024;

/** `emails`: of one account, at least one. Yields the event loop between stretches of work. */
export async function segmentOf(emails: readonly EmailWords[]): Promise<Segment> {
  const occurrences = new Occurrences();
  const ids = new Uint8Array(emails.length * ID_OCTETS);
  let lastId = '';
  for (const [ordinal, email] of emails.entries()) {
    ids.set(uuidOctets(email.id), ordinal * ID_OCTETS);
    if (email.id > lastId) lastId = email.id;
    await addEmail(occurrences, ordinal, email);
  }
  return { ids, emails: emails.length, lastId, pages: await pagesOf(occurrences) };
}

async function addEmail(occurrences: Occurrences, ordinal: number, email: EmailWords): Promise<void> {
  occurrences.beginEmail(ordinal);
  let position = 1;
  for (const words of [email.subject, email.sender, email.recipients]) {
    await addWords(occurrences, words, position, HEADER_END);
    position += words.length + GAP;
  }
  position = BODY_POSITION;
  for (const words of [email.attachments, email.body]) {
    await addWords(occurrences, words, position, Number.POSITIVE_INFINITY);
    position += words.length + GAP;
  }
}

async function addWords(
  occurrences: Occurrences,
  words: readonly string[],
  position: number,
  end: number,
): Promise<void> {
  for (let from = 0; from < words.length; from += STRETCH) {
    const to = Math.min(words.length, from + STRETCH);
    for (let i = from; i < to; i++) {
      const at = position + i;
      if (!occurrences.add(words[i]!, at < end ? at : NO_POSITION)) return;
    }
    if (occurrences.isLong()) await nextTurn();
  }
}

/** Every place of every word: which word, in which email, where. */
class Occurrences {
  readonly vocabulary = new Vocabulary();
  length = 0;
  words = new Int32Array(FIRST_CAPACITY);
  ordinals = new Int32Array(FIRST_CAPACITY);
  positions = new Int32Array(FIRST_CAPACITY);
  #ordinal = 0;
  #octets = 0;
  /** By word, the last email that has it. */
  #lastOrdinals = new Int32Array(FIRST_CAPACITY).fill(-1);
  #rested = 0;

  beginEmail(ordinal: number): void {
    this.#ordinal = ordinal;
    this.#octets = 0;
  }

  /** False when the email has had too many words. */
  add(word: string, position: number): boolean {
    const number = this.vocabulary.numberOf(word);
    if (number >= this.#lastOrdinals.length) this.#lastOrdinals = grown(this.#lastOrdinals, -1);
    if (this.#lastOrdinals[number] !== this.#ordinal) {
      this.#octets += this.vocabulary.octetsOf(number) + WORD_OCTETS;
      if (this.#octets > EMAIL_OCTETS) return false;
      this.#lastOrdinals[number] = this.#ordinal;
    }
    const at = this.length++;
    if (at === this.words.length) {
      this.words = grown(this.words);
      this.ordinals = grown(this.ordinals);
      this.positions = grown(this.positions);
    }
    this.words[at] = number;
    this.ordinals[at] = this.#ordinal;
    this.positions[at] = position;
    return true;
  }

  /** Whether a stretch of work is done since it was last said so. */
  isLong(): boolean {
    if (this.length - this.#rested < STRETCH) return false;
    this.#rested = this.length;
    return true;
  }
}

function grown(numbers: Int32Array, fill = 0): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(numbers.length * 2).fill(fill, numbers.length);
  larger.set(numbers);
  return larger;
}

async function pagesOf({ vocabulary, length, words, ordinals, positions }: Occurrences) {
  // Where the occurrences of each word end, and at first where they begin.
  const ends = new Int32Array(vocabulary.size + 1);
  for (let i = 0; i < length; i++) ends[words[i]! + 1]!++;
  for (let word = 0; word < vocabulary.size; word++) ends[word + 1]! += ends[word]!;
  const sorted = new Int32Array(length);
  for (let i = 0; i < length; i++) sorted[ends[words[i]!]!++] = i;
  const writer = new PageWriter();
  const { octets, starts } = vocabulary;
  let since = 0;
  for (const word of vocabulary.inOrder()) {
    const from = word === 0 ? 0 : ends[word - 1]!;
    const to = ends[word]!;
    if (from === to) continue;
    writer.beginWord(octets, starts[word]!, starts[word + 1]!);
    for (let at = from; at < to; ) at = writePosting(writer, sorted, ordinals, positions, at, to);
    writer.endWord();
    since += to - from;
    if (since < STRETCH) continue;
    since = 0;
    await nextTurn();
  }
  writer.end();
  return writer.ready;
}

/** Returns where the next email begins. */
function writePosting(
  writer: PageWriter,
  sorted: Int32Array,
  ordinals: Int32Array,
  positions: Int32Array,
  from: number,
  to: number,
): number {
  const ordinal = ordinals[sorted[from]!]!;
  let end = from;
  let count = 0;
  for (; end < to && ordinals[sorted[end]!] === ordinal; end++) if (positions[sorted[end]!] !== NO_POSITION) count++;
  writer.posting(ordinal, positions[sorted[end - 1]!]! >= BODY_POSITION, count);
  let last = 0;
  for (let at = from; at < end; at++) {
    const position = positions[sorted[at]!]!;
    if (position === NO_POSITION) continue;
    writer.position(position - last);
    last = position;
  }
  return end;
}
