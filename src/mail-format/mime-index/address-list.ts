// Address lists of header fields (RFC 5322 §3.4 with the obsolete forms), as real mail writes them. One forward scan uses counters instead
// of recursion, so nested groups and comments take linear time. Every text yields a list; `address.ts` decides which addresses are valid.
import type { IndexedAddress } from '../message-index.js';
import { clean, type WordDecoder } from './header-text.js';

/** Matches `Name <a@b>`, `"Name" <a@b>` and `a@b`, which are nearly all fields. */
const PLAIN = /^(?:"([^"\\]{0,200})"|([^"()<>[\]:;@\\,]{0,200}))\s{0,9}<([^\s"()<>[\]:;\\,]{1,320})>$/;
const BARE = /^[^\s"()<>[\]:;\\,]{1,320}$/;

/** Matches the rest of a domain literal. Its length is limited, so that many `[` take linear time. */
const LITERAL_REST = /[^[\]]{0,64}\]/y;
const SPECIAL = /["(<[,;:]/g;

const LONGEST_ADDRESS = 1000;

/** Replaces a comment in the text of an address: header text has no such character. */
const COMMENT = '\ufffe';
const QUOTED_OR_SPACE = /"(?:[^"\\]|\\.)*"|[\s\ufffe]+/g;

/**
 * Removes the comments and the white space that obsolete syntax allows around the at sign and the dots of an address (RFC 5322 §4.4);
 * elsewhere they become a space. A dot may also end the word before it, such as a name: only a comment, or white space before the dot,
 * shows that the dot belongs to a local part.
 */
function withoutComments(raw: string): string {
  const text = raw.replace(QUOTED_OR_SPACE, (found) =>
    found.startsWith('"') ? found : found.includes(COMMENT) ? COMMENT : ' ',
  );
  const at = text.lastIndexOf('@');
  if (at < 0) return text.replaceAll(COMMENT, ' ');
  const before = text.slice(0, at).replace(/[ \ufffe]$/, '');
  // White space within quotes is text.
  const local = before.includes('"') ? before : before.replace(/[ \ufffe]\.[ \ufffe]?|\.\ufffe/g, '.');
  const behind = text.slice(at + 1).replace(/^[ \ufffe]/, '');
  const domain = behind.replace(/[ \ufffe]?\.[ \ufffe]?/g, '.');
  return `${local}@${domain}`.replaceAll(COMMENT, ' ');
}

export interface AddressList {
  readonly addresses: IndexedAddress[];
  /** True when the field has more addresses than the limit: the rest is left out. */
  readonly truncated: boolean;
}

export function addressList(field: string, limit: number, words: WordDecoder): AddressList {
  const plain = PLAIN.exec(field);
  if (plain !== null) {
    const name = words.text(plain[1] ?? plain[2] ?? '');
    return { addresses: [{ name, address: clean(plain[3]!) }], truncated: false };
  }
  if (BARE.test(field)) return { addresses: [{ name: '', address: clean(field) }], truncated: false };
  return new AddressScanner(field, limit, words).scan();
}

class AddressScanner {
  readonly #text: string;
  readonly #limit: number;
  readonly #words: WordDecoder;
  readonly #found: IndexedAddress[] = [];
  #at = 0;
  // These fields hold the current mailbox. `#raw` is the text as written, with a mark for each comment; `#phrase` is the text without its
  // quotes.
  #raw = '';
  #phrase = '';
  /** The name that a comment gives to an address without another name. */
  #name = '';
  #angle: string | undefined;
  /** True when a comment was not closed: later parentheses in angle brackets are then not comments. */
  #isOpen = false;

  constructor(text: string, limit: number, words: WordDecoder) {
    this.#text = text;
    this.#limit = limit;
    this.#words = words;
  }

  scan(): AddressList {
    const text = this.#text;
    while (this.#at < text.length && this.#found.length <= this.#limit) {
      const char = text[this.#at++]!;
      if (char === '"') this.#quoted();
      else if (char === '(') this.#besideOrWithin();
      else if (char === '<') this.#angle = this.#untilAngle();
      else if (char === '[') this.#literal();
      else if (char === ',' || char === ';') this.#end();
      else if (char === ':') this.#group();
      else this.#plain();
    }
    this.#end();
    const truncated = this.#found.length > this.#limit;
    return { addresses: truncated ? this.#found.slice(0, this.#limit) : this.#found, truncated };
  }

  /** Reads the text up to the next special character. */
  #plain(): void {
    const start = this.#at - 1;
    SPECIAL.lastIndex = this.#at;
    this.#at = SPECIAL.exec(this.#text)?.index ?? this.#text.length;
    const run = this.#text.slice(start, this.#at);
    this.#raw += run;
    this.#phrase += run;
  }

  #quoted(): void {
    const start = this.#at - 1;
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at++]!;
      if (char === '"') break;
      this.#phrase += char === '\\' && this.#at < this.#text.length ? this.#text[this.#at++]! : char;
    }
    this.#raw += this.#text.slice(start, this.#at);
  }

  /** Reads a comment. The first one that stands next to an address may be its name (`a@b (Name)`). */
  #besideOrWithin(): void {
    const isBehind = /[@.]\s{0,9}$/.test(this.#raw.slice(-10));
    const comment = this.#comment();
    const isBefore = /^\s{0,9}[@.]/.test(this.#text.slice(this.#at, this.#at + 10));
    if (!isBehind && !isBefore) this.#name ||= comment;
    this.#raw += COMMENT;
    this.#phrase += ' ';
  }

  /** Reads a comment, which may contain others. An unclosed one ends with the field. */
  #comment(): string {
    let depth = 1;
    let comment = '';
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at++]!;
      if (char === '(') depth++;
      else if (char === ')' && --depth === 0) return comment;
      if (char === '\\' && this.#at < this.#text.length) comment += this.#text[this.#at++]!;
      else comment += char;
    }
    this.#isOpen = true;
    return comment;
  }

  #literal(): void {
    LITERAL_REST.lastIndex = this.#at;
    const stop = this.#at + (LITERAL_REST.exec(this.#text)?.[0].length ?? 0);
    const literal = this.#text.slice(this.#at - 1, stop);
    this.#raw += literal;
    this.#phrase += literal;
    this.#at = stop;
  }

  #untilAngle(): string {
    let address = '';
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at++]!;
      if (char === '>') break;
      if (char === '<') address = '';
      else if (char === '"') {
        const start = this.#at - 1;
        while (this.#at < this.#text.length && this.#text[this.#at] !== '"')
          this.#at += this.#text[this.#at] === '\\' ? 2 : 1;
        address += this.#text.slice(start, ++this.#at);
      } else if (char === '(' && !this.#isOpen) {
        const start = this.#at;
        this.#comment();
        if (this.#isOpen) {
          this.#at = start;
          address += char;
        }
      } else address += char;
    }
    // An obsolete route ends with a colon (RFC 5322 §4.4).
    return address.trimStart().startsWith('@') ? address.slice(address.indexOf(':') + 1) : address;
  }

  /** Ends the name of a group at its colon; the members follow as if there were no group. */
  #group(): void {
    const name = this.#words.text(this.#phrase);
    if (name !== '') this.#found.push({ name, address: '' });
    this.#reset();
  }

  #end(): void {
    const raw = clean(withoutComments(this.#raw.slice(0, LONGEST_ADDRESS)));
    if (this.#angle !== undefined) {
      const name = this.#words.text(this.#phrase.trim().replace(/\s{2,}/g, ' ') || this.#name);
      const address = clean(this.#angle.slice(0, LONGEST_ADDRESS)).replace(QUOTED_OR_SPACE, (found) =>
        found.startsWith('"') ? found : '',
      );
      if (address !== '' || name !== '') this.#found.push({ name, address });
    } else if (raw !== '') this.#found.push(this.#bare(raw));
    this.#reset();
  }

  /** Reads text without angle brackets: an address, an address after a name, or only a name. */
  #bare(raw: string): IndexedAddress {
    const name = this.#words.text(this.#name);
    if (!raw.includes(' ') || raw.startsWith('"')) return { name, address: raw };
    const tokens = raw.split(' ');
    const address = tokens.find((token) => token.indexOf('@') > 0 && !token.endsWith('@'));
    if (address !== undefined) {
      const others = tokens.filter((token) => token !== address && token !== '');
      return { name: name || this.#words.text(others.join(' ')), address };
    }
    return { name: this.#words.text(this.#phrase), address: '' };
  }

  #reset(): void {
    this.#raw = '';
    this.#phrase = '';
    this.#name = '';
    this.#angle = undefined;
  }
}
