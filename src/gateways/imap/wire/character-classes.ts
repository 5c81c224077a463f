// The classes of octets in the words of IMAP (RFC 9051 §9): one table, looked up by octet.

/** `ATOM-CHAR`. */
export const ATOM = 1;
/** `ASTRING-CHAR`: adds `]`. */
export const ASTRING = 2;
/** `list-char`: adds `]` and the wildcards. */
export const LIST = 4;
/** The characters of a tag: ASTRING-CHAR except `+`. */
export const TAG = 8;
/** The characters of attributes, search keys and options: ATOM-CHAR except `[` and `<`, which may follow them. */
export const WORD = 16;

const CLASSES = new Uint8Array(256);
for (let octet = 0x21; octet < 0x7f; octet++) {
  const character = String.fromCharCode(octet);
  if ('(){"\\'.includes(character)) continue;
  const isWildcard = character === '%' || character === '*';
  const isAtom = !isWildcard && character !== ']';
  CLASSES[octet] =
    LIST |
    (isWildcard ? 0 : ASTRING) |
    (isWildcard || character === '+' ? 0 : TAG) |
    (isAtom ? ATOM : 0) |
    (isAtom && character !== '[' && character !== '<' ? WORD : 0);
}

/** Returns where the run of octets of the class from `from` on ends. Each character of `text` is one octet. */
export function endOfRun(text: string, from: number, characterClass: number): number {
  let at = from;
  while (at < text.length && (CLASSES[text.charCodeAt(at)]! & characterClass) !== 0) at++;
  return at;
}

/** Tells whether the text is one or more characters of the class. */
export const isRun = (text: string, characterClass: number): boolean =>
  text !== '' && endOfRun(text, 0, characterClass) === text.length;
