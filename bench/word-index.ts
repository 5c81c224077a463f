// Measures what the word index costs without a database: segments of one email each, merges of sixteen segments, and searches in a large
// segment. `npm run bench word-index`.
import { randomBytes } from 'node:crypto';
import { uuidV7 } from '../src/mail-format/ids.js';
import { searchTerms } from '../src/mail-format/words/search-text.js';
import type { IndexedEmail } from '../src/store/search.js';
import type { IndexPage, Segment } from '../src/store/word-index/index-page.js';
import { mergedPages } from '../src/store/word-index/merged-pages.js';
import { segmentOf } from '../src/store/word-index/segment.js';
import { WordQuery } from '../src/store/word-index/word-query.js';
import { figure } from './support/figures.js';
import { wordOf, zipf } from './support/large-store.js';
import { textOf } from './support/text.js';

const MERGED = 16;
const SEARCHES = 20;

export async function run(): Promise<void> {
  await segments('4 kB, 60 different words', 500, (n) => repeated(n, 60));
  await segments('4 kB, many different words', 500, (n) => repeated(n, 450));
  await segments('4 kB, words as frequent as in a language', 500, (n) => textOf(n, 4_000));
  await segments('50 kB', 50, (n) => textOf(n, 50_000));
  await merges('60 different words', 3, (n) => repeated(n, 60));
  const large = await merges('words as frequent as in a language', 4, (n) => textOf(n, 300));
  await searches(large);
}

/** Returns 4 kB of text with `different` different words. */
function repeated(n: number, different: number): string {
  const words = Array.from({ length: different }, (_, i) => wordOf(Math.max(0, zipf(n * 1_000 + i))));
  let text = '';
  for (let i = 0; text.length < 4_000; i++) text += `${words[i % different]} `;
  return text;
}

function email(n: number, body: string): IndexedEmail {
  return {
    accountId: '01a20640-2924-7000-a729-5b5ff2b1abd0',
    id: uuidV7(1_700_000_000_000 + n, 0, randomBytes(8)),
    texts: {
      subject: 'a subject of words',
      sender: 'Ann ann@remote.test',
      recipients: 'Bob bob@example.test',
      attachments: '',
      body,
    },
  };
}

async function segments(name: string, count: number, bodyOf: (n: number) => string): Promise<void> {
  const emails = Array.from({ length: count }, (_, n) => email(n, bodyOf(n)));
  let octets = 0;
  const all = async () => {
    for (const each of emails) {
      const { pages } = await segmentOf([each]);
      for (const { words, positions } of pages) octets += words.length + positions.length;
    }
  };
  await all();
  octets = 0;
  const began = process.cpuUsage();
  await all();
  figure(
    `segment of one email, ${name}`,
    microseconds(began) / count,
    'µs CPU',
    `${Math.round(octets / count)} octets`,
  );
}

const microseconds = (began: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(began);
  return user + system;
};

/** Merges sixteen segments into one, level by level. Returns the last segment. */
async function merges(name: string, levels: number, bodyOf: (n: number) => string): Promise<Segment> {
  const count = MERGED ** levels;
  let level: Segment[] = [];
  for (let n = 0; n < count; n++) level.push(await segmentOf([email(n, bodyOf(n))]));
  while (level.length > 1) {
    const began = process.cpuUsage();
    const next: Segment[] = [];
    for (let from = 0; from < level.length; from += MERGED) next.push(await merged(level.slice(from, from + MERGED)));
    const octets = next
      .flatMap(({ pages }) => pages)
      .reduce((sum, { words, positions }) => sum + words.length + positions.length, 0);
    const made = `${next[0]!.emails} emails, ${next[0]!.pages.length} pages, ${Math.round(octets / count)} octets an email`;
    figure(`merge of 16 segments, ${name}`, microseconds(began) / count, 'µs an email', made);
    level = next;
  }
  return level[0]!;
}

async function merged(sources: readonly Segment[]): Promise<Segment> {
  const pages: IndexPage[] = [];
  for await (const page of mergedPages(sources)) pages.push(page);
  const ids = new Uint8Array(Buffer.concat(sources.map((source) => source.ids)));
  return { ids, emails: ids.length / 16, lastId: sources.at(-1)!.lastId, pages };
}

async function searches({ emails, pages }: Segment): Promise<void> {
  const queries = [`"${wordOf(0)}"`, `"${wordOf(0)}" "${wordOf(1)}"`, '"example test"', 'bob@exam', 'b', 'ba be'];
  for (const query of queries) {
    const wanted = new WordQuery(searchTerms(query), 'text');
    const found = wanted.lookups.map(({ word, isPrefix }) => pagesFor(pages, word, isPrefix));
    let matches = await wanted.matches(emails, found);
    for (let i = 0; i < SEARCHES; i++) await wanted.matches(emails, found);
    const began = process.cpuUsage();
    for (let i = 0; i < SEARCHES; i++) matches = await wanted.matches(emails, found);
    const kilobytes = found.flat().reduce((sum, { words }) => sum + words.length, 0) / 1000;
    const note = `${matches.length} of ${emails} emails, ${Math.round(kilobytes)} kB of pages`;
    figure(`search: ${query}`, microseconds(began) / SEARCHES, 'µs CPU', note);
  }
}

function pagesFor(pages: readonly IndexPage[], word: string, isPrefix: boolean): IndexPage[] {
  const start = pages.map(({ firstWord }) => firstWord).findLast((first) => first <= word) ?? '';
  return pages.filter(
    ({ firstWord }) =>
      firstWord === start || (isPrefix && firstWord > start && (firstWord < word || firstWord.startsWith(word))),
  );
}
