// Parses the text of one command by the rules of the grammar: one synchronous method per rule, never past the end. The text is as
// received, including literals; each character is one octet. `command-source` reads the lines and limits the octets.
import { isUtf8 } from 'node:buffer';
import { decodeModifiedUtf7 } from '../../../mail-format/modified-utf7.js';
import { no, Refused } from '../completion.js';
import { DEFAULT_LIMITS, type ImapLimits } from '../limits.js';
import { ASTRING, ATOM, endOfRun, LIST, WORD } from './character-classes.js';

/** The input is not a command of the grammar: BAD. */
export class CommandSyntaxError extends Error {
  override readonly name = 'CommandSyntaxError';
}

/** The limits that the grammar checks while it reads. */
export type ReaderLimits = Pick<ImapLimits, 'nesting' | 'searchKeys' | 'sequenceRanges'>;

/** INBOX is in upper case in both names. */
export interface NamedMailbox {
  /** The name in composed form (NFC), as names of mailboxes are compared and stored. */
  readonly name: string;
  /** The decoded name as the client sent it: OLDNAME where it differs (RFC 9051 §5.1, §6.3.2). */
  readonly written: string;
}

export interface ReaderOptions {
  readonly limits?: ReaderLimits;
  /** Whether names of mailboxes are UTF-8, because IMAP4rev2 or UTF8=ACCEPT is enabled. Otherwise they are modified UTF-7. */
  readonly isUtf8?: boolean;
}

const SPACE = 32;
const QUOTE = 34;
const OPEN = 40;
const CLOSE = 41;
const ZERO = 48;
const NINE = 57;
const BACKSLASH = 92;
const BRACE = 123;
const TILDE = 126;
const EIGHT_BIT = /[\x80-\xff]/;
/** Octets that no quoted string contains. */
const BREAKS = /[\0\r\n]/;
const ESCAPE = /\\(.)/g;
const MAX_NUMBER = 0xffff_ffff;

/** Rules that several commands use; each reads from the current position on. @throws CommandSyntaxError from every method */
export class CommandReader {
  readonly limits: ReaderLimits;
  readonly isUtf8: boolean;
  readonly #text: string;
  #at: number;
  #depth = 0;

  constructor(text: string, from: number, options: ReaderOptions) {
    this.#text = text;
    this.#at = from;
    this.limits = options.limits ?? DEFAULT_LIMITS;
    this.isUtf8 = options.isUtf8 ?? false;
  }

  /** Whether nothing is left of the command, literals included. */
  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** The index of the next octet, from 0; see `textSince`. */
  get position(): number {
    return this.#at;
  }

  /** Returns what was read since that position, as written. */
  textSince(position: number): string {
    return this.#text.slice(position, this.#at);
  }

  /** Reads one space. */
  space(): void {
    if (this.#text.charCodeAt(this.#at) !== SPACE) throw this.fault('expected a space');
    this.#at++;
  }

  /** Tells whether these characters come next, in any case. `text` is in upper case. */
  isNext(text: string): boolean {
    for (let i = 0; i < text.length; i++) {
      const octet = this.#text.charCodeAt(this.#at + i);
      const upper = octet >= 97 && octet <= 122 ? octet - 32 : octet;
      if (upper !== text.charCodeAt(i)) return false;
    }
    return true;
  }

  /** Reads these characters if they come next, in any case. `text` is in upper case. */
  accept(text: string): boolean {
    if (!this.isNext(text)) return false;
    this.#at += text.length;
    return true;
  }

  /** Reads these characters, which must come next, in any case. `text` is in upper case. */
  expect(text: string): void {
    if (!this.accept(text)) throw this.fault(`expected ${text.trim()}`);
  }

  /** Checks that the command ends here. */
  end(): void {
    if (!this.isAtEnd) throw this.fault('expected the end of the command');
  }

  /** `atom`, as written. */
  atom(): string {
    return this.#run(ATOM, 'an atom');
  }

  /** Reads the name of an attribute, a search key or an option, in upper case; `[` or `<` may follow it. */
  word(): string {
    return this.#run(WORD, 'a name').toUpperCase();
  }

  /** `flag`: an atom, or `\` and an atom; as written. */
  flag(): string {
    return this.accept('\\') ? `\\${this.atom()}` : this.atom();
  }

  /** `astring` as octets. */
  astringOctets(): Buffer {
    return Buffer.from(this.#astring(), 'latin1');
  }

  /** `astring` of UTF-8. */
  astring(): string {
    return this.#unicode(this.#astring());
  }

  /** `string`: quoted or literal, of UTF-8. */
  string(): string {
    return this.#unicode(this.#string());
  }

  /** `string`, as octets. */
  stringOctets(): Buffer {
    return Buffer.from(this.#string(), 'latin1');
  }

  /** `nstring`: a string or NIL. */
  nstring(): string | null {
    return this.accept('NIL') ? null : this.string();
  }

  /** `nstring` or `literal8`, as octets. */
  nstringOctets(): Buffer | null {
    if (this.accept('NIL')) return null;
    const isBinary = this.#text.charCodeAt(this.#at) === TILDE;
    return isBinary ? Buffer.from(this.#literal(), 'latin1') : this.stringOctets();
  }

  /** `number`, up to 2^32 - 1. */
  number(): number {
    return this.#digits(MAX_NUMBER, 'a number');
  }

  /** `number64`, `mod-sequence-valzer`: up to 2^53 - 1. */
  number64(): number {
    return this.#digits(Number.MAX_SAFE_INTEGER, 'a number');
  }

  /** `nz-number`: from 1 to 2^32 - 1. */
  nzNumber(): number {
    if (this.#text.charCodeAt(this.#at) === ZERO) throw this.fault('expected a number from 1 on');
    return this.#digits(MAX_NUMBER, 'a number');
  }

  /** `mod-sequence-value`, `nz-number64`: from 1 to 2^53 - 1. */
  nzNumber64(): number {
    if (this.#text.charCodeAt(this.#at) === ZERO) throw this.fault('expected a number from 1 on');
    return this.#digits(Number.MAX_SAFE_INTEGER, 'a number');
  }

  /**
   * A name of a mailbox: decoded from modified UTF-7 or UTF-8, composed; INBOX in upper case; RFC 9051 §5.1.
   * @throws Refused NO when the name is not modified UTF-7
   */
  mailbox(): string {
    return this.namedMailbox().name;
  }

  /** `mailbox`, together with the name as the client spelled it. @throws Refused NO when the name is not modified UTF-7 */
  namedMailbox(): NamedMailbox {
    const named = this.#mailboxText(this.#astring());
    if (named === undefined) throw new Refused(no('The name of the mailbox is not modified UTF-7', 'CANNOT'));
    return named;
  }

  /** `list-mailbox`: a name with wildcards, decoded where it is modified UTF-7. */
  mailboxPattern(): NamedMailbox {
    const text = this.#isString() ? this.#string() : this.#run(LIST, 'a name of a mailbox');
    return this.#mailboxText(text) ?? { name: text, written: text };
  }

  /** `( item item … )` with at least `least` items; counts nesting. As in Dovecot, spaces may stand inside the parentheses. */
  list<T>(item: () => T, least = 0): T[] {
    if (this.#text.charCodeAt(this.#at) !== OPEN) throw this.fault('expected a list in parentheses');
    return this.nested(() => {
      this.#at++;
      this.accept(' ');
      const items: T[] = [];
      while (this.#text.charCodeAt(this.#at) !== CLOSE || items.length < least) {
        items.push(item());
        if (!this.accept(' ') && !this.isNext(')')) throw this.fault('expected a space or )');
      }
      this.#at++;
      return items;
    });
  }

  /** Whether a list or a group in parentheses comes next. */
  get isListNext(): boolean {
    return this.#text.charCodeAt(this.#at) === OPEN;
  }

  /** Tells whether a digit comes after the next `skip` octets. */
  isDigitNext(skip = 0): boolean {
    const octet = this.#text.charCodeAt(this.#at + skip);
    return octet >= ZERO && octet <= NINE;
  }

  /** Reads something that may be nested, up to the limit of depth. */
  nested<T>(read: () => T): T {
    if (this.#depth >= this.limits.nesting) {
      throw this.fault(`expected no more than ${this.limits.nesting} levels of nesting`);
    }
    this.#depth++;
    const value = read();
    this.#depth--;
    return value;
  }

  /** Creates an error that tells where the command is wrong; also for rules outside of this class. */
  fault(message: string): CommandSyntaxError {
    return new CommandSyntaxError(`${message} at octet ${this.#at + 1}`);
  }

  #run(characterClass: number, expected: string): string {
    const end = endOfRun(this.#text, this.#at, characterClass);
    if (end === this.#at) throw this.fault(`expected ${expected}`);
    const run = this.#text.slice(this.#at, end);
    this.#at = end;
    return run;
  }

  #digits(most: number, expected: string): number {
    const from = this.#at;
    let value = 0;
    for (;;) {
      const octet = this.#text.charCodeAt(this.#at);
      if (!(octet >= ZERO && octet <= NINE)) break;
      value = value * 10 + (octet - ZERO);
      if (value > most) throw this.fault(`expected a number up to ${most}`);
      this.#at++;
    }
    if (this.#at === from) throw this.fault(`expected ${expected}`);
    return value;
  }

  #isString(): boolean {
    const octet = this.#text.charCodeAt(this.#at);
    return octet === QUOTE || octet === BRACE;
  }

  #astring(): string {
    return this.#isString() ? this.#string() : this.#run(ASTRING, 'a string');
  }

  #string(): string {
    const octet = this.#text.charCodeAt(this.#at);
    if (octet === QUOTE) return this.#quoted();
    if (octet !== BRACE) throw this.fault('expected a string');
    const text = this.#literal();
    if (text.includes('\0')) throw this.fault('expected a literal without NUL');
    return text;
  }

  #quoted(): string {
    const from = this.#at + 1;
    const end = this.#endOfQuoted(from);
    const inside = this.#text.slice(from, end);
    if (BREAKS.test(inside)) throw this.fault('expected a quoted string of one line');
    this.#at = end + 1;
    return inside.includes('\\') ? inside.replace(ESCAPE, '$1') : inside;
  }

  #endOfQuoted(from: number): number {
    const text = this.#text;
    for (let at = from; at < text.length; at++) {
      const octet = text.charCodeAt(at);
      if (octet === QUOTE) return at;
      if (octet !== BACKSLASH) continue;
      at++;
      const escaped = text.charCodeAt(at);
      if (escaped !== QUOTE && escaped !== BACKSLASH) throw this.fault('expected " or \\ after \\');
    }
    throw this.fault('expected the end of the quoted string');
  }

  /** Reads a literal as octets, which may include NUL. */
  #literal(): string {
    this.accept('~');
    this.expect('{');
    const size = this.number64();
    this.accept('+');
    if (!this.accept('}\r\n')) throw this.fault('expected } and the end of the line');
    const text = this.#text.slice(this.#at, this.#at + size);
    if (text.length < size) throw this.fault('expected the octets of the literal');
    this.#at += size;
    return text;
  }

  #unicode(text: string): string {
    if (!EIGHT_BIT.test(text)) return text;
    const octets = Buffer.from(text, 'latin1');
    if (!isUtf8(octets)) throw this.fault('expected a string of UTF-8');
    return octets.toString('utf8');
  }

  #mailboxText(text: string): NamedMailbox | undefined {
    const isPlain = this.isUtf8 || EIGHT_BIT.test(text) || !text.includes('&');
    const decoded = isPlain ? this.#unicode(text) : decodeModifiedUtf7(text);
    if (decoded === undefined) return undefined;
    const written = inInboxCase(decoded);
    return { name: written.normalize('NFC'), written };
  }
}

/** INBOX and names below it match in any case. */
function inInboxCase(name: string): string {
  if (name.length < 5 || name.slice(0, 5).toUpperCase() !== 'INBOX') return name;
  return name.length === 5 || name[5] === '/' ? `INBOX${name.slice(5)}` : name;
}

/** Creates a reader of a whole command or its arguments, including literals. Each character of a string is one octet. */
export function createReader(octets: Buffer | string, options: ReaderOptions = {}, from = 0): CommandReader {
  return new CommandReader(typeof octets === 'string' ? octets : octets.toString('latin1'), from, options);
}
