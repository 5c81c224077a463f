// Parses responses of an IMAP server strictly: whatever the grammar of RFC 9051 §9 does not allow is a fault of the server.

/** An atom (also a number or NIL), the octets of a string, or a list. */
export type Value = string | Buffer | readonly Value[];

export interface Response {
  /** `*`, `+` or a tag. */
  readonly tag: string;
  /** The response as sent, with literals. */
  readonly raw: string;
  /** In upper case: OK, NO, BAD, BYE, PREAUTH, EXISTS, FETCH, LIST, …; empty for `+`. */
  readonly name: string;
  /** The number in `* 5 EXISTS` and the like. */
  readonly number: number | undefined;
  /** The code of a status response, in upper case, with its arguments: `COPYUID 1 2 3`. */
  readonly code: string | undefined;
  readonly text: string;
  /** The values after the name. */
  readonly values: readonly Value[];
}

export class ServerFault extends Error {
  override readonly name = 'ServerFault';
}

const STATUS = new Set(['OK', 'NO', 'BAD', 'BYE', 'PREAUTH']);

/** Returns the octets of the literal that the end of the line announces; undefined when there is none. */
export function literalAt(line: string): number | undefined {
  const match = /~?\{(\d+)\}$/.exec(line);
  return match === null ? undefined : Number(match[1]);
}

/** `octets` is one whole response without the last CRLF. @throws ServerFault */
export function parseResponse(octets: Buffer): Response {
  const raw = octets.toString('latin1');
  if (/^\+( |$)/.test(raw))
    return { tag: '+', raw, name: '', number: undefined, code: undefined, text: raw.slice(2), values: [] };
  const head = /^(\*|[^\s()*{}"\\%]+) (?:(\d+) )?([A-Za-z][A-Za-z0-9-]*)(?: |$)/.exec(raw);
  if (head === null) throw new ServerFault(`no response of the grammar: ${raw.slice(0, 200)}`);
  const [whole, tag, count, word] = head as unknown as [string, string, string | undefined, string];
  const name = word.toUpperCase();
  const rest = raw.slice(whole.length);
  const number = count === undefined ? undefined : Number(count);
  if (STATUS.has(name)) {
    const coded = /^\[([^\]]+)\](?: |$)/.exec(rest);
    if (rest.startsWith('[') && coded === null)
      throw new ServerFault(`a response code without an end: ${raw.slice(0, 200)}`);
    const text = coded === null ? rest : rest.slice(coded[0].length);
    return { tag, raw, name, number, code: coded?.[1], text, values: [] };
  }
  if (tag !== '*') throw new ServerFault(`a tagged response that is no completion: ${raw.slice(0, 200)}`);
  const values = new Values(octets, whole.length).all();
  return { tag, raw, name, number, code: undefined, text: rest, values };
}

const ATOM_END = new Set([' ', '(', ')', '"', '{']);

class Values {
  readonly #octets: Buffer;
  readonly #text: string;
  #at: number;

  constructor(octets: Buffer, at: number) {
    this.#octets = octets;
    this.#text = octets.toString('latin1');
    this.#at = at;
  }

  all(): Value[] {
    const values: Value[] = [];
    while (this.#at < this.#text.length) {
      if (values.length > 0 && this.#text[this.#at] === ' ') this.#at++;
      values.push(this.#value(0));
    }
    return values;
  }

  #value(depth: number): Value {
    if (depth > 200) throw new ServerFault('lists nest too deep');
    const next = this.#text[this.#at];
    if (next === '(') return this.#list(depth);
    if (next === '"') return this.#quoted();
    if (/^~?\{\d+\}\r\n/.test(this.#text.slice(this.#at, this.#at + 20))) return this.#literal();
    return this.#atom();
  }

  #list(depth: number): Value[] {
    const values: Value[] = [];
    this.#at++;
    while (this.#text[this.#at] !== ')') {
      if (this.#at >= this.#text.length) throw this.#fault('a list without an end');
      if (values.length > 0) {
        // Lists of BODYSTRUCTURE and THREAD follow each other without a space.
        if (this.#text[this.#at] === ' ') this.#at++;
        else if (this.#text[this.#at] !== '(') throw this.#fault('no space between values');
      }
      values.push(this.#value(depth + 1));
    }
    this.#at++;
    return values;
  }

  #quoted(): Buffer {
    let at = this.#at + 1;
    const start = at;
    let hasEscapes = false;
    for (; this.#text[at] !== '"'; at++) {
      const character = this.#text[at];
      if (character === undefined || character === '\r' || character === '\n')
        throw this.#fault('a quoted string without an end');
      if (character !== '\\') continue;
      hasEscapes = true;
      at++;
      if (this.#text[at] !== '"' && this.#text[at] !== '\\') throw this.#fault('an escape of nothing');
    }
    this.#at = at + 1;
    const octets = this.#octets.subarray(start, at);
    return hasEscapes ? Buffer.from(octets.toString('latin1').replace(/\\(.)/g, '$1'), 'latin1') : octets;
  }

  #literal(): Buffer {
    const head = /^~?\{(\d+)\}\r\n/.exec(this.#text.slice(this.#at, this.#at + 20))!;
    const start = this.#at + head[0].length;
    const end = start + Number(head[1]);
    if (end > this.#octets.length) throw this.#fault('a literal is cut');
    this.#at = end;
    return this.#octets.subarray(start, end);
  }

  #atom(): string {
    const start = this.#at;
    for (let depth = 0; this.#at < this.#text.length; this.#at++) {
      const character = this.#text[this.#at]!;
      // The atom contains a section, as BODY[HEADER.FIELDS (DATE)]<0> does.
      if (character === '[') depth++;
      else if (character === ']') depth--;
      else if (depth <= 0 && ATOM_END.has(character)) break;
      if (character === '\r' || character === '\n') throw this.#fault('a line break in an atom');
    }
    if (this.#at === start) throw this.#fault('a value is missing');
    return this.#text.slice(start, this.#at);
  }

  #fault(what: string): ServerFault {
    return new ServerFault(`${what}, at ${this.#at}: ${this.#text.slice(Math.max(0, this.#at - 60), this.#at + 60)}`);
  }
}

export const isList = (value: Value | undefined): value is readonly Value[] => Array.isArray(value);

export function textOf(value: Value | undefined): string {
  if (typeof value === 'string') return value;
  return Buffer.isBuffer(value) ? value.toString() : '';
}
