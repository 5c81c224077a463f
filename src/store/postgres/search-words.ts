// Words as PostgreSQL's tsvector and tsquery, written out here rather than by its parser: both sides then agree on what a
// word is whatever the server's locale is, no input is a syntax error, and the limits of a tsvector are kept. Tsvectors travel
// in binary (`tsvectorrecv`): the server reads a position of the text form digit by digit, which costs as much as storing them.
import type { SearchTerm } from '../../mail/search-text.js';
import type { IndexedWords, SearchPart } from '../search.js';
import { BinaryArray } from './binary-array.js';
import type { Octets } from './octet-parameters.js';

/** Of a tsvector: positions end there (a later word keeps the last), and a lexeme has at most so many. */
const LAST_POSITION = 16_383;
const POSITIONS = 255;
/** A tsvector holds 1 MiB; the words of a longer text after these octets are not found. */
const OCTETS = 800_000;
/** Of the words of the body and of names of attachments. */
const BODY_WEIGHT = 'C';
/** No phrase reaches from one field into the next. */
const GAP = 10;
const KEY_LENGTH = 7;

/** Type of the elements. */
const TSVECTOR = 3614;
type Weight = 'A' | 'B' | 'C';
/** Above the bits of a position. */
const WEIGHTS: Readonly<Record<Weight, number>> = { A: 3 << 14, B: 2 << 14, C: 1 << 14 };
const FIRST_CAPACITY = 64 * 1024;
/** Larger buffers are given back. */
const KEPT_CAPACITY = 1024 * 1024;

/** What every lexeme of the account begins with. Two accounts may share one: rows say whose they are. */
const keyOf = (accountId: string): string => accountId.slice(-KEY_LENGTH);

/** Where each lexeme stands: the positions of all of them in one list, and for each position the next of its lexeme. */
class Occurrences {
  #count = 0;
  /** Position and weight. */
  #entries = new Uint16Array(FIRST_CAPACITY);
  #next = new Int32Array(FIRST_CAPACITY);

  clear(): void {
    this.#count = 0;
    if (this.#next.length > KEPT_CAPACITY) this.#resize(FIRST_CAPACITY);
  }

  /** The number of the occurrence, which comes after `last` of the same lexeme, if that is not -1. */
  add(position: number, weight: number, last: number): number {
    const at = this.#count++;
    if (at === this.#next.length) this.#resize(at * 2);
    this.#entries[at] = position | weight;
    this.#next[at] = -1;
    if (last >= 0) this.#next[last] = at;
    return at;
  }

  /** -1 after the last one. */
  after(at: number): number {
    return this.#next[at]!;
  }

  entry(at: number): number {
    return this.#entries[at]!;
  }

  /** Of words at the last position only the first counts. */
  isBefore(at: number, position: number): boolean {
    return (this.#entries[at]! & LAST_POSITION) < position;
  }

  #resize(capacity: number): void {
    const [entries, next] = [this.#entries, this.#next];
    this.#entries = new Uint16Array(capacity);
    this.#next = new Int32Array(capacity);
    this.#entries.set(entries.subarray(0, this.#count));
    this.#next.set(next.subarray(0, this.#count));
  }
}

interface Lexeme {
  readonly first: number;
  last: number;
  count: number;
}

/** Tsvectors as an array, a parameter of a statement. */
export class Tsvectors {
  readonly #array = new BinaryArray(TSVECTOR);

  add(accountId: string, email: IndexedWords): void {
    const key = keyOf(accountId);
    const lexemes = lexemesIn(key, email);
    const array = this.#array;
    array.begin();
    array.int32(lexemes.size);
    for (const [word, { first, count }] of lexemes) {
      array.text(key);
      array.text(word);
      array.octet(0);
      array.int16(count);
      for (let at = first; at >= 0; at = occurrences.after(at)) array.int16(occurrences.entry(at));
    }
    array.end();
  }

  octets(): Octets {
    return this.#array.octets();
  }
}

const occurrences = new Occurrences();

/** Until the next call; their places are in `occurrences`. */
function lexemesIn(key: string, email: IndexedWords): ReadonlyMap<string, Lexeme> {
  const lexemes = new Map<string, Lexeme>();
  let octets = 0;
  let position = 0;
  occurrences.clear();
  const add = (words: readonly string[], letter: Weight): void => {
    const weight = WEIGHTS[letter];
    for (const word of words) {
      position = Math.min(position + 1, LAST_POSITION);
      const lexeme = lexemes.get(word);
      if (lexeme === undefined) {
        // Its text with alignment, its entry and the count of its positions; then a position.
        octets += key.length + Buffer.byteLength(word) + 8;
        if (octets > OCTETS) return;
        const first = occurrences.add(position, weight, -1);
        lexemes.set(word, { first, last: first, count: 1 });
      } else {
        if (lexeme.count >= POSITIONS || !occurrences.isBefore(lexeme.last, position)) continue;
        lexeme.last = occurrences.add(position, weight, lexeme.last);
        lexeme.count++;
      }
      octets += 2;
    }
    position = Math.min(position + GAP, LAST_POSITION);
  };
  for (const [words, weight] of weightedFields(email)) add(words, weight);
  return lexemes;
}

/** The words of an email field by field, in the order of their positions. */
export function fieldsOf(email: IndexedWords): (readonly string[])[] {
  return weightedFields(email).map(([words]) => words);
}

function weightedFields({ subject, sender, recipients, attachments, body }: IndexedWords) {
  return [
    [subject, 'A'],
    [sender, 'B'],
    [recipients, 'B'],
    [attachments, BODY_WEIGHT],
    [body, BODY_WEIGHT],
  ] as const;
}

/** At least one term. `completions`: of the last words of terms that are a single one, in all that is indexed. */
export function tsqueryOf(
  accountId: string,
  terms: readonly SearchTerm[],
  part: SearchPart,
  completions?: ReadonlyMap<string, readonly string[]>,
): string {
  const key = keyOf(accountId);
  const weight = part === 'body' ? BODY_WEIGHT : '';
  return terms
    .map(({ words, prefix }) => {
      const last = words.length - 1;
      const completed = prefix && last === 0 && part === 'text' ? completions?.get(words[0]!) : undefined;
      if (completed !== undefined) return `(${anyOf(key, completed)})`;
      const lexeme = (word: string, i: number) => {
        const limits = `${prefix && i === last ? '*' : ''}${weight}`;
        return `'${key}${word}'${limits && `:${limits}`}`;
      };
      return `(${words.map(lexeme).join(' <-> ')})`;
    })
    .join(' & ');
}

/** Of emails that have a word that begins so, and none of `known`. */
export function incompleteTsquery(accountId: string, beginning: string, known: readonly string[]): string {
  const key = keyOf(accountId);
  return `'${key}${beginning}':* & !(${anyOf(key, known)})`;
}

/** The beginning of the account's lexemes of words that begin so, and how long their key is. */
export function lexemesOf(
  accountId: string,
  beginning: string,
): { readonly start: string; readonly keyLength: number } {
  return { start: `${keyOf(accountId)}${beginning}`, keyLength: KEY_LENGTH };
}

const anyOf = (key: string, words: readonly string[]): string => words.map((word) => `'${key}${word}'`).join(' | ');
