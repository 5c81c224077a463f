// The fields of one header block (RFC 5322 §2.2) that the index needs, found in one pass over its lines. Values are unfolded text whose
// encoded words are still encoded. Lines that are not fields are ignored.
import { declaredCharset, eightBit } from './header-text.js';

const WANTED = new Set([
  'bcc',
  'cc',
  'content-description',
  'content-disposition',
  'content-id',
  'content-language',
  'content-location',
  'content-md5',
  'content-transfer-encoding',
  'content-type',
  'date',
  'delivered-to',
  'from',
  'in-reply-to',
  'message-id',
  'received',
  'references',
  'reply-to',
  'sender',
  'subject',
  'to',
]);

const LONGEST_NAME = Math.max(...[...WANTED].map((name) => name.length));

/** The most fields of one name that are kept. */
const REPEATS = 1000;

const COLON = 0x3a;
const SPACE = 0x20;
const TAB = 0x09;

export class HeaderFields {
  readonly #values = new Map<string, string[]>();
  receivedCount = 0;
  /** The charset of octets that are not UTF-8; undefined means windows-1252. */
  charset: string | undefined;

  /** `charset` applies to a header that declares none. */
  constructor(block: Buffer, charset?: string) {
    const text = block.toString('latin1');
    let name: string | undefined;
    let valueStart = 0;
    for (let at = 0; at < text.length; ) {
      const lineFeed = text.indexOf('\n', at);
      const end = lineFeed < 0 ? text.length : lineFeed + 1;
      const first = text.charCodeAt(at);
      if (first !== SPACE && first !== TAB) {
        if (name !== undefined) this.#keep(name, text.slice(valueStart, at));
        const colon = colonOf(text, at, end);
        name = colon < 0 ? undefined : wantedName(text, at, colon);
        valueStart = colon + 1;
      }
      at = end;
    }
    if (name !== undefined) this.#keep(name, text.slice(valueStart));
    this.charset = declaredCharset(this.#values.get('content-type')?.[0]) ?? charset;
  }

  /** Returns the first field of this name, unfolded and trimmed. */
  first(name: string): string | undefined {
    const raw = this.#values.get(name)?.[0];
    return raw === undefined ? undefined : this.#unfold(raw);
  }

  all(name: string): readonly string[] {
    return this.#values.get(name)?.map((raw) => this.#unfold(raw)) ?? [];
  }

  #unfold(raw: string): string {
    const line = raw.trim();
    return eightBit(line.includes('\n') ? line.replace(/\r?\n/g, '') : line, this.charset);
  }

  #keep(name: string, value: string): void {
    if (name === 'received') {
      this.receivedCount++;
      return;
    }
    const values = this.#values.get(name);
    if (values === undefined) this.#values.set(name, [value]);
    else if (values.length < REPEATS) values.push(value);
  }
}

/** Returns -1 when the line has no short field name; a long line takes constant time. */
function colonOf(text: string, start: number, end: number): number {
  const stop = Math.min(end, start + LONGEST_NAME + 8);
  for (let at = start; at < stop; at++) if (text.charCodeAt(at) === COLON) return at;
  return -1;
}

function wantedName(text: string, start: number, colon: number): string | undefined {
  // RFC 5322 §4.5: obsolete syntax has white space before the colon. Some programs ignore invisible characters before the name, such as a
  // byte order mark, and would show an author that the index lacks.
  const name = text
    .slice(start, colon)
    .trimEnd()
    .replace(/^[^!-~]+/, '')
    .toLowerCase();
  return WANTED.has(name) ? name : undefined;
}
