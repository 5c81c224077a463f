// Writes the tree of a mail as HTML. It writes only elements and attributes that allowed-markup.ts names, and escapes whatever is text, so
// the result is what a browser reads again. Links get their destination, inline styles become classes, images are written only when they
// have a source that loads nothing from elsewhere, and the quotation at the end is folded.
import { percentDecoded } from '../../app/percent-decoding.js';
import { hrefOf } from '../../app/route.js';
import { COLOR_ATTRIBUTES, ELEMENTS, isAttributeShown, VOID_ELEMENTS } from './allowed-markup.js';
import { escaped } from './frame-document.js';
import { linkOf } from './links.js';
import type { MailStyles } from './mail-styles.js';
import { STYLE_ATTRIBUTE } from './markup.js';

export interface ImageSources {
  /** Signed addresses of the image proxy, by the address that the mail names. */
  readonly remote: ReadonlyMap<string, string>;
  /** `data:` URLs, by Content-ID. */
  readonly byContentId: ReadonlyMap<string, string>;
}

export interface WrittenTexts {
  /** What stands behind a link whose text names another place. */
  misleads(destination: string): string;
  /** The button that unfolds a quotation. */
  readonly showQuote: string;
}

export interface WriterOptions {
  readonly images: ImageSources;
  readonly styles: MailStyles;
  readonly texts: WrittenTexts;
  /** The quotation at the end of the mail is folded. */
  readonly isFolded: boolean;
}

export interface WrittenMarkup {
  readonly html: string;
  readonly remoteImages: readonly string[];
  readonly contentIds: readonly string[];
  readonly hasColors: boolean;
}

const MOST_IMAGES = 1000;
/** Characters of one image in the mail itself. */
const LONGEST_DATA_URL = 2_000_000;
const DATA_URL = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[a-z0-9+/=\s]+$/i;
const OWN_CLASS = /^mansio-/i;

export class MarkupWriter {
  readonly #options: WriterOptions;
  readonly #output: string[] = [];
  readonly #remote = new Set<string>();
  readonly #contentIds = new Set<string>();
  #hasColors = false;
  #quote: Element | undefined;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /** `root`: the html element. */
  document(root: Element): WrittenMarkup {
    const body = [...root.children].find(({ localName }) => localName === 'body');
    if (body !== undefined) {
      if (this.#options.isFolded) this.#quote = lastQuote(body);
      const direction = body.getAttribute('dir') ?? root.getAttribute('dir') ?? 'auto';
      this.#output.push(`<body dir="${escaped(direction)}"${this.#attributes(body, 'dir')}>`);
      this.#children(body);
      this.#output.push('</body>');
    }
    return {
      html: this.#output.join(''),
      remoteImages: [...this.#remote],
      contentIds: [...this.#contentIds],
      hasColors: this.#hasColors,
    };
  }

  #children(parent: Node): void {
    for (let child = parent.firstChild; child !== null; child = child.nextSibling) {
      if (child.nodeType === Node.TEXT_NODE) this.#output.push(escaped((child as Text).data));
      else if (child.nodeType === Node.ELEMENT_NODE) this.#element(child as Element);
    }
  }

  #element(element: Element): void {
    const name = element.localName;
    if (!ELEMENTS.has(name) || element.namespaceURI !== 'http://www.w3.org/1999/xhtml') {
      this.#children(element);
    } else if (element === this.#quote) {
      this.#quote = undefined;
      const { showQuote } = this.#options.texts;
      this.#output.push(
        `<details class="mansio-quote"><summary title="${escaped(showQuote)}">${escaped(showQuote)}</summary>`,
      );
      this.#element(element);
      this.#output.push('</details>');
    } else if (name === 'img') {
      this.#output.push(`<img${this.#attributes(element)}${this.#source(element)}>`);
    } else if (name === 'a') {
      this.#link(element);
    } else {
      // A parser drops the first line feed of `pre`.
      this.#output.push(`<${name}${this.#attributes(element)}>${name === 'pre' ? '\n' : ''}`);
      if (VOID_ELEMENTS.has(name)) return;
      this.#children(element);
      this.#output.push(`</${name}>`);
    }
  }

  #attributes(element: Element, except?: string): string {
    const texts: string[] = [];
    const classes = (element.getAttribute('class') ?? '')
      .split(/\s+/)
      .filter((one) => one !== '' && !OWN_CLASS.test(one));
    for (const { name, value } of element.attributes) {
      if (name === 'class' || name === except || !isAttributeShown(element.localName, name)) continue;
      if (COLOR_ATTRIBUTES.has(name)) this.#hasColors = true;
      texts.push(` ${name}="${escaped(value)}"`);
    }
    const inline = element.getAttribute(STYLE_ATTRIBUTE);
    const styleClass = inline === null ? undefined : this.#options.styles.classOf(inline);
    if (styleClass !== undefined) classes.push(styleClass);
    if (classes.length > 0) texts.push(` class="${escaped(classes.join(' '))}"`);
    return texts.join('');
  }

  #link(element: Element): void {
    const href = element.getAttribute('href') ?? '';
    const link = linkOf(href, element.textContent ?? '');
    const attributes = this.#attributes(element, link === undefined ? undefined : 'title');
    if (link !== undefined) {
      const to = `href="${escaped(reachable(link.href))}" title="${escaped(link.destination)}"`;
      this.#output.push(`<a${attributes} ${to} target="_blank" rel="noopener noreferrer">`);
    } else if (/^#[^\s#]/.test(href)) {
      // In this document alone; its base is the page, which `#…` would ask the frame to load.
      this.#output.push(`<a${attributes} href="about:srcdoc${escaped(href)}">`);
    } else {
      this.#output.push(`<a${attributes}>`);
    }
    this.#children(element);
    this.#output.push('</a>');
    if (link?.misleadsTo === undefined) return;
    const text = this.#options.texts.misleads(link.misleadsTo);
    this.#output.push(` <span class="mansio-destination">${escaped(text)}</span>`);
  }

  #source(image: Element): string {
    const source = (image.getAttribute('src') ?? '').trim();
    const found = this.#found(source);
    return found === undefined ? '' : ` src="${escaped(found)}"`;
  }

  #found(source: string): string | undefined {
    const { remote, byContentId } = this.#options.images;
    if (/^data:/i.test(source)) return source.length <= LONGEST_DATA_URL && DATA_URL.test(source) ? source : undefined;
    if (/^cid:/i.test(source)) {
      const id = percentDecoded(source.slice('cid:'.length));
      if (this.#contentIds.size < MOST_IMAGES) this.#contentIds.add(id);
      return byContentId.get(id);
    }
    if (!/^https?:\/\//i.test(source)) return undefined;
    if (this.#remote.size < MOST_IMAGES) this.#remote.add(source);
    return remote.get(source);
  }
}

/** A frame without scripts cannot ask the page to write: an address of mail opens the page in another tab, which does. */
function reachable(href: string): string {
  return href.startsWith('mailto:') ? new URL(hrefOf({ view: 'mailto', link: href }), location.origin).href : href;
}

const QUOTE =
  'blockquote[type="cite" i], .gmail_quote, .gmail_quote_container, .protonmail_quote, .yahoo_quoted, .moz-cite-prefix + blockquote';

/** The quotation with which a mail ends, if there is text before it. */
function lastQuote(body: Element): Element | undefined {
  const quote = [...body.querySelectorAll(QUOTE)].find((one) => one.parentElement?.closest(QUOTE) === null);
  if (quote === undefined) return undefined;
  const around = body.ownerDocument.createRange();
  around.selectNodeContents(body);
  around.setStartAfter(quote);
  if (around.toString().trim() !== '') return undefined;
  around.setStart(body, 0);
  around.setEndBefore(quote);
  return around.toString().trim() === '' ? undefined : quote;
}
