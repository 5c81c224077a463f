// Header fields and lines of the messages that Mansio writes, made of text that others wrote: one line stays one line, and a folded line
// keeps its width (RFC 5322 §2.1.1, RFC 2047).

const CRLF = '\r\n';
const WIDTH = 76;
/** A word with more octets is broken: a line has at most 998 (RFC 5322 §2.1.1). */
const LONGEST_WORD = 900;
/** The characters of one piece of a broken word; each has at most 4 octets. */
const PIECE = LONGEST_WORD / 4;
/** The characters of others' text that are kept. */
const LONGEST_TEXT = 2_000;
/** The octets that fit in one encoded word, which has at most 75 characters (RFC 2047 §2). */
const WORD_OCTETS = 42;

/** Returns one line without control characters, with white space folded. */
export function sanitizedLine(text: string): string {
  return text
    .slice(0, LONGEST_TEXT)
    .replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ')
    .replace(/\s+/gu, ' ')
    .trim();
}

/** Returns `name: words`, folded between the words. Words contain no line ends; every line ends with one. */
export function field(name: string, words: readonly string[]): string {
  return `${fold(`${name}:`, words, ' ')}${CRLF}`;
}

/** Folds text for people into lines of a readable width, each with `indent` before it. */
export function foldText(text: string, indent = ''): string {
  return fold('', sanitizedLine(text).split(' '), indent);
}

/** Returns unstructured text as words of a field: ASCII unchanged, other text encoded (RFC 2047, UTF-8 in base64). */
export function encodeWords(text: string): readonly string[] {
  const line = sanitizedLine(text);
  // Readers would decode text that looks like an encoded word.
  if (/^[ -~]*$/.test(line) && !line.includes('=?')) return line.split(' ');
  const words: string[] = [];
  let octets = Buffer.alloc(0);
  const end = () => words.push(`=?utf-8?B?${octets.toString('base64')}?=`);
  for (const character of line) {
    const more = Buffer.from(character);
    if (octets.length + more.length > WORD_OCTETS) {
      end();
      octets = Buffer.alloc(0);
    }
    octets = Buffer.concat([octets, more]);
  }
  end();
  return words;
}

/** Returns the date of `ms` since the epoch in the form of RFC 5322 §3.3, in UTC. */
export function phraseDate(ms: number): string {
  return new Date(ms).toUTCString().replace('GMT', '+0000');
}

function fold(start: string, words: readonly string[], indent: string): string {
  let text = start || indent;
  let column = text.length;
  let isFirst = start === '';
  for (const word of words.flatMap(broken)) {
    const gap = isFirst ? '' : ' ';
    isFirst = false;
    if (gap === '' || column + 1 + word.length <= WIDTH) {
      text += gap + word;
      column += gap.length + word.length;
    } else {
      text += `${CRLF}${indent}${word}`;
      column = indent.length + word.length;
    }
  }
  return text;
}

function broken(word: string): readonly string[] {
  if (Buffer.byteLength(word) <= LONGEST_WORD) return [word];
  const characters = [...word];
  const pieces: string[] = [];
  for (let i = 0; i < characters.length; i += PIECE) pieces.push(characters.slice(i, i + PIECE).join(''));
  return pieces;
}
