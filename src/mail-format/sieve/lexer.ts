// The tokens of a Sieve script (RFC 5228 §8.1), each with its position. Line breaks in strings become CRLF, as in the messages that scripts
// write.
import { type Position, SieveError } from './syntax.js';

export type Token =
  | { readonly kind: 'identifier' | 'tag' | 'string'; readonly text: string; readonly at: Position }
  | { readonly kind: 'number'; readonly value: number; readonly at: Position }
  | { readonly kind: 'mark'; readonly text: string; readonly at: Position }
  | { readonly kind: 'end'; readonly at: Position };

const BLANK = /(?:[ \t\r\n]+|#[^\n]*)+/y;
const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /(\d+)([KMG]?)(?![A-Za-z0-9_])/iy;
const TEXT_START = /text:[ \t]*(?:#[^\n]*)?\r?\n/iy;
const UNITS: Readonly<Record<string, number>> = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 };
const MARKS = new Set([';', ',', '(', ')', '[', ']', '{', '}']);

export class Lexer {
  readonly #text: string;
  #at = 0;
  #line = 1;
  /** The offset at which the current line starts. */
  #lineStart = 0;
  #lineEnd: number;

  constructor(text: string) {
    this.#text = text;
    this.#lineEnd = this.#endOfLine(0);
  }

  /** @throws SieveError */
  next(): Token {
    this.#skipBlank();
    const at = this.#position();
    const char = this.#text[this.#at];
    if (char === undefined) return { kind: 'end', at };
    if (MARKS.has(char)) {
      this.#at++;
      return { kind: 'mark', text: char, at };
    }
    if (char === '"') return { kind: 'string', text: this.#quoted(at), at };
    if (this.#match(TEXT_START) !== undefined) return { kind: 'string', text: this.#multiLine(at), at };
    if (char === ':') {
      this.#at++;
      const name = this.#match(IDENTIFIER)?.[0];
      if (name === undefined) throw new SieveError(at, 'a colon is followed by the name of a tag');
      return { kind: 'tag', text: name.toLowerCase(), at };
    }
    const number = this.#match(NUMBER);
    if (number !== undefined) return { kind: 'number', value: numberOf(number, at), at };
    const identifier = this.#match(IDENTIFIER)?.[0];
    if (identifier !== undefined) return { kind: 'identifier', text: identifier.toLowerCase(), at };
    throw new SieveError(at, `${named(char)} is not expected here`);
  }

  #position(): Position {
    return { line: this.#line, column: this.#at - this.#lineStart + 1 };
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text) ?? undefined;
    if (found !== undefined) this.#goTo(pattern.lastIndex);
    return found;
  }

  /** Moves forward and counts the lines on the way. */
  #goTo(offset: number): void {
    while (this.#lineEnd < offset) {
      this.#line++;
      this.#lineStart = this.#lineEnd + 1;
      this.#lineEnd = this.#endOfLine(this.#lineStart);
    }
    this.#at = offset;
  }

  /** The offset of the next line feed; infinite behind the last one. */
  #endOfLine(from: number): number {
    const at = this.#text.indexOf('\n', from);
    return at < 0 ? Number.POSITIVE_INFINITY : at;
  }

  #skipBlank(): void {
    for (;;) {
      this.#match(BLANK);
      if (!this.#text.startsWith('/*', this.#at)) return;
      const at = this.#position();
      const end = this.#text.indexOf('*/', this.#at + 2);
      if (end < 0) throw new SieveError(at, 'the comment has no end');
      this.#goTo(end + 2);
    }
  }

  #quoted(at: Position): string {
    const pieces: string[] = [];
    let from = this.#at + 1;
    for (let i = from; ; i++) {
      const char = this.#text[i];
      if (char === undefined) throw new SieveError(at, 'the string has no closing quote');
      if (char !== '"' && char !== '\\') continue;
      pieces.push(this.#text.slice(from, i));
      from = char === '\\' ? i + 1 : i;
      if (char === '"') {
        this.#goTo(i + 1);
        return stringOf(pieces.join(''), at);
      }
      i++;
    }
  }

  /** Reads the lines down to one that is a dot; a dot that starts another line and is doubled is one (RFC 5228 §2.4.2). */
  #multiLine(at: Position): string {
    const lines: string[] = [];
    for (let from = this.#at; ; ) {
      const lineFeed = this.#text.indexOf('\n', from);
      const line = this.#text.slice(from, lineFeed < 0 ? undefined : lineFeed).replace(/\r$/, '');
      if (line === '.') {
        this.#goTo(lineFeed < 0 ? this.#text.length : lineFeed + 1);
        return stringOf(lines.map((text) => `${text}\n`).join(''), at);
      }
      if (lineFeed < 0) throw new SieveError(at, 'the text has no closing line with a dot');
      lines.push(line.startsWith('..') ? line.slice(1) : line);
      from = lineFeed + 1;
    }
  }
}

function numberOf([, digits = '', unit = '']: RegExpExecArray, at: Position): number {
  const value = Number(digits) * (UNITS[unit.toUpperCase()] ?? 1);
  if (!Number.isSafeInteger(value)) throw new SieveError(at, 'the number is too large');
  return value;
}

function stringOf(text: string, at: Position): string {
  if (text.includes('\0')) throw new SieveError(at, 'the string contains a NUL');
  return text.includes('\n') || text.includes('\r') ? text.replace(/\r\n|\r|\n/g, '\r\n') : text;
}

const named = (char: string): string => (/^[!-~]$/.test(char) ? `"${char}"` : 'this character');
