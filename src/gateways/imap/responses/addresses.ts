// Writes the address lists of an ENVELOPE (RFC 9051 §7.5.2) from raw header fields. Encoded words stay, groups are marked, and
// comments are omitted except for the one that serves as the name (`a@b (Name)`). It is one forward scan in linear time. Text that is
// no address is shown as one whose host is missing, because an address without a host would open a group.
import { octetString } from './strings.js';

/** Matches nearly every field: `Name <a@b>`, `"Name" <a@b>` and `a@b`. */
const PLAIN =
  /^(?:"([^"\\\r\n]{0,200})"|([^"()<>[\]:;@\\,.\r\n\t]{0,200}?)) {0,9}<([^\s"()<>[\]:;\\,@]{1,256})@([^\s"()<>[\]:;\\,@]{1,256})>$/;
const BARE = /^([^\s"()<>[\]:;\\,@]{1,256})@([^\s"()<>[\]:;\\,@]{1,256})$/;
const SPECIAL = /[\s"()<>[\]:;,@\\]/g;

/** The same placeholders as in Dovecot. */
const NO_MAILBOX = 'MISSING_MAILBOX';
const NO_HOST = 'MISSING_DOMAIN';

/** Returns `NIL`, or the list in parentheses. The field is a binary string, unfolded and trimmed. */
export function addressList(field: string): string {
  const bare = BARE.exec(field);
  if (bare !== null) return `(${address(null, null, bare[1]!, bare[2]!)})`;
  const plain = PLAIN.exec(field);
  if (plain !== null) {
    const name = plain[1] ?? plain[2]!.replace(/ {2,}/g, ' ');
    return `(${address(name || null, null, plain[3]!, plain[4]!)})`;
  }
  const addresses = new AddressScanner(field).scan();
  return addresses === '' ? 'NIL' : `(${addresses})`;
}

function address(name: string | null, route: string | null, mailbox: string | null, host: string | null): string {
  return `(${octetString(name)} ${octetString(route)} ${octetString(mailbox)} ${octetString(host)})`;
}

/** A word, a quoted string, or several of them joined by dots. */
interface Word {
  text: string;
  /** Whether white space or a comment precedes it. */
  readonly isApart: boolean;
}

class AddressScanner {
  readonly #text: string;
  #at = 0;
  #found = '';
  #isInGroup = false;
  #words: Word[] = [];
  #comment = '';
  #isApart = false;

  constructor(text: string) {
    this.#text = text;
  }

  scan(): string {
    const text = this.#text;
    while (this.#at < text.length) {
      const char = text[this.#at]!;
      if (char === ',') this.#end(1);
      else if (char === ';') this.#endGroup();
      else if (char === ':') this.#group();
      else if (char === '<') this.#angle();
      else if (char === '@') this.#bare();
      else this.#word(char);
    }
    this.#end(0);
    if (this.#isInGroup) this.#found += address(null, null, null, null);
    return this.#found;
  }

  /** Reads white space, a comment, a quoted string, a domain literal or a run of other characters. */
  #word(char: string): void {
    if (char === ' ' || char === '\t' || char === '\r' || char === '\n') {
      this.#at++;
      this.#isApart = true;
    } else if (char === '(') {
      this.#comment = this.#readComment() || this.#comment;
      this.#isApart = true;
    } else if (char === '"') this.#keep(this.#readQuoted());
    else if (char === '[') this.#keep(this.#readLiteral());
    else {
      const start = this.#at++;
      SPECIAL.lastIndex = this.#at;
      this.#at = SPECIAL.exec(this.#text)?.index ?? this.#text.length;
      this.#keep(this.#text.slice(start, this.#at));
    }
  }

  #keep(text: string): void {
    const last = this.#words.at(-1);
    if (last !== undefined && !this.#isApart) last.text += text;
    else this.#words.push({ text, isApart: this.#isApart });
    this.#isApart = false;
  }

  /** Reads `<…>`; the words before it are the name. */
  #angle(): void {
    const name = this.#phrase();
    this.#words = [];
    this.#at++;
    const route = this.#text[this.#at] === '@' ? this.#route() : null;
    let mailbox: string | null = null;
    while (this.#at < this.#text.length && this.#text[this.#at] !== '>') {
      const char = this.#text[this.#at]!;
      if (char === '@' && mailbox === null) {
        mailbox = this.#joined();
        this.#at++;
      } else if (char === ',' || char === ';' || char === ':' || char === '<' || char === '@') this.#keepChar();
      else this.#word(char);
    }
    this.#at++;
    const rest = this.#joined();
    if (mailbox === null) this.#push(name, route, rest, '');
    else this.#push(name, route, mailbox, rest);
    // The text up to the comma can only be a comment.
    while (this.#at < this.#text.length && !',;'.includes(this.#text[this.#at]!)) this.#word(this.#text[this.#at]!);
    this.#reset();
  }

  #keepChar(): void {
    this.#keep(this.#text[this.#at++]!);
  }

  /** RFC 5322 §4.4: reads `@a,@b:` before the address. */
  #route(): string {
    const end = this.#text.indexOf(':', this.#at);
    const close = this.#text.indexOf('>', this.#at);
    if (end < 0 || (close >= 0 && close < end)) return '';
    const route = this.#text.slice(this.#at, end).replace(/\s+/g, '');
    this.#at = end + 1;
    return route;
  }

  /** Reads `local@domain` without angle brackets; words before the local part are a name. */
  #bare(): void {
    const split = this.#localStart();
    const mailbox = joined(this.#words.splice(split));
    const name = this.#phrase();
    this.#words = [];
    this.#isApart = false;
    this.#at++;
    while (this.#at < this.#text.length && !',;:<'.includes(this.#text[this.#at]!)) {
      const char = this.#text[this.#at]!;
      if (char === '@') this.#keepChar();
      else this.#word(char);
    }
    this.#push(name, null, mailbox, this.#joined());
    this.#words = [];
  }

  /** Returns where the local part begins: at the last word, or before it while dots join the words. */
  #localStart(): number {
    let start = Math.max(0, this.#words.length - 1);
    while (start > 0) {
      const joins = this.#words[start]!.text.startsWith('.') || this.#words[start - 1]!.text.endsWith('.');
      if (!joins) break;
      start--;
    }
    return start;
  }

  #group(): void {
    if (this.#isInGroup) this.#found += address(null, null, null, null);
    this.#found += address(null, null, this.#phrase() ?? '', null);
    this.#isInGroup = true;
    this.#at++;
    this.#reset();
  }

  #endGroup(): void {
    this.#end(1);
    if (!this.#isInGroup) return;
    this.#found += address(null, null, null, null);
    this.#isInGroup = false;
  }

  /** Ends words that no address follows. */
  #end(octets: number): void {
    this.#at += octets;
    const phrase = this.#words.length === 0 ? null : this.#phrase();
    if (phrase !== null) this.#push(null, null, phrase, '');
    this.#reset();
  }

  #push(name: string | null, route: string | null, mailbox: string, host: string): void {
    this.#found += address(name ?? (this.#comment || null), route, mailbox || NO_MAILBOX, host || NO_HOST);
  }

  #phrase(): string | null {
    return this.#words.map((word) => word.text).join(' ') || null;
  }

  #joined(): string {
    const text = joined(this.#words);
    this.#words = [];
    this.#isApart = false;
    return text;
  }

  #reset(): void {
    this.#words = [];
    this.#comment = '';
    this.#isApart = false;
  }

  #readQuoted(): string {
    let text = '';
    this.#at++;
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at++]!;
      if (char === '"') break;
      text += char === '\\' && this.#at < this.#text.length ? this.#text[this.#at++]! : char;
    }
    return text;
  }

  #readLiteral(): string {
    const end = this.#text.indexOf(']', this.#at);
    const stop = end < 0 ? this.#text.length : end + 1;
    const text = this.#text.slice(this.#at, stop).replace(/\s+/g, '');
    this.#at = stop;
    return text;
  }

  /** Reads a comment, which may contain others. */
  #readComment(): string {
    let depth = 0;
    let text = '';
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at++]!;
      if (char === '(' && depth++ === 0) continue;
      if (char === ')' && --depth === 0) break;
      text += char === '\\' && this.#at < this.#text.length ? this.#text[this.#at++]! : char;
    }
    return text.trim();
  }
}

/** Joins the words without the white space and comments of obsolete syntax. */
function joined(words: readonly Word[]): string {
  return words.map((word) => word.text).join('');
}
