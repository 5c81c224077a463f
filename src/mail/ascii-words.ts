// Words of ASCII text, in lower case. A word that comes again is the same string, whose hash is known: most words of mail come
// again, and a string of its own for each occurrence costs more than finding them, most of it garbage collection.

/** The folded octet of a letter or digit; 0 of what is between words. */
const FOLDED = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return /[a-z0-9]/i.test(character) ? character.toLowerCase().charCodeAt(0) : 0;
});

/** A slice of a text that is longer keeps the text in memory. */
const LONGEST_COPIED_SLICE = 12;
/** Strings that are used again, each in the place of its hash: a word that comes later takes the place. */
const PLACES = 8_192;
const known: string[] = new Array<string>(PLACES).fill('');
const hashes = new Int32Array(PLACES);

const FIRST_CAPACITY = 32 * 1024;
/** Larger buffers are given back. */
const KEPT_CAPACITY = 256 * 1024;
let octets = Buffer.allocUnsafeSlow(FIRST_CAPACITY);

/** In order, at most `limit`; longer words are cut. `text` is ASCII. */
export function asciiWords(text: string, limit: number, longest: number): string[] {
  if (text.length > octets.length || octets.length > KEPT_CAPACITY)
    octets = Buffer.allocUnsafeSlow(Math.max(FIRST_CAPACITY, text.length));
  const length = octets.write(text, 0, 'latin1');
  const words: string[] = [];
  for (let at = 0; at < length && words.length < limit; at++) {
    let code = FOLDED[octets[at]!]!;
    if (code === 0) continue;
    const start = at;
    let hash = 0;
    do {
      octets[at] = code;
      if (at - start < longest) hash = Math.imul(hash ^ code, 0x01000193);
      at++;
      code = at < length ? FOLDED[octets[at]!]! : 0;
    } while (code !== 0);
    words.push(wordAt(text, start, Math.min(at, start + longest), hash));
  }
  return words;
}

function wordAt(text: string, start: number, end: number, hash: number): string {
  const place = (hash ^ (hash >>> 15)) & (PLACES - 1);
  if (hashes[place] === hash) {
    const word = known[place]!;
    if (isAt(word, start, end)) return word;
  }
  const word = newWord(text, start, end);
  hashes[place] = hash;
  known[place] = word;
  return word;
}

/** Small words are copied faster here than by a call into the runtime. */
function newWord(text: string, start: number, end: number): string {
  const slice = end - start <= LONGEST_COPIED_SLICE ? text.slice(start, end) : '';
  return isAt(slice, start, end) ? slice : octets.toString('latin1', start, end);
}

function isAt(word: string, start: number, end: number): boolean {
  if (word.length !== end - start) return false;
  for (let i = 0; i < word.length; i++) if (word.charCodeAt(i) !== octets[start + i]) return false;
  return true;
}
