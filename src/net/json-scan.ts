// Scans JSON before it is parsed: octets arrive in pieces of any size, and depth and number of values must stay within bounds, because the
// cost of parsing depends on them far more than on the size (RFC 8259 §9 lets a receiver set limits). Large strings at one place can be
// extracted; a token replaces them in the output. The parser decides whether the rest is valid JSON: a token replaces exactly one string,
// so this does not change.

export interface JsonBounds {
  /** Nesting of arrays and objects. */
  readonly depth: number;
  /** Members of objects and elements of arrays, in total. */
  readonly values: number;
  /** Octets of the names of all members together. */
  readonly names: number;
}

/** No message of any protocol here comes near these limits. */
const JSON_BOUNDS: JsonBounds = { depth: 32, values: 5_000, names: 64 * 1024 };

export class JsonExcess extends Error {
  override readonly name = 'JsonExcess';
}

/** Receives the raw octets between the quotes of one string. */
export interface StringSink {
  push(octets: Uint8Array): void;
  end(): void;
}

/** The strings to extract: those of `field` in the objects of the array `list` of the outermost object. */
export interface Extraction {
  readonly list: string;
  readonly field: string;
  /** `token`: plain ASCII that replaces the string in the output. */
  begin(): { readonly token: string; readonly sink: StringSink };
}

interface ScanOptions {
  readonly bounds?: JsonBounds;
  /** Receives all octets except the extracted strings, in pieces that are only valid during the call. */
  readonly keep?: (octets: Uint8Array) => void;
  readonly extraction?: Extraction;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const LONGEST_NAME = 128;

export class JsonScan {
  readonly #bounds: JsonBounds;
  readonly #keep: ((octets: Uint8Array) => void) | undefined;
  readonly #extraction: Extraction | undefined;
  /** For each depth: true when it is an object. */
  readonly #isObject: boolean[] = [];
  #depth = 0;
  #values = 0;
  #names = 0;
  #inString = false;
  #isEscaped = false;
  /** True when the next string is the name of a member. */
  #nameComes = false;
  /** Octets of the current name; undefined outside of a name, and for one that is too long. */
  #name: number[] | undefined;
  /** The last names at the depths of the list and of the field. */
  #outer = '';
  #inner = '';
  #sink: StringSink | undefined;

  constructor({ bounds = JSON_BOUNDS, keep, extraction }: ScanOptions = {}) {
    this.#bounds = bounds;
    this.#keep = keep;
    this.#extraction = extraction;
  }

  /** @throws JsonExcess */
  push(octets: Uint8Array): void {
    let kept = 0;
    for (let at = 0; at < octets.length; ) {
      if (!this.#inString) {
        if (octets[at] !== QUOTE) this.#structure(octets[at]!);
        else if (this.#isTakenOut()) {
          const { token, sink } = this.#extraction!.begin();
          this.#sink = sink;
          this.#hand(octets, kept, at);
          this.#keep?.(Buffer.from(`"${token}"`, 'latin1'));
        }
        if (octets[at] === QUOTE) this.#beginString();
        at++;
        continue;
      }
      const end = this.#stringEnd(octets, at);
      this.#sink?.push(octets.subarray(at, end));
      if (this.#nameComes) this.#countNames(end - at);
      for (let i = at; this.#name !== undefined && i < end; i++) {
        if (this.#name.push(octets[i]!) > LONGEST_NAME) this.#name = undefined;
      }
      at = end;
      if (end === octets.length) break;
      at++;
      if (this.#sink !== undefined) kept = at;
      this.#endString();
    }
    if (this.#sink === undefined) this.#hand(octets, kept, octets.length);
  }

  #hand(octets: Uint8Array, from: number, to: number): void {
    if (to > from) this.#keep?.(octets.subarray(from, to));
  }

  #structure(octet: number): void {
    switch (octet) {
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        if (++this.#depth > this.#bounds.depth) throw new JsonExcess(`is nested more than ${this.#bounds.depth} deep`);
        this.#isObject[this.#depth] = octet === OPEN_OBJECT;
        this.#nameComes = octet === OPEN_OBJECT;
        this.#count();
        break;
      case COMMA:
        this.#nameComes = this.#isObject[this.#depth] === true;
        this.#count();
        break;
      case COLON:
        this.#nameComes = false;
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        // The parser refuses unbalanced brackets.
        this.#depth = Math.max(0, this.#depth - 1);
        this.#nameComes = false;
        break;
    }
  }

  #count(): void {
    if (++this.#values > this.#bounds.values) throw new JsonExcess(`has more than ${this.#bounds.values} values`);
  }

  #countNames(octets: number): void {
    this.#names += octets;
    if (this.#names > this.#bounds.names) throw new JsonExcess(`has more than ${this.#bounds.names} octets of names`);
  }

  #isTakenOut(): boolean {
    const extraction = this.#extraction;
    return (
      extraction !== undefined &&
      this.#depth === 3 &&
      !this.#nameComes &&
      this.#isObject[1] === true &&
      this.#isObject[2] === false &&
      this.#isObject[3] === true &&
      this.#outer === extraction.list &&
      this.#inner === extraction.field
    );
  }

  #beginString(): void {
    this.#inString = true;
    const isWanted = this.#extraction !== undefined && (this.#depth === 1 || this.#depth === 3);
    this.#name = this.#nameComes && isWanted ? [] : undefined;
  }

  #endString(): void {
    this.#inString = false;
    this.#sink?.end();
    this.#sink = undefined;
    if (!this.#nameComes || this.#extraction === undefined) return;
    const name = this.#name === undefined ? '' : textOf(this.#name);
    this.#name = undefined;
    if (this.#depth === 1) this.#outer = name;
    else if (this.#depth === 3) this.#inner = name;
  }

  /** The end of the string, or of the octets. */
  #stringEnd(octets: Uint8Array, from: number): number {
    let isEscaped = this.#isEscaped;
    let at = from;
    for (; at < octets.length; at++) {
      const octet = octets[at];
      if (isEscaped) isEscaped = false;
      else if (octet === QUOTE) break;
      else isEscaped = octet === BACKSLASH;
    }
    this.#isEscaped = isEscaped;
    return at;
  }
}

/** A name may contain escapes. */
function textOf(octets: readonly number[]): string {
  const raw = Buffer.from(octets).toString();
  if (!raw.includes('\\')) return raw;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return '';
  }
}

/** Parses a complete text within the bounds. @throws JsonExcess, SyntaxError */
export function parseBounded(text: string): unknown {
  // Scanning a short text is not worthwhile: it cannot hold many values.
  if (text.length > SHORT) new JsonScan().push(Buffer.from(text));
  return JSON.parse(text);
}

const SHORT = 1024;
