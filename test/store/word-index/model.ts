// Models the word index by its definition: emails with their words, and which of them a search finds.
import fc from 'fast-check';
import { uuidText } from '../../../src/mail-format/ids.js';
import type { SearchTerm } from '../../../src/mail-format/words/search-text.js';
import type { SearchPart } from '../../../src/store/search.js';
import type { IndexPage, Segment } from '../../../src/store/word-index/index-page.js';
import type { MergeSource } from '../../../src/store/word-index/merged-pages.js';
import { segmentOf } from '../../../src/store/word-index/segment.js';
import { WordQuery } from '../../../src/store/word-index/word-query.js';
import { type FieldWords, textsOf } from '../../support/field-words.js';

const ACCOUNT = '01a20640-2924-7000-a729-5b5ff2b1abd0';
/** The maximum of header words that have a place; later ones have none. */
const HEADER_WORDS = 8_192 - 10 - 1;
const GAP = 10;
/** The maximum of places of a word, in header fields and in the body part each. */
const MOST_PLACES = 256;

export interface EmailWords extends FieldWords {
  readonly accountId: string;
  readonly id: string;
}

export const segmentWithWords = (emails: readonly EmailWords[]): Promise<Segment> =>
  segmentOf(emails.map((email) => ({ accountId: email.accountId, id: email.id, texts: textsOf(email) })));

/** The words are few and often begin alike, so that phrases and prefixes are found. */
const FREQUENT = [
  'a',
  'ab',
  'abc',
  'abd',
  'b',
  'the',
  'thж',
  'strasse',
  '漢',
  '字',
  '🎉',
  '💌',
  'zoe',
  'οδοσ',
  'x'.repeat(64),
];
export const aWord = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...FREQUENT) },
  // U+FE73 and U+10450 have another order in UTF-16.
  { weight: 1, arbitrary: fc.stringMatching(/^[a-c0-9ж\u{fe73}\u{10450}]{1,32}$/u) },
);

const idOf = (n: number): string => uuidText(Buffer.from(n.toString(16).padStart(32, '0'), 'hex'));

export function emailsOf(fields: readonly FieldWords[], firstId = 0): EmailWords[] {
  return fields.map((words, n) => ({ accountId: ACCOUNT, id: idOf(firstId + n), ...words }));
}

/** Generates fields, mostly short ones; `most` is the maximum of words in a body. */
export function someFields(most: number) {
  const few = fc.array(aWord, { maxLength: 4 });
  const body = fc.array(aWord, { maxLength: most });
  return fc.record({ subject: few, sender: few, recipients: few, attachments: few, body });
}

export const aTerm: fc.Arbitrary<SearchTerm> = fc.record({
  words: fc.array(aWord, { minLength: 1, maxLength: 3 }),
  prefix: fc.boolean(),
});

/** Returns the words that have a place, by field, and those that have none. */
function placesOf({ subject, sender, recipients, attachments, body }: EmailWords, part: SearchPart) {
  const placed: (readonly (string | undefined)[])[] = firstPlaces([attachments, body]);
  const others: string[] = [];
  let room = HEADER_WORDS;
  const headers: (readonly string[])[] = [];
  for (const words of part === 'body' ? [] : [subject, sender, recipients]) {
    headers.push(words.slice(0, Math.max(0, room)));
    others.push(...words.slice(Math.max(0, room)));
    room -= words.length + GAP;
  }
  placed.push(...firstPlaces(headers));
  return { placed, others };
}

/** Drops later places of a frequent word. */
function firstPlaces(fields: readonly (readonly string[])[]): (string | undefined)[][] {
  const counts = new Map<string, number>();
  return fields.map((words) =>
    words.map((word) => {
      const count = (counts.get(word) ?? 0) + 1;
      counts.set(word, count);
      return count > MOST_PLACES ? undefined : word;
    }),
  );
}

function matchesTerm(email: EmailWords, { words, prefix }: SearchTerm, part: SearchPart): boolean {
  const { placed, others } = placesOf(email, part);
  const isAt = (field: readonly (string | undefined)[], at: number) =>
    words.every((word, i) =>
      prefix && i === words.length - 1 ? field[at + i]?.startsWith(word) : field[at + i] === word,
    );
  if (words.length === 1 && others.some((_, at) => isAt(others, at))) return true;
  return placed.some((field) => field.some((_, at) => isAt(field, at)));
}

export function expectedMatches(
  emails: readonly EmailWords[],
  terms: readonly SearchTerm[],
  part: SearchPart,
): string[] {
  return emails.filter((email) => terms.every((term) => matchesTerm(email, term, part))).map(({ id }) => id);
}

/** Returns the pages in which the store looks for a word, as its statement does. */
function pagesFor(pages: readonly IndexPage[], word: string, isPrefix: boolean): IndexPage[] {
  const start = pages.map(({ firstWord }) => firstWord).findLast((first) => first <= word) ?? '';
  return pages.filter(
    ({ firstWord }) =>
      firstWord === start || (isPrefix && firstWord > start && (firstWord < word || firstWord.startsWith(word))),
  );
}

async function* streamed(pages: readonly IndexPage[]): AsyncGenerator<IndexPage> {
  for (const page of pages) yield page;
}

export async function matchesIn(
  { ids, emails, pages }: Pick<Segment, 'ids' | 'emails' | 'pages'>,
  terms: readonly SearchTerm[],
  part: SearchPart,
): Promise<string[]> {
  const query = new WordQuery(terms, part);
  const found = query.lookups.map(({ word, isPrefix }) => {
    const some = pagesFor(pages, word, isPrefix);
    const read = query.needsPositions ? some : some.map((page) => ({ ...page, positions: new Uint8Array(0) }));
    return isPrefix ? streamed(read) : read;
  });
  return Array.from(await query.matches(emails, found), (docId) => uuidText(ids, docId * 16));
}

/** Returns segments as the sources of a merge, one of them streamed, without the emails that `isKept` rejects. */
export function sourcesOf(segments: readonly Segment[], isKept?: (id: string) => boolean): MergeSource[] {
  return segments.map(({ pages, emails, ids }, n) => {
    const source = { pages: n === 0 ? streamed(pages) : pages, emails };
    if (isKept === undefined) return source;
    let next = 0;
    return {
      ...source,
      docMap: Int32Array.from({ length: emails }, (_, i) => (isKept(uuidText(ids, i * 16)) ? next++ : -1)),
    };
  });
}

/** Returns the segment that a merge makes. */
export function mergedSegment(
  segments: readonly Segment[],
  pages: readonly IndexPage[],
  isKept: (id: string) => boolean,
) {
  const ids = segments
    .flatMap(({ ids, emails }) => Array.from({ length: emails }, (_, i) => ids.subarray(i * 16, i * 16 + 16)))
    .filter((id) => isKept(uuidText(id)));
  const lastId = segments
    .map((segment) => segment.lastId)
    .sort()
    .at(-1)!;
  return { ids: new Uint8Array(Buffer.concat(ids)), emails: ids.length, lastId, pages } satisfies Segment;
}
