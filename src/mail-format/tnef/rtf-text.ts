// The text of RTF: words, paragraphs and tabs, without formats, pictures, font tables and what readers may ignore (`\*`). One forward scan
// over the octets reads nested groups without recursion.
import { decodeCharset } from '../decode/charset.js';

/** The groups that hold no text of the document. */
const HIDDEN = new Set(
  'colortbl fonttbl footer footnote header info listtable object pict stylesheet themedata'.split(' '),
);
const SYMBOLS: Readonly<Record<string, string>> = {
  par: '\n',
  line: '\n',
  row: '\n',
  page: '\n',
  sect: '\n',
  tab: '\t',
  cell: '\t',
  emdash: '\u2014',
  endash: '\u2013',
  bullet: '\u2022',
  lquote: '\u2018',
  rquote: '\u2019',
  ldblquote: '\u201c',
  rdblquote: '\u201d',
};
const TOKEN = /\\'([\da-f]{2})|\\([a-z]{1,32})(-?\d{1,10})? ?|\\([^a-z])|([{}])|[\r\n]+|([^\\{}\r\n]+)/giy;

interface Group {
  readonly isHidden: boolean;
  /** The number of characters after a `\u` that are written for readers without Unicode. */
  readonly fallback: number;
}

/** Never throws. */
export function rtfText(rtf: Uint8Array): string {
  return new RtfScanner(Buffer.from(rtf.buffer, rtf.byteOffset, rtf.byteLength).toString('latin1')).text();
}

class RtfScanner {
  readonly #rtf: string;
  readonly #outer: Group[] = [];
  #isHidden = false;
  #fallback = 1;
  /** The number of characters that are still to be skipped. */
  #skip = 0;
  #charset = 'windows-1252';
  #pieces: string[] = [];
  /** The octets in the charset that wait to be decoded, one character each. */
  #octets = '';

  constructor(rtf: string) {
    this.#rtf = rtf;
  }

  text(): string {
    TOKEN.lastIndex = 0;
    for (let at = 0; at < this.#rtf.length; at = TOKEN.lastIndex) {
      TOKEN.lastIndex = at;
      const found = TOKEN.exec(this.#rtf);
      if (found === null) TOKEN.lastIndex = at + 1;
      else this.#token(found);
    }
    this.#flush();
    return this.#pieces.join('');
  }

  #token([, hex, word, number, symbol, brace, text]: RegExpExecArray): void {
    if (hex !== undefined) this.#show(String.fromCharCode(Number.parseInt(hex, 16)));
    else if (word !== undefined) this.#word(word, number === undefined ? undefined : Number(number));
    else if (symbol !== undefined) this.#symbol(symbol);
    else if (brace === '{') this.#outer.push({ isHidden: this.#isHidden, fallback: this.#fallback });
    else if (brace === '}') this.#close();
    else if (text !== undefined) this.#show(text);
  }

  #close(): void {
    this.#skip = 0;
    const group = this.#outer.pop();
    this.#isHidden = group?.isHidden ?? false;
    this.#fallback = group?.fallback ?? 1;
  }

  #symbol(symbol: string): void {
    if (symbol === '*') this.#isHidden = true;
    else if (symbol === '~') this.#show('\u00a0');
    else if (symbol === '\n' || symbol === '\r') this.#write('\n');
    else if ('\\{}'.includes(symbol)) this.#show(symbol);
  }

  #word(word: string, number: number | undefined): void {
    if (HIDDEN.has(word)) this.#isHidden = true;
    else if (word === 'u' && number !== undefined) {
      this.#write(String.fromCharCode(number & 0xffff));
      this.#skip = this.#fallback;
    } else if (word === 'uc') this.#fallback = Math.min(number ?? 1, 16);
    else if (word === 'ansicpg' && number !== undefined)
      this.#charset = number === 65001 ? 'utf-8' : `windows-${number}`;
    else if (word === 'bin') TOKEN.lastIndex += Math.max(0, number ?? 0);
    else if (Object.hasOwn(SYMBOLS, word)) this.#write(SYMBOLS[word]!);
  }

  #show(octets: string): void {
    const skipped = Math.min(this.#skip, octets.length);
    this.#skip -= skipped;
    if (!this.#isHidden) this.#octets += octets.slice(skipped);
  }

  #write(text: string): void {
    if (this.#isHidden) return;
    this.#flush();
    this.#pieces.push(text);
  }

  #flush(): void {
    if (this.#octets === '') return;
    this.#pieces.push(decodeCharset(Buffer.from(this.#octets, 'latin1'), this.#charset));
    this.#octets = '';
  }
}
