// Finds the remote images of an HTML body: the URLs with http or https that a browser would load to show it. The tokenizer of htmlparser2
// takes linear time and builds no tree; css-urls.ts reads styles. A URL that is found in vain is harmless, because this list allows
// nothing: the page decides which images it shows.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Tokenizer } from 'htmlparser2';
import { cssUrls } from './css-urls.js';

/** The distinct URLs that are returned, and the characters of one. Longer ones are left out. */
export const MOST_IMAGES = 500;
const LONGEST_URL = 2048;
/** Styles and lists of sources that are read, in characters of all together. */
const MOST_STYLE_CHARACTERS = 1024 * 1024;
/** The characters that are read without a yield: about a millisecond of work. */
const STEP = 64 * 1024;

/** A URL, which ends at white space, and what follows to the next comma: none when commas end the URL. */
const SOURCE = /[\s,]*(\S+)(?:(?<=,)|[^,]*)/g;

/** URLs without a scheme are those of https, as in other mail programs; URLs without a host are not remote. */
const BASE = 'https://relative.invalid/';
const NO_HOST = 'relative.invalid';

/** Returns the URLs in the order in which they occur, each once, in the form of `new URL(…).href`. */
export async function remoteImages(html: string): Promise<readonly string[]> {
  const found = new FoundImages(html);
  const tokenizer = new Tokenizer({ xmlMode: false, decodeEntities: true }, found);
  for (let at = 0; at < html.length && !found.isFull; at += STEP) {
    tokenizer.write(html.slice(at, at + STEP));
    await nextTurn();
  }
  tokenizer.end();
  return found.urls;
}

/** The callbacks of the tokenizer, whose offsets are those of the whole text. */
class FoundImages {
  readonly #html: string;
  readonly #urls = new Set<string>();
  #element = '';
  #attributes = new Map<string, string>();
  #attribute = '';
  #value = '';
  /** The text of the style element that is open. */
  #style: string[] = [];
  #stylesLeft = MOST_STYLE_CHARACTERS;

  constructor(html: string) {
    this.#html = html;
  }

  get urls(): readonly string[] {
    return [...this.#urls];
  }

  get isFull(): boolean {
    return this.#urls.size >= MOST_IMAGES;
  }

  onopentagname(start: number, end: number): void {
    this.#element = this.#html.slice(start, end).toLowerCase();
    this.#attributes = new Map();
  }

  onattribname(start: number, end: number): void {
    this.#attribute = this.#html.slice(start, end).toLowerCase();
    this.#value = '';
  }

  onattribdata(start: number, end: number): void {
    this.#value += this.#html.slice(start, end);
  }

  onattribentity(codepoint: number): void {
    this.#value += String.fromCodePoint(codepoint);
  }

  /** A browser takes the first of several attributes with one name. */
  onattribend(): void {
    if (!this.#attributes.has(this.#attribute)) this.#attributes.set(this.#attribute, this.#value);
  }

  onopentagend(): void {
    const value = (name: string) => this.#attributes.get(name) ?? '';
    const isInput = this.#element === 'input' && value('type').trim().toLowerCase() === 'image';
    if (this.#element === 'img' || isInput) this.#add(value('src'));
    if (this.#element === 'img' || this.#element === 'source') this.#addSources(value('srcset'));
    this.#add(value('background'));
    this.#addStyle(value('style'));
  }

  onselfclosingtag(): void {
    this.onopentagend();
  }

  ontext(start: number, end: number): void {
    if (this.#element === 'style') this.#style.push(this.#html.slice(start, end));
  }

  onclosetag(): void {
    this.#endStyle();
    this.#element = '';
  }

  /** An element that is not closed reaches to the end, as in a browser. */
  onend(): void {
    this.#endStyle();
  }

  ontextentity(): void {}
  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}

  #endStyle(): void {
    if (this.#style.length > 0) this.#addStyle(this.#style.join(''));
    this.#style = [];
  }

  #addStyle(css: string): void {
    if (css === '' || css.length > this.#stylesLeft) return;
    this.#stylesLeft -= css.length;
    for (const url of cssUrls(css)) {
      if (this.isFull) return;
      this.#add(url);
    }
  }

  /** A list of candidates, each with a descriptor (HTML, "Parsing a srcset attribute"). */
  #addSources(list: string): void {
    if (list === '' || list.length > this.#stylesLeft) return;
    this.#stylesLeft -= list.length;
    for (const [, url = ''] of list.trim().matchAll(SOURCE)) {
      if (this.isFull) return;
      if (url.length <= LONGEST_URL) this.#add(url.replace(/,+$/, ''));
    }
  }

  #add(text: string): void {
    if (text === '' || text.length > LONGEST_URL || this.isFull || !URL.canParse(text, BASE)) return;
    const { protocol, hostname, href } = new URL(text, BASE);
    const isRemote = (protocol === 'https:' || protocol === 'http:') && hostname !== NO_HOST;
    if (isRemote && href.length <= LONGEST_URL) this.#urls.add(href);
  }
}
