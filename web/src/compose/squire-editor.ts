// The editor of a compose window: Squire, which writes the plain tags that mail programs read. It is loaded with the first window.
import Squire from 'squire-rte';
import {
  editorFragment,
  imageAttributes,
  ownFragment,
  shownImages,
  type Written,
  waitingImages,
  writtenIn,
} from './editor-html.js';

export type Format = 'bold' | 'italic' | 'underline' | 'bullets' | 'numbers' | 'quote' | 'link';

export interface EditorEvents {
  changed(): unknown;
  /** The cursor has moved: other buttons may be pressed. */
  moved(): void;
  /** Images were pasted or dropped into the text. */
  images(files: readonly File[]): void;
}

/** Takes the editor's own HTML back on undo, without the assignment of a string that Trusted Types refuse. */
class TrustedSquire extends Squire {
  override _setRawHTML(html: string): this {
    this._root.replaceChildren(ownFragment(html));
    if (this._root.firstChild === null) this._root.append(this.createDefaultBlock());
    this._ignoreChange = true;
    return this;
  }
}

export class Editor {
  readonly #root: HTMLElement;
  readonly #squire: TrustedSquire;
  readonly #events: EditorEvents;

  constructor(root: HTMLElement, html: string, events: EditorEvents) {
    this.#root = root;
    this.#events = events;
    this.#squire = new TrustedSquire(root, {
      blockTag: 'DIV',
      blockAttributes: { dir: 'auto' },
      tagAttributes: { a: { rel: 'noopener noreferrer' }, blockquote: { type: 'cite' } },
      sanitizeToDOMFragment: editorFragment,
    });
    // The page sends with Ctrl or ⌘ and Enter.
    for (const key of ['Ctrl-Enter', 'Meta-Enter']) this.#squire.setKeyHandler(key, () => {});
    this.#squire.setHTML(html);
    this.#squire.moveCursorToStart();
    this.#squire.addEventListener('input', events.changed);
    this.#squire.addEventListener('pathChange', events.moved);
    this.#squire.addEventListener('cursor', events.moved);
    this.#squire.addEventListener('select', events.moved);
    root.addEventListener('paste', this.#onPaste, { capture: true });
    root.addEventListener('drop', this.#onDrop, { capture: true });
  }

  destroy(): void {
    this.#root.removeEventListener('paste', this.#onPaste, { capture: true });
    this.#root.removeEventListener('drop', this.#onDrop, { capture: true });
    this.#squire.destroy();
  }

  written(): Written {
    return writtenIn(this.#root);
  }

  /** Goes on with what was written into the element before this editor was made. */
  goOn(text: string): void {
    // The editor learns of the focus by its event.
    if (this.#root === document.activeElement) {
      this.#root.blur();
      this.#squire.focus();
    }
    if (text !== '') this.#squire.insertPlainText(text, false);
  }

  /** Shows another version of the text. */
  replace(html: string): void {
    this.#squire.setHTML(html);
  }

  focus(): void {
    this.#squire.focus();
  }

  is(format: Format): boolean {
    return TAGS[format].some((tag) => this.#squire.hasFormat(tag));
  }

  /** Gives the selected text the format, or takes it away. */
  toggle(format: Exclude<Format, 'link'>): void {
    const squire = this.#squire;
    const isOn = this.is(format);
    if (format === 'bold') isOn ? squire.removeBold() : squire.bold();
    else if (format === 'italic') isOn ? squire.removeItalic() : squire.italic();
    else if (format === 'underline') isOn ? squire.removeUnderline() : squire.underline();
    else if (format === 'quote') isOn ? squire.decreaseQuoteLevel() : squire.increaseQuoteLevel();
    else if (isOn) squire.removeList();
    else if (format === 'bullets') squire.makeUnorderedList();
    else squire.makeOrderedList();
    squire.focus();
  }

  /** Where the link at the cursor goes; empty without one. */
  linkAddress(): string {
    const { startContainer } = this.#squire.getSelection();
    const element = startContainer instanceof Element ? startContainer : startContainer.parentElement;
    const link = element?.closest('a');
    return link !== undefined && link !== null && this.#root.contains(link) ? (link.getAttribute('href') ?? '') : '';
  }

  /** An empty address removes the link. */
  link(address: string): void {
    const url = /^[a-z][a-z0-9+.-]*:/i.test(address) || address === '' ? address : `https://${address}`;
    if (url === '') this.#squire.removeLink();
    else if (/^(?:https?|mailto|tel):/i.test(url)) this.#squire.makeLink(url);
    this.#squire.focus();
  }

  removeFormatting(): void {
    this.#squire.removeAllFormatting();
    this.#squire.focus();
  }

  /** Puts an image where the cursor is. `url` shows it in the page. */
  insertImage(url: string, contentId: string, alt: string): void {
    this.#squire.insertImage(url, imageAttributes(contentId, alt));
  }

  /** Fills the images that the text names and that have nothing to show yet. */
  fillImages(urlOf: (contentId: string) => Promise<string | undefined>): void {
    for (const { contentId, image } of waitingImages(this.#root)) {
      void urlOf(contentId).then((url) => {
        if (url === undefined) return;
        // It is no change of the text.
        this.#squire.modifyDocument(() => {
          image.src = url;
        });
      });
    }
  }

  shownImages(): ReadonlySet<string> {
    return shownImages(this.#root);
  }

  readonly #onPaste = (event: ClipboardEvent): void => {
    const files = imagesOf(event.clipboardData);
    // Office programs put a picture of the text besides the text.
    if (files.length === 0 || event.clipboardData?.types.includes('text/html') === true) return;
    event.preventDefault();
    event.stopPropagation();
    this.#events.images(files);
  };

  readonly #onDrop = (event: DragEvent): void => {
    const files = imagesOf(event.dataTransfer);
    // Other files are attached by the card that the drop reaches next.
    if (files.length === 0 || files.length !== event.dataTransfer?.files.length) return;
    event.preventDefault();
    event.stopPropagation();
    const range = document.caretRangeFromPoint?.(event.clientX, event.clientY);
    if (range != null && this.#root.contains(range.startContainer)) this.#squire.setSelection(range);
    this.#events.images(files);
  };
}

const TAGS: Readonly<Record<Format, readonly string[]>> = {
  bold: ['B', 'STRONG'],
  italic: ['I', 'EM'],
  underline: ['U'],
  bullets: ['UL'],
  numbers: ['OL'],
  quote: ['BLOCKQUOTE'],
  link: ['A'],
};

/** Types that every mail program shows. */
const SHOWN = /^image\/(?:png|jpeg|gif|webp)$/;

const imagesOf = (data: DataTransfer | null): readonly File[] =>
  [...(data?.files ?? [])].filter((file) => SHOWN.test(file.type));
