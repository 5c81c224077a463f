// Rewrites the HTML of a mail before a browser parses it, so that parsing stays quiet: style elements and comments are taken out, inline
// styles get a name that nothing applies, and event handlers are dropped. A browser reports each of them as a violation of the page's
// policy, even in a document that is never shown. This is no defence: safe-mail.ts and editor-html.ts make the result safe, whatever this file overlooks.

export interface Markup {
  readonly html: string;
  /** The texts of its style elements, in order. */
  readonly styles: readonly string[];
}

/** The attribute that holds the text of a `style` attribute. */
export const STYLE_ATTRIBUTE = 'data-mansio-style';

/** Elements whose content is text up to their end tag. None of them is shown. */
const RAW_TEXT = new Set(['style', 'script', 'xmp', 'iframe', 'noembed', 'noframes', 'textarea', 'title']);
/** Tags that are dropped: they name no content, and a base is reported too. */
const DROPPED = new Set([...RAW_TEXT, 'base', 'link', 'meta', 'plaintext']);
const TAG_NAME = /[a-z][^\t\n\f\r />]*/iy;
const PLAIN_NAME = /^[a-z][a-z0-9:-]*$/;
/** The name of an attribute, and its value in double quotes, in single quotes or without quotes. */
const ATTRIBUTE =
  /[\t\n\f\r /]*([^\t\n\f\r />][^\t\n\f\r />=]*)(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^\t\n\f\r >]*)))?/y;

/** Takes linear time. Never throws. */
export function rewrittenMarkup(html: string): Markup {
  const output: string[] = [];
  const styles: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (open === -1) break;
    output.push(html.slice(at, open));
    const tag = readTag(html, open);
    if (tag === undefined) {
      const isText = !/[/!?]/.test(html[open + 1] ?? ' ');
      if (isText) output.push('&lt;');
      at = isText ? open + 1 : endOfComment(html, open);
      continue;
    }
    at = tag.end;
    if (!tag.isEnd && RAW_TEXT.has(tag.name)) {
      const end = endOfRawText(html, at, tag.name);
      if (tag.name === 'style') styles.push(html.slice(at, end));
      at = end;
    } else if (tag.isClosed && PLAIN_NAME.test(tag.name) && !DROPPED.has(tag.name)) {
      output.push(tagText(tag));
    }
  }
  output.push(html.slice(at));
  return { html: output.join(''), styles };
}

interface Tag {
  readonly name: string;
  readonly isEnd: boolean;
  readonly attributes: readonly (readonly [name: string, value: string])[];
  /** False for one that the end of the text cuts off. */
  readonly isClosed: boolean;
  /** The position after it. */
  readonly end: number;
}

/** Returns undefined where no tag begins. */
function readTag(html: string, open: number): Tag | undefined {
  const isEnd = html[open + 1] === '/';
  TAG_NAME.lastIndex = open + (isEnd ? 2 : 1);
  const name = TAG_NAME.exec(html)?.[0].toLowerCase();
  if (name === undefined) return undefined;
  const attributes: [string, string][] = [];
  let end = TAG_NAME.lastIndex;
  for (;;) {
    ATTRIBUTE.lastIndex = end;
    const match = ATTRIBUTE.exec(html);
    if (match === null) break;
    end = ATTRIBUTE.lastIndex;
    attributes.push([match[1]!.toLowerCase(), match[2] ?? match[3] ?? match[4] ?? '']);
  }
  const close = html.indexOf('>', end);
  return { name, isEnd, attributes, isClosed: close !== -1, end: close === -1 ? html.length : close + 1 };
}

function tagText({ name, isEnd, attributes }: Tag): string {
  if (isEnd) return `</${name}>`;
  const texts = attributes
    .filter(([attribute]) => PLAIN_NAME.test(attribute) && !attribute.startsWith('on'))
    .map(([attribute, value]) => ` ${attribute === 'style' ? STYLE_ATTRIBUTE : attribute}="${quoted(value)}"`);
  return `<${name}${texts.join('')}>`;
}

/** Leaves references to characters as they are. */
const quoted = (value: string): string =>
  value.replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const COMMENT_END = /--!?>/g;

/** Returns the position after a comment, a document type or what a parser takes for a comment. */
function endOfComment(html: string, open: number): number {
  if (!html.startsWith('<!--', open)) return after(html, html.indexOf('>', open), 1);
  // `<!-->` and `<!--->` are comments too.
  COMMENT_END.lastIndex = open + 2;
  const match = COMMENT_END.exec(html);
  return match === null ? html.length : COMMENT_END.lastIndex;
}

function endOfRawText(html: string, start: number, name: string): number {
  const end = new RegExp(`</${name}[\\t\\n\\f\\r />]`, 'gi');
  end.lastIndex = start;
  return end.exec(html)?.index ?? html.length;
}

const after = (html: string, at: number, length: number): number => (at === -1 ? html.length : at + length);
