// The plain text of what was written in the editor, for readers that show no HTML: lines, lists with their marks, `>` before quotes, and
// where links go. It reads any tree of nodes that has these members, as that of a browser does.

export interface TextNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly nodeValue: string | null;
  readonly childNodes: Iterable<TextNode>;
  getAttribute?(name: string): string | null;
}

const TEXT = 3;
const BLOCKS = new Set(
  'ADDRESS ARTICLE BLOCKQUOTE CENTER DD DIV DL DT FIGURE FOOTER FORM H1 H2 H3 H4 H5 H6 HEADER HR LI OL P PRE SECTION TABLE TR UL'.split(
    ' ',
  ),
);
const HIDDEN = new Set(['HEAD', 'SCRIPT', 'STYLE', 'TEMPLATE', 'TITLE']);

export function plainText(root: TextNode): string {
  const writer = new TextWriter();
  writer.children(root);
  return writer.text();
}

class TextWriter {
  readonly #lines: string[] = [];
  #line = '';
  #prefix = '';
  /** The mark of a list item whose text has not begun. */
  #mark = '';
  /** Whether a space is due before the next word. */
  #space = false;
  #isPre = false;

  text(): string {
    this.#end();
    return this.#lines.join('\n').replace(/^\n+/, '').trimEnd();
  }

  children({ childNodes }: TextNode): void {
    for (const child of childNodes) this.#node(child);
  }

  #node(node: TextNode): void {
    const { nodeType, nodeName, nodeValue } = node;
    if (nodeType === TEXT) this.#words(nodeValue ?? '');
    else if (HIDDEN.has(nodeName)) return;
    else if (nodeName === 'BR') this.#break();
    else if (nodeName === 'IMG') this.#words(node.getAttribute?.('alt') ?? '');
    else if (nodeName === 'A') this.#link(node);
    else if (BLOCKS.has(nodeName)) this.#block(node);
    else this.children(node);
    if (nodeName === 'TD' || nodeName === 'TH') this.#space = true;
  }

  #block(node: TextNode): void {
    this.#end();
    const before = { prefix: this.#prefix, isPre: this.#isPre };
    if (node.nodeName === 'BLOCKQUOTE') this.#prefix = `>${this.#prefix === '' ? ' ' : this.#prefix}`;
    if (node.nodeName === 'PRE') this.#isPre = true;
    if (node.nodeName === 'HR') this.#words('----------');
    else if (node.nodeName === 'OL' || node.nodeName === 'UL') this.#list(node);
    else this.children(node);
    this.#end();
    this.#prefix = before.prefix;
    this.#isPre = before.isPre;
  }

  #list(node: TextNode): void {
    let number = 1;
    for (const item of node.childNodes) {
      if (item.nodeName !== 'LI') {
        this.#node(item);
        continue;
      }
      this.#end();
      this.#mark = node.nodeName === 'OL' ? `${number++}. ` : '- ';
      this.children(item);
      this.#begin();
      this.#end();
    }
  }

  #link(node: TextNode): void {
    const start = this.#line.length;
    this.children(node);
    const target = node.getAttribute?.('href') ?? '';
    const shown = this.#line.slice(start).trim();
    const isShown = shown === '' || shown === target || `mailto:${shown}` === target;
    if (/^(?:https?|mailto|tel):/i.test(target) && !isShown) this.#words(` <${target}>`);
  }

  #words(text: string): void {
    if (this.#isPre) {
      const lines = text.split('\n');
      for (const [i, line] of lines.entries()) {
        this.#begin();
        this.#line += line;
        if (i < lines.length - 1) this.#break();
      }
      return;
    }
    for (const part of text.split(/([ \t\r\n]+)/)) {
      if (part === '') continue;
      if (/^[ \t\r\n]/.test(part)) this.#space = this.#line !== '';
      else {
        this.#begin();
        this.#line += `${this.#space ? ' ' : ''}${part.replaceAll('\u00a0', ' ')}`;
        this.#space = false;
      }
    }
  }

  #begin(): void {
    this.#line += this.#mark;
    this.#mark = '';
  }

  /** Ends the line that the last element began, if there is one. */
  #end(): void {
    if (this.#line !== '') this.#break();
    this.#space = false;
  }

  #break(): void {
    this.#lines.push(`${this.#prefix}${this.#line}`.trimEnd());
    this.#line = '';
    this.#space = false;
  }
}
