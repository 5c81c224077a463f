// The URLs of images in CSS (CSS Syntax Level 3): the arguments of url() outside comments, strings, @import and @font-face. One forward
// scan takes linear time for any input; what is not closed ends the scan.

const NEXT = /\/\*|["']|@import\b|@font-face\b|\burl\(/gi;
const ESCAPE = /\\(?:([0-9a-f]{1,6})[ \t\r\n\f]?|([^\n]))/gi;
const WHITE_SPACE = /[ \t\r\n\f]/;

export function* cssUrls(css: string): Generator<string> {
  let at = 0;
  for (;;) {
    NEXT.lastIndex = at;
    const found = NEXT.exec(css);
    if (found === null) return;
    const [token] = found;
    const start = found.index + token.length;
    if (token.toLowerCase() === 'url(') {
      const argument = argumentAt(css, start);
      if (argument === undefined) return;
      yield unescaped(argument.text);
      at = argument.end;
    } else {
      const end = endOf(css, token.toLowerCase(), start);
      if (end === undefined) return;
      at = end;
    }
  }
}

/** Returns the offset after what the token opens. */
function endOf(css: string, token: string, start: number): number | undefined {
  const end = (text: string): number | undefined => {
    const found = css.indexOf(text, start);
    return found < 0 ? undefined : found + text.length;
  };
  switch (token) {
    case '/*':
      return end('*/');
    case '@import':
      return end(';');
    case '@font-face':
      return end('}');
    default:
      return closing(css, token, start)?.end;
  }
}

interface Argument {
  readonly text: string;
  /** The offset after it. */
  readonly end: number;
}

function argumentAt(css: string, from: number): Argument | undefined {
  let start = from;
  while (start < css.length && WHITE_SPACE.test(css[start]!)) start++;
  const first = css[start];
  if (first === '"' || first === "'") return closing(css, first, start + 1);
  const unquoted = closing(css, ')', start);
  return unquoted && { ...unquoted, text: unquoted.text.trim() };
}

/** Returns the text up to the next `end` that is not escaped. */
function closing(css: string, end: string, start: number): Argument | undefined {
  for (let at = start; at < css.length; at++) {
    if (css[at] === '\\') at++;
    else if (css[at] === end) return { text: css.slice(start, at), end: at + 1 };
  }
  return undefined;
}

function unescaped(text: string): string {
  return text.replace(ESCAPE, (_, hex?: string, plain?: string) => {
    if (hex === undefined) return plain ?? '';
    const code = Number.parseInt(hex, 16);
    return code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? '\ufffd' : String.fromCodePoint(code);
  });
}
