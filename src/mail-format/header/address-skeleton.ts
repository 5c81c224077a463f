// An address field without the contents of its quoted strings and without its comments. The author checks of DMARC and of submission use it
// to find out whether every reader finds the same addresses in the field. Comments and white space may stand between the words of an
// address (RFC 5322 §3.2.2, §4.4); a comment there that could be taken for another address is marked.

/** The deepest nesting of comments that is read. */
const DEEPEST = 10;
const QUOTED_OR_COMMENT = /"(?:[^"\\]|\\.)*"|\((?:[^()\\]|\\.)*\)/gs;
/** Replaces a comment that contains what could be an address. */
export const DOUBTFUL = '\ufffe';
const COULD_BE_ADDRESS = /[@<>\ufffe]/;

/** The source of a regular expression that matches one address of a skeleton, in which `q` stands for a quoted string. */
export const ADDRESS = '[^<>@\\s,;:"()\ufffe]+@(?:\\[[^\\][<>@\\s,;"()\ufffe]*\\]|[^<>@\\s,;:"()[\\]\ufffe]+)';

/** The caller limits the length of the field. Quotes and parentheses that remain in the skeleton are not closed. */
export function addressSkeleton(field: string): string {
  let text = field.replaceAll(DOUBTFUL, ' ');
  for (let depth = 0; depth < DEEPEST; depth++) {
    const next = text.replace(QUOTED_OR_COMMENT, (found) => {
      if (found.startsWith('"')) return 'q';
      return COULD_BE_ADDRESS.test(found) ? DOUBTFUL : ' ';
    });
    if (next === text) break;
    text = next;
  }
  return text.replace(/\s+/g, ' ').replace(/ ?([@.<>]) ?/g, '$1');
}

/** Removes the white space and the marks around an item of a skeleton's list. */
export function trimmedItem(item: string): string {
  return item.replace(/^[\s\ufffe]+/, '').replace(/[\s\ufffe]+$/, '');
}
