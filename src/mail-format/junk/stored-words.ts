// The stored form of what an account has learnt: a version, the numbers of messages, the ceiling, and for each token in ascending order its
// distance to the one before and its two counts, all as numbers of seven bits an octet (LEB128).

/** What is stored. */
export interface Counts {
  junk: number;
  ham: number;
  ceiling: number;
  known(): Uint32Array;
  placeOf(token: number): number;
  junkAt(place: number): number;
  hamAt(place: number): number;
  put(token: number, junk: number, ham: number): void;
}

const VERSION = 1;
const CUT = 'the stored words of the junk filter are cut';
/** The most octets of an entry: a distance of 32 bits and two counts of 16. */
const ENTRY_OCTETS = 5 + 3 + 3;

export function writeStored(words: Counts): Uint8Array {
  const known = words.known();
  const octets = new Uint8Array(1 + 20 + known.length * ENTRY_OCTETS);
  let at = 0;
  const write = (value: number) => {
    let rest = value;
    for (; rest > 0x7f; rest >>>= 7) octets[at++] = (rest & 0x7f) | 0x80;
    octets[at++] = rest;
  };
  write(VERSION);
  write(words.junk);
  write(words.ham);
  write(words.ceiling);
  write(known.length);
  let before = 0;
  for (const token of known) {
    const place = words.placeOf(token);
    write(token - before);
    write(words.junkAt(place));
    write(words.hamAt(place));
    before = token;
  }
  return octets.slice(0, at);
}

/** @throws RangeError when the octets are not what `writeStored` returns */
export function readStored<Words extends Counts>(octets: Uint8Array, make: (size: number) => Words): Words {
  const entries = new StoredEntries(octets);
  const words = make(entries.size);
  words.junk = entries.junk;
  words.ham = entries.ham;
  words.ceiling = entries.ceiling;
  while (entries.next()) words.put(entries.token, entries.inJunk, entries.inHam);
  return words;
}

/** Reads what is stored token by token, in ascending order. Each step @throws RangeError when the octets are not what `writeStored` returns. */
export class StoredEntries {
  readonly junk: number;
  readonly ham: number;
  readonly ceiling: number;
  /** The number of tokens. */
  readonly size: number;
  /** The token of the last step, and in how many messages of each kind it occurs. */
  token = 0;
  inJunk = 0;
  inHam = 0;
  readonly #octets: Uint8Array;
  #at = 0;
  #left: number;

  constructor(octets: Uint8Array) {
    this.#octets = octets;
    const version = this.#read();
    if (version !== VERSION)
      throw new RangeError(`the stored words of the junk filter have the unknown version ${version}`);
    this.junk = this.#read();
    this.ham = this.#read();
    this.ceiling = this.#read();
    this.size = this.#read();
    if (this.size > octets.length) throw new RangeError(CUT);
    this.#left = this.size;
  }

  /** Returns false after the last token. */
  next(): boolean {
    if (this.#left === 0) return false;
    this.#left--;
    this.token += this.#read();
    this.inJunk = this.#read();
    this.inHam = this.#read();
    return true;
  }

  #read(): number {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const octet = this.#octets[this.#at++];
      if (octet === undefined || shift > 2 ** 28) throw new RangeError(CUT);
      value += (octet & 0x7f) * shift;
      if (octet < 0x80) return value;
    }
  }
}
