// Converts HTML to plain text for previews at delivery, and for HTML that html-to-text cannot read: tags, comments, styles and scripts are
// dropped, entities are decoded. One forward scan takes linear time for any input. The result is text, not safe HTML: it is escaped where
// it is shown.
import { decodeHTML } from 'entities';

const HIDDEN = /^(?:script|style|head|title|template|noscript|svg)$/;
const BREAKING = /^(?:address|article|blockquote|br|dd|div|dl|dt|h[1-6]|hr|li|ol|p|pre|section|table|td|th|tr|ul)$/;

/** Returns the text between the tags; the end of a block is a line feed. Runs of white space stay as they are. */
export function htmlText(html: string): string {
  const pieces: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (open < 0) {
      pieces.push(html.slice(at));
      break;
    }
    pieces.push(html.slice(at, open));
    if (html.startsWith('<!--', open)) {
      at = after(html, '-->', open + 4);
      continue;
    }
    const name = /^\/?[a-z][a-z0-9]*/i.exec(html.slice(open + 1, open + 16))?.[0].toLowerCase();
    if (name === undefined && html[open + 1] !== '!' && html[open + 1] !== '?') {
      pieces.push('<');
      at = open + 1;
      continue;
    }
    at = after(html, '>', open + 1);
    if (name === undefined) continue;
    if (HIDDEN.test(name)) at = afterElement(html, name, at);
    else if (BREAKING.test(name.replace('/', ''))) pieces.push('\n');
  }
  return decodeHTML(pieces.join(''));
}

function after(html: string, end: string, from: number): number {
  const at = html.indexOf(end, from);
  return at < 0 ? html.length : at + end.length;
}

/** Returns the offset after `</name>`. An unclosed element hides the rest, as in a browser. */
function afterElement(html: string, name: string, from: number): number {
  const end = new RegExp(`</${name}`, 'gi');
  end.lastIndex = from;
  const found = end.exec(html);
  return found === null ? html.length : after(html, '>', found.index);
}
