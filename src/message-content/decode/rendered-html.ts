// Renders HTML as text with html-to-text, which mailparser also uses: it collapses white space, marks list items, prefixes
// quotations and replaces images by their alternative text. Links lose their targets and lines are not wrapped, because search
// and filters look for the words that a reader sees.
import { compile } from 'html-to-text';
import { htmlText } from '../../mail-format/decode/html-text.js';
import { storable } from '../../mail-format/decode/part-text.js';

/** html-to-text holds a tree of the document: about 30 MB for this many characters, and up to 150 ms of work. */
const MOST_CHARACTERS = 256 * 1024;

const BREAK = { leadingLineBreaks: 1, trailingLineBreaks: 1 };
const skip = (selector: string) => ({ selector, format: 'skip' });
const line = (selector: string) => ({ selector, format: 'block', options: BREAK });
const heading = (selector: string) => ({ selector, options: { uppercase: false } });

const render = compile({
  wordwrap: false,
  baseElements: { selectors: [] },
  formatters: {
    alternative: ({ attribs }, _walk, builder) => builder.addInline(attribs['alt'] ? ` ${attribs['alt']} ` : ''),
  },
  selectors: [
    { selector: 'a', options: { ignoreHref: true } },
    { selector: 'img', format: 'alternative' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map(heading),
    ...['address', 'dd', 'dl', 'dt', 'hr', 'section', 'td', 'th', 'tr'].map(line),
    ...['head', 'noscript', 'script', 'style', 'svg', 'template', 'title'].map(skip),
  ],
});

/** Our own scan reads HTML that is too long or too deeply nested for html-to-text. Never throws. */
export function renderedHtml(html: string): string {
  if (html.length > MOST_CHARACTERS) return htmlText(html);
  try {
    return storable(render(html));
  } catch {
    return htmlText(html);
  }
}
