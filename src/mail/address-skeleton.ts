// An address field without the contents of its quoted strings and without its comments, for those who have to know whether every
// reader finds the same addresses in it: the author check of DMARC and submission. Comments and white space may stand between
// the words of an address (RFC 5322 §3.2.2, §4.4); a comment there that could be taken for another address is marked.

/** Depth of nested comments. */
const DEEPEST = 10;
const QUOTED_OR_COMMENT = /"(?:[^"\\]|\\.)*"|\((?:[^()\\]|\\.)*\)/gs;
/** Stands for a comment with what could be an address. */
export const DOUBTFUL = '\ufffe';
const COULD_BE_ADDRESS = /[@<>\ufffe]/;

/** One address of a skeleton, with `q` for a quoted string; a part of an expression. */
export const ADDRESS = '[^<>@\\s,;:"()\ufffe]+@(?:\\[[^\\][<>@\\s,;"()\ufffe]*\\]|[^<>@\\s,;:"()[\\]\ufffe]+)';

/** The caller bounds the length. What is left of quotes and parentheses has no end. */
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

/** An item of a skeleton's list without what stands around it. */
export function trimmedItem(item: string): string {
  return item.replace(/^[\s\ufffe]+/, '').replace(/[\s\ufffe]+$/, '');
}
