// Compares the word index with its definition: segments of random emails, merges of merges, and every form of a search.

import fc from 'fast-check';
import { SEARCH_PARTS, SearchTooLarge } from '../../../src/store/search.js';
import type { IndexPage, Segment } from '../../../src/store/word-index/index-page.js';
import { mergedPages } from '../../../src/store/word-index/merged-pages.js';
import { WordQuery } from '../../../src/store/word-index/word-query.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';
import {
  aTerm,
  type EmailWords,
  emailsOf,
  expectedMatches,
  matchesIn,
  mergedSegment,
  segmentWithWords,
  someFields,
  sourcesOf,
} from './model.js';

const terms = fc.array(aTerm, { minLength: 1, maxLength: 3 });
const part = fc.constantFrom(...SEARCH_PARTS);

async function merged(segments: readonly Segment[], isKept?: (id: string) => boolean): Promise<Segment> {
  const pages: IndexPage[] = [];
  for await (const page of mergedPages(sourcesOf(segments, isKept))) pages.push(page);
  return mergedSegment(segments, pages, isKept ?? (() => true));
}

function isInOrder(pages: readonly IndexPage[]): boolean {
  return pages.every(({ firstWord, part }, i) => {
    const before = pages[i - 1];
    return (
      before === undefined || before.firstWord < firstWord || (before.firstWord === firstWord && before.part < part)
    );
  });
}

test('what a search finds in a segment is what its emails have', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(someFields(30), { minLength: 1, maxLength: 8 }),
      fc.array(fc.tuple(terms, part), { minLength: 5, maxLength: 5 }),
      async (fields, searches) => {
        const emails = emailsOf(fields);
        const segment = await segmentWithWords(emails);
        t.is(segment.emails, emails.length);
        t.is(segment.lastId, emails.at(-1)!.id);
        for (const [terms, part] of searches)
          t.deepEqual(await matchesIn(segment, terms, part), expectedMatches(emails, terms, part));
      },
    ),
    { numRuns: runs(300) },
  );
});

test('a merge of merges holds what the segments hold, without the emails that are gone', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(someFields(20), { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 9 }),
      fc.array(fc.tuple(terms, part), { minLength: 5, maxLength: 5 }),
      fc.array(fc.nat(40), { maxLength: 20 }),
      fc.boolean(),
      async (groups, searches, gone, isFirstWhole) => {
        let count = 0;
        const emails: EmailWords[] = [];
        const segments: Segment[] = [];
        for (const fields of groups) {
          const some = emailsOf(fields, count);
          count += some.length;
          emails.push(...some);
          segments.push(await segmentWithWords(some));
        }
        const goneIds = new Set(gone.map((n) => emails[n % emails.length]!.id));
        const isKept = (id: string) => !goneIds.has(id);
        const half = Math.ceil(segments.length / 2);
        const first = await merged(segments.slice(0, half), isFirstWhole ? undefined : isKept);
        const whole = await merged([first, ...segments.slice(half)], isKept);
        const left = emails.filter(({ id }) => isKept(id));
        t.is(whole.emails, left.length);
        t.true(isInOrder(whole.pages));
        if (left.length === 0) t.is(whole.pages.length, 0);
        for (const [terms, part] of searches)
          t.deepEqual(await matchesIn(whole, terms, part), expectedMatches(left, terms, part));
        if (gone.length > 0) return;
        // The octets equal those of a segment that is built at once.
        t.deepEqual(whole, await segmentWithWords(emails));
      },
    ),
    { numRuns: runs(200) },
  );
});

const none = { subject: [], sender: [], recipients: [], attachments: [], body: [] };

test('a frequent word fills pages of its own, and merges keep them of a bounded size', async (t) => {
  const emails = emailsOf(
    Array.from({ length: 12_000 }, (_, n) => ({
      ...none,
      subject: n % 2 === 0 ? ['the', 'invoice'] : ['invoice', 'thж', `n${n % 300}`],
      body: n % 5 === 0 ? ['the', 'end', 'the'] : ['other'],
    })),
  );
  const segments: Segment[] = [];
  for (let from = 0; from < emails.length; from += 1_000)
    segments.push(await segmentWithWords(emails.slice(from, from + 1_000)));
  const isKept = (id: string) => id !== emails[3]!.id;
  for (const [segment, left] of [
    [await segmentWithWords(emails), emails],
    [await merged(segments), emails],
    [
      await merged([await merged(segments.slice(0, 7)), ...segments.slice(7)], isKept),
      emails.filter(({ id }) => isKept(id)),
    ],
  ] as const) {
    const { pages } = segment;
    t.true(isInOrder(pages));
    t.true(pages.filter(({ firstWord }) => firstWord === 'invoice').length > 2);
    t.true(pages.every(({ words }) => words.length < 8_000));
    for (const terms of [
      [{ words: ['the', 'invoice'], prefix: false }],
      [
        { words: ['invoice'], prefix: false },
        { words: ['end', 'th'], prefix: true },
      ],
      [{ words: ['n2'], prefix: true }],
      [
        { words: ['th'], prefix: true },
        { words: ['oth'], prefix: true },
      ],
      [{ words: ['invoicf'], prefix: false }],
    ])
      for (const part of SEARCH_PARTS)
        t.deepEqual(await matchesIn(segment, terms, part), expectedMatches(left, terms, part));
  }
});

test('long emails: words of headers without a place, bodies of many words, and an end of what is found', async (t) => {
  const many = Array.from({ length: 60_000 }, (_, i) => `w${(i * 7) % 9_000}`);
  const emails = emailsOf([
    { ...none, recipients: Array.from({ length: 9_000 }, (_, i) => `r${i}`), attachments: ['pdf'], body: many },
    { ...none, subject: Array.from({ length: 4_086 }, (_, i) => `s${i}`), sender: ['zoe'], body: ['first', ...many] },
  ]);
  const segment = await segmentWithWords(emails);
  for (const words of [
    ['r8999'],
    ['r5', 'r6'],
    ['r4073', 'r4074'],
    ['r4084', 'r4085'],
    ['r4085', 'r4086'],
    ['s4085', 'first'],
    ['s4085', 'zoe'],
    ['s4075', 'zoe'],
    ['zoe'],
    ['pdf', 'w0'],
    ['w0', 'w7', 'w14', 'w21'],
    ['w7', 'w0'],
  ])
    for (const prefix of [false, true])
      t.deepEqual(
        await matchesIn(segment, [{ words, prefix }], 'text'),
        expectedMatches(emails, [{ words, prefix }], 'text'),
        words.join(' '),
      );
  const [huge] = emailsOf([{ ...none, subject: ['zoe'], body: many.map((word, i) => `${word}${'ж'.repeat(30)}${i}`) }]);
  const { pages } = await segmentWithWords([huge!]);
  const octets = pages.reduce((sum, { words }) => sum + words.length, 0);
  t.true(octets > 500_000 && octets < 900_000);
  t.is((await matchesIn(await segmentWithWords([huge!]), [{ words: ['zoe'], prefix: false }], 'text')).length, 1);
});

test('of a word that one email has again and again the first places are kept, in its header and in its body', async (t) => {
  const often = (word: string) => Array.from({ length: 300 }, (_, n) => (n === 280 ? 'late' : word));
  const nothing: readonly string[] = [];
  const fields = { subject: often('a'), sender: nothing, recipients: nothing, attachments: nothing, body: often('a') };
  const emails = emailsOf([fields, { ...fields, subject: ['b'], body: ['b', 'a'] }]);
  const segment = await segmentWithWords(emails);
  for (const part of SEARCH_PARTS) {
    const asked = (...words: string[]) => matchesIn(segment, [{ words, prefix: false }], part);
    const [often, both] = [[emails[0]!.id], emails.map(({ id }) => id)];
    t.deepEqual(await asked('a'), both);
    t.deepEqual(await asked('a', 'a'), often);
    t.deepEqual(await asked('late'), often);
    t.deepEqual(await asked('a', 'late'), [], 'that place is not kept');
  }
  const octets = segment.pages.reduce((sum, { positions }) => sum + positions.length, 0);
  t.true(octets < 800, `${octets}`);
});

test('a phrase that would take more memory than it may ends in an error', async (t) => {
  const body = Array.from({ length: 400 }, (_, i) => (i % 2 === 0 ? 'zoж' : '💌'));
  const fields = { subject: [], sender: [], recipients: [], attachments: [], body };
  const { emails, pages } = await segmentWithWords(emailsOf(Array.from({ length: 50 }, () => fields)));
  const ask = (most: number, ...phrases: string[][]) => {
    const terms = phrases.map((words) => ({ words, prefix: true }));
    const query = new WordQuery(terms, 'text', most);
    return query.matches(
      emails,
      query.lookups.map(() => pages),
    );
  };
  const tooLarge = { instanceOf: SearchTooLarge, message: 'phrases of a search take too much memory' };
  t.is((await ask(250_000, ['zoж', '💌', 'zo'])).length, 50);
  await t.throwsAsync(ask(20_000, ['zoж', '💌', 'zo']), tooLarge);
  // The memory of several phrases adds up.
  await t.throwsAsync(
    ask(250_000, ...[1, 2, 3, 4, 5].map((n) => [...Array(n).fill(['zoж', '💌']).flat(), 'zo'])),
    tooLarge,
  );
});

test('a word has positions of fewer octets than one tells, of more, and of more than a page', async (t) => {
  const counts = [10, 124, 125, 126, 127, 1_000, 20_000];
  const emails = emailsOf(
    counts.map((count) => ({
      ...none,
      body: ['zoe', ...Array.from({ length: count }, () => ['again', 'and']).flat(), 'zoж'],
    })),
  );
  for (const some of [...emails.map((email) => [email]), emails]) {
    const segment = await segmentWithWords(some);
    for (const words of [
      ['zoe', 'again', 'and', 'again'],
      ['again', 'again'],
      ['and', 'again', 'and', 'zoж'],
      ['and', 'zo'],
    ])
      for (const prefix of [false, true])
        t.deepEqual(
          await matchesIn(segment, [{ words, prefix }], 'body'),
          expectedMatches(some, [{ words, prefix }], 'body'),
        );
  }
});

test('pages that are cut or changed end in an error or in an answer', async (t) => {
  const emails = emailsOf(fc.sample(someFields(40), { numRuns: 20, seed: 5 }));
  const { pages } = await segmentWithWords(emails);
  const octet = fc.record({ at: fc.nat(), value: fc.integer({ min: 0, max: 255 }), cut: fc.boolean() });
  let errors = 0;
  const damaged = (octets: Uint8Array, { at, value, cut }: { at: number; value: number; cut: boolean }): Uint8Array => {
    if (cut || octets.length === 0) return octets.slice(0, at % Math.max(1, octets.length));
    return octets.with(at % octets.length, value);
  };
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      errors++;
      t.regex(String(error), /a page of the word index is damaged/);
    }
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(octet, { minLength: 1, maxLength: 3 }),
      octet,
      terms,
      async (inWords, inPositions, terms) => {
        const some = pages.map((page) => ({
          ...page,
          words: inWords.reduce(damaged, page.words),
          positions: damaged(page.positions, inPositions),
        }));
        await attempt(() => matchesIn({ ids: new Uint8Array(16 * 20), emails: 20, pages: some }, terms, 'text'));
        for (const docMap of [undefined, Int32Array.from({ length: 20 }, (_, i) => i - 1)])
          await attempt(async () => {
            const sources = [
              { pages: some, emails: 20, ...(docMap && { docMap }) },
              { pages, emails: 20 },
            ];
            for await (const _ of mergedPages(sources)) t.pass();
          });
      },
    ),
    { numRuns: runs(500, 500) },
  );
  t.true(errors > 300);
});

test('a docId beyond the emails of a segment is an error', async (t) => {
  const { pages } = await segmentWithWords(emailsOf([none, { ...none, subject: ['zoe'] }]));
  const query = new WordQuery([{ words: ['zoe'], prefix: false }], 'text');
  await t.throwsAsync(query.matches(1, [pages]), { message: /damaged/ });
  await t.throwsAsync(mergedPages([{ pages, emails: 1 }]).next(), { message: /damaged/ });
});
