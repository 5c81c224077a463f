// Words as PostgreSQL's tsvector and tsquery, written out here rather than by its parser: both sides then agree on what a
// word is whatever the server's locale is, no input is a syntax error, and the limits of a tsvector are kept. A tsvector is
// written into octets that are used again: strings and arrays for each word cost a multiple, most of it garbage collection.
import type { SearchTerm } from '../../mail/search-text.js';
import type { IndexedWords, SearchPart } from '../search.js';

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

const [QUOTE, COLON, COMMA, SPACE, ZERO] = [0x27, 0x3a, 0x2c, 0x20, 0x30];
/** A word of ASCII up to this length is copied faster here than by a call into the runtime. */
const SHORT_WORD = 24;
const MOST_OCTETS_A_CHARACTER = 3;
/** Five digits, the weight and a comma. */
const MOST_OCTETS_A_POSITION = 7;
const FIRST_CAPACITY = 64 * 1024;
/** Larger buffers are given back. */
const KEPT_CAPACITY = 1024 * 1024;

/** What every lexeme of the account begins with. Two accounts may share one: rows say whose they are. */
const keyOf = (accountId: string): string => accountId.slice(-KEY_LENGTH);

/** Where each lexeme stands: the positions of all of them in one list, and for each position the next of its lexeme. */
class Occurrences {
  #count = 0;
  #positions = new Uint16Array(FIRST_CAPACITY);
  #weights = new Uint8Array(FIRST_CAPACITY);
  #next = new Int32Array(FIRST_CAPACITY);

  clear(): void {
    this.#count = 0;
    if (this.#next.length > KEPT_CAPACITY) this.#resize(FIRST_CAPACITY);
  }

  /** The number of the occurrence, which comes after `last` of the same lexeme, if that is not -1. */
  add(position: number, weight: number, last: number): number {
    const at = this.#count++;
    if (at === this.#next.length) this.#resize(at * 2);
    this.#positions[at] = position;
    this.#weights[at] = weight;
    this.#next[at] = -1;
    if (last >= 0) this.#next[last] = at;
    return at;
  }

  /** -1 after the last one. */
  after(at: number): number {
    return this.#next[at]!;
  }

  position(at: number): number {
    return this.#positions[at]!;
  }

  weight(at: number): number {
    return this.#weights[at]!;
  }

  #resize(capacity: number): void {
    const [positions, weights, next] = [this.#positions, this.#weights, this.#next];
    this.#positions = new Uint16Array(capacity);
    this.#weights = new Uint8Array(capacity);
    this.#next = new Int32Array(capacity);
    this.#positions.set(positions.subarray(0, this.#count));
    this.#weights.set(weights.subarray(0, this.#count));
    this.#next.set(next.subarray(0, this.#count));
  }
}

interface Lexeme {
  readonly first: number;
  last: number;
  count: number;
}

/** The text of a tsvector. */
class TsvectorText {
  #octets = Buffer.allocUnsafe(FIRST_CAPACITY);
  #length = 0;

  clear(): void {
    this.#length = 0;
    if (this.#octets.length > KEPT_CAPACITY) this.#octets = Buffer.allocUnsafe(FIRST_CAPACITY);
  }

  add(key: string, word: string, { first, count }: Lexeme, occurrences: Occurrences): void {
    this.#reserve((KEY_LENGTH + word.length) * MOST_OCTETS_A_CHARACTER + count * MOST_OCTETS_A_POSITION + 4);
    const octets = this.#octets;
    octets[this.#length++] = QUOTE;
    this.#addWord(key);
    this.#addWord(word);
    octets[this.#length++] = QUOTE;
    let separator = COLON;
    for (let at = first; at >= 0; at = occurrences.after(at)) {
      octets[this.#length++] = separator;
      this.#addNumber(occurrences.position(at));
      octets[this.#length++] = occurrences.weight(at);
      separator = COMMA;
    }
    octets[this.#length++] = SPACE;
  }

  toString(): string {
    return this.#octets.toString('utf8', 0, this.#length);
  }

  #addWord(word: string): void {
    const octets = this.#octets;
    let at = this.#length;
    if (word.length <= SHORT_WORD) {
      let i = 0;
      for (; i < word.length; i++) {
        const code = word.charCodeAt(i);
        if (code > 0x7f) break;
        octets[at++] = code;
      }
      if (i === word.length) {
        this.#length = at;
        return;
      }
    }
    this.#length += octets.write(word, this.#length, 'utf8');
  }

  #addNumber(number: number): void {
    const octets = this.#octets;
    let at = this.#length;
    for (let unit = number < 10 ? 1 : number < 100 ? 10 : number < 1000 ? 100 : number < 10_000 ? 1000 : 10_000; ; ) {
      octets[at++] = ZERO + (Math.floor(number / unit) % 10);
      if (unit === 1) break;
      unit /= 10;
    }
    this.#length = at;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#octets.length) return;
    const octets = Buffer.allocUnsafe((this.#length + more) * 2);
    this.#octets.copy(octets, 0, 0, this.#length);
    this.#octets = octets;
  }
}

const occurrences = new Occurrences();
const written = new TsvectorText();

export function tsvectorOf(accountId: string, email: IndexedWords): string {
  const key = keyOf(accountId);
  const lexemes = new Map<string, Lexeme>();
  let octets = 0;
  let position = 0;
  occurrences.clear();
  const add = (words: readonly string[], letter: string): void => {
    const weight = letter.charCodeAt(0);
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
        if (lexeme.count >= POSITIONS) continue;
        lexeme.last = occurrences.add(position, weight, lexeme.last);
        lexeme.count++;
      }
      octets += 2;
    }
    position = Math.min(position + GAP, LAST_POSITION);
  };
  for (const [words, weight] of weightedFields(email)) add(words, weight);
  written.clear();
  for (const [word, lexeme] of lexemes) written.add(key, word, lexeme, occurrences);
  return written.toString();
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
