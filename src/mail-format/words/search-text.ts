// The words of the search, made from indexed text and from queries in the same way. Case, accents and forms of a letter are folded; a word
// is a run of letters and digits. In scripts that are written without spaces each character is a word, and a query finds a run of them as a
// phrase. `Tokenizer` divides indexed text; it finds the same words faster.

/** Words with more letters are cut, so a query finds their start. */
export const LONGEST_WORD = 64;

const SCRIPTS_WITHOUT_SPACES = ['Han', 'Hiragana', 'Katakana', 'Bopomofo', 'Thai', 'Lao', 'Khmer', 'Myanmar'];
const SINGLE = SCRIPTS_WITHOUT_SPACES.map((script) => `\\p{Script=${script}}`).join('');
const LETTER = `[[\\p{L}\\p{N}]--[${SINGLE}]]`;
const WORD_OF_ONE = `[[\\p{L}\\p{N}]&&[${SINGLE}]]|\\p{Extended_Pictographic}`;
const WORD = new RegExp(`${LETTER}+|${WORD_OF_ONE}`, 'gv');
const IN_WORDS = new RegExp(`^${LETTER}$`, 'v');
const ALONE = new RegExp(`^(?:${WORD_OF_ONE})$`, 'v');
// biome-ignore lint/suspicious/noControlCharactersInRegex: it says ASCII
const ASCII = /^[\x00-\x7f]*$/;

/** Letters that compatibility decomposition leaves unchanged, with the spelling that people also use. */
const ALIKE: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  þ: 'th',
  ς: 'σ',
};
const ALIKE_LETTER = new RegExp(`[${Object.keys(ALIKE).join('')}]`, 'g');

/** Folding folded text again changes nothing. */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(ALIKE_LETTER, (letter) => ALIKE[letter]!);
}

/** Returns the folded form of a character, with NUL where a word ends: the words of a text are those of its folded characters. */
export function foldedCharacter(character: string): string {
  return Array.from(fold(character), (each) => {
    if (IN_WORDS.test(each)) return each;
    return ALONE.test(each) ? `\0${each}\0` : '\0';
  }).join('');
}

/** Returns the words in order; at most `limit`. */
export function wordsOf(text: string, limit = Number.POSITIVE_INFINITY): string[] {
  const words = wordsOfFolded(fold(text));
  if (words.length > limit) words.length = limit;
  return words;
}

function wordsOfFolded(folded: string): string[] {
  const words: string[] = folded.match(WORD) ?? [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    if (word.length > LONGEST_WORD) words[i] = Array.from(word).slice(0, LONGEST_WORD).join('');
  }
  return words;
}

/** Consecutive words; with `prefix` the last one is the start of a word. */
export interface SearchTerm {
  readonly words: readonly string[];
  readonly prefix: boolean;
}

/**
 * Returns the terms of a query, all of which must match: text between double quotes is a phrase of whole words; other text between spaces
 * is the start of a word (`ann@example` of consecutive words). There are no operators; an unclosed quote ends with the query. Empty for
 * text without a word.
 */
export function searchTerms(query: string): SearchTerm[] {
  const terms: SearchTerm[] = [];
  for (const [i, part] of query
    .normalize('NFC')
    .replace(/[“”„«»]/g, '"')
    .split('"')
    .entries()) {
    const quoted = i % 2 === 1;
    for (const piece of quoted ? [part] : part.split(/\s+/u)) {
      const words = wordsOf(piece);
      if (words.length > 0) terms.push({ words, prefix: !quoted });
    }
  }
  return terms;
}

/** The fields of the header in which a search looks for terms. */
export const SEARCH_FIELDS = ['from', 'to', 'cc', 'subject'] as const;
export type SearchField = (typeof SEARCH_FIELDS)[number];

/** Tells whether the words of a text contain the term. */
export function hasTerm(text: readonly string[], { words, prefix }: SearchTerm): boolean {
  const last = words.length - 1;
  const isWord = (word: string | undefined, i: number) =>
    prefix && i === last ? word?.startsWith(words[i]!) === true : word === words[i];
  return text.some((_, at) => words.every((_word, i) => isWord(text[at + i], i)));
}

/** Returns the searchable text of recipients. */
export function textOfMailboxes(mailboxes: readonly { readonly name: string; readonly address: string }[]): string {
  return mailboxes.map(({ name, address }) => `${name} ${address}`).join('\n');
}

/** Returns the number of words in all terms. */
export function wordCount(terms: readonly SearchTerm[]): number {
  return terms.reduce((count, { words }) => count + words.length, 0);
}
