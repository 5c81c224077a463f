// The MAPI properties within an attribute of a TNEF ([MS-OXTNEF] §2.1.3.4): those that describe a file or a text, as ranges and the start
// of their values. A damaged attribute ends early.
import { isKnownCharset } from '../decode/charset.js';
import type { OctetRange } from '../message-index.js';
import type { OctetParse } from './octet-parser.js';

export interface Property {
  readonly id: number;
  readonly type: number;
  readonly range: OctetRange;
  /** The first octets of the range. */
  readonly value: Buffer;
}

// Property ids of [MS-OXPROPS].
export const PROPERTY = {
  body: 0x1000,
  bodyRtf: 0x1009,
  bodyHtml: 0x1013,
  internetCodepage: 0x3fde,
  displayName: 0x3001,
  data: 0x3701,
  shortName: 0x3704,
  method: 0x3705,
  longName: 0x3707,
  mediaType: 0x370e,
  contentId: 0x3712,
} as const;

/** The octets of a text that are kept for a preview, and those of a name. */
export const TEXT_SAMPLE = 32 * 1024;
const NAME = 1024;

/** The octets that are kept of each property that is read. */
const KEPT: ReadonlyMap<number, number> = new Map([
  [PROPERTY.body, TEXT_SAMPLE],
  [PROPERTY.bodyRtf, TEXT_SAMPLE],
  [PROPERTY.bodyHtml, TEXT_SAMPLE],
  [PROPERTY.internetCodepage, 4],
  [PROPERTY.displayName, NAME],
  [PROPERTY.data, 0],
  [PROPERTY.shortName, NAME],
  [PROPERTY.method, 4],
  [PROPERTY.longName, NAME],
  [PROPERTY.mediaType, NAME],
  [PROPERTY.contentId, NAME],
]);

const SEVERAL = 0x1000;
const NAMED = 0x8000;
const UNICODE = 0x001f;
export const OBJECT = 0x000d;
const VARIABLE = new Set([0x001e, UNICODE, OBJECT, 0x0102]);
/** The octets of values of a fixed size, with their padding. */
const FIXED: ReadonlyMap<number, number> = new Map([
  [0x0002, 4],
  [0x0003, 4],
  [0x0004, 4],
  [0x0005, 8],
  [0x0006, 8],
  [0x0007, 8],
  [0x000a, 4],
  [0x000b, 4],
  [0x0014, 8],
  [0x0040, 8],
  [0x0048, 16],
]);

/** Returns the charset of a string; undefined means that of the message. */
export const charsetOf = ({ type }: Property): string | undefined => (type === UNICODE ? 'utf-16le' : undefined);

/** Reads to the end of the range. The first value of a property counts. */
export function* properties({ start, end }: OctetRange): OctetParse<ReadonlyMap<number, Property>> {
  const found = new Map<number, Property>();
  const reader = new PropertyReader(start, end);
  const count = yield* reader.number();
  for (let i = 0; i < count && reader.isWhole; i++) {
    const property = yield* reader.property();
    if (property !== undefined && KEPT.has(property.id) && !found.has(property.id)) found.set(property.id, property);
  }
  yield { pass: end - reader.at, keep: 0 };
  return found;
}

class PropertyReader {
  at: number;
  /** False when the attribute ended before a value that was asked for. */
  isWhole = true;
  readonly #end: number;

  constructor(start: number, end: number) {
    this.at = start;
    this.#end = end;
  }

  /** Returns 0 when there is no number left. */
  *number(): OctetParse<number> {
    const octets = yield* this.#octets(4, 4);
    return octets === undefined ? 0 : octets.readUInt32LE(0);
  }

  *property(): OctetParse<Property | undefined> {
    const head = yield* this.#octets(4, 4);
    if (head === undefined) return undefined;
    const type = head.readUInt16LE(0);
    const id = head.readUInt16LE(2);
    if (id >= NAMED) yield* this.#name();
    const base = type & ~SEVERAL;
    const size = FIXED.get(base);
    if (size === undefined && !VARIABLE.has(base)) this.isWhole = false;
    // A value of variable size has a count too.
    const count = base === type && size !== undefined ? 1 : yield* this.number();
    let first: Property | undefined;
    for (let i = 0; i < count && this.isWhole; i++) {
      const length = size ?? (yield* this.number());
      const range = { start: this.at, end: this.at + length };
      const value = yield* this.#octets(padded(length), Math.min(length, KEPT.get(id) ?? 0));
      if (value !== undefined) first ??= { id, type: base, range, value };
    }
    return first;
  }

  /** Skips the name of a named property: a set, and a number or a text. */
  *#name(): OctetParse<void> {
    yield* this.#octets(16, 0);
    const kind = yield* this.number();
    const length = kind === 1 ? yield* this.number() : 4;
    yield* this.#octets(padded(length), 0);
  }

  *#octets(length: number, keep: number): OctetParse<Buffer | undefined> {
    this.isWhole &&= this.at + length <= this.#end;
    if (!this.isWhole) return undefined;
    this.at += length;
    return yield { pass: length, keep };
  }
}

const padded = (length: number): number => length + ((4 - (length % 4)) % 4);

const CHARSETS: ReadonlyMap<number, string> = new Map([
  [932, 'shift_jis'],
  [936, 'gbk'],
  [949, 'euc-kr'],
  [950, 'big5'],
  [1200, 'utf-16le'],
  [20127, 'us-ascii'],
  [20866, 'koi8-r'],
  [21866, 'koi8-u'],
  [50220, 'iso-2022-jp'],
  [50221, 'iso-2022-jp'],
  [50222, 'iso-2022-jp'],
  [51932, 'euc-jp'],
  [54936, 'gb18030'],
  [65001, 'utf-8'],
]);

/** Returns the charset of a Windows code page; '' for an unknown one. */
export function charsetOfCodepage(codepage: number): string {
  const charset =
    CHARSETS.get(codepage) ??
    (codepage > 28590 && codepage < 28607 ? `iso-8859-${codepage - 28590}` : undefined) ??
    (codepage >= 1250 && codepage <= 1258 ? `windows-${codepage}` : `cp${codepage}`);
  return isKnownCharset(charset) ? charset : '';
}
