// Completions of words that searches repeat: they change the time that a search takes, and nothing that it finds.
import { setImmediate as nextTurn } from 'node:timers/promises';
import test from 'ava';
import fc from 'fast-check';
import { EmailColumns } from '../../../src/actors/mailbox/email-columns.js';
import { SearchMemory } from '../../../src/actors/mailbox/search-memory.js';
import type { SearchTerm } from '../../../src/mail/search-text.js';
import type { SearchStore } from '../../../src/store/search.js';
import { memorySearch } from '../../support/memory-stores/search.js';
import { AccountRows, type MemoryTables } from '../../support/memory-stores/tables.js';

const idOf = (slot: number) => `00000000-0000-7000-8000-${String(slot + 1).padStart(12, '0')}`;

/** A mailbox whose emails have these words as their subjects. */
function setUp(wordsOf: (slot: number) => readonly string[]) {
  const emails = new EmailColumns();
  const rows = new AccountRows('account', 'a@example.test', false, 0);
  const memory = new SearchMemory(emails);
  const inMemory = memorySearch({ of: () => rows } as unknown as MemoryTables);
  const counts = { completed: 0, looks: 0 };
  const gate = { open: Promise.resolve(), isBroken: false };
  const statements: ('search' | 'look')[] = [];
  const store: SearchStore = {
    ...inMemory,
    matches(accountId, terms, part, after, completions) {
      statements.push('search');
      if (completions !== undefined) counts.completed++;
      return inMemory.matches(accountId, terms, part, after, completions);
    },
    async completions(...asked) {
      statements.push('look');
      counts.looks++;
      const words = await inMemory.completions(...asked);
      if (gate.isBroken) throw new Error('no answer');
      await gate.open;
      return words;
    },
  };
  const words: (readonly string[])[] = [];
  let pages = 0;

  function put(slot: number, subject: readonly string[]): void {
    words[slot] = subject;
    const email = {
      accountId: 'account',
      id: idOf(slot),
      subject,
      sender: [],
      recipients: [],
      attachments: [],
      body: [],
    };
    rows.words.set(email.id, email);
  }

  function add(count: number): void {
    for (let i = 0; i < count; i++) {
      const slot = emails.append({
        id: idOf(emails.size),
        flags: 0,
        keywords: [],
        receivedAt: 1,
        size: 1,
        modseq: 1,
        hasAttachments: false,
      });
      put(slot, wordsOf(slot));
    }
  }

  async function ask(terms: readonly SearchTerm[]): Promise<{ readonly found: number[]; readonly expected: number[] }> {
    const matches = await memory.matching(store, 'account', { terms, part: 'text' }, emails.size, pages);
    // What is looked for in the background is found by then.
    for (let i = 0; i < 5; i++) await nextTurn();
    const hasTerm = (subject: readonly string[], { words, prefix }: SearchTerm) =>
      subject.some((word) => (prefix ? word.startsWith(words[0]!) : word === words[0]));
    const expected = words.flatMap((subject, slot) => (terms.every((term) => hasTerm(subject, term)) ? [slot] : []));
    return { found: [...matches.slots()], expected };
  }

  return {
    add,
    ask,
    counts,
    gate,
    statements,
    /** An earlier version has indexed less of the emails. */
    indexAgain(more: string): void {
      for (const [slot, subject] of words.entries()) put(slot, [...subject, more]);
      pages++;
    },
  };
}

const beginning = (word: string): SearchTerm => ({ words: [word], prefix: true });

test('words that are asked again are completed, and emails that came since are found by the beginning', async (t) => {
  const late = ['inventory', 'paypal'];
  const { add, ask, counts, indexAgain } = setUp((slot) =>
    slot < 400 ? [['invoice', 'invoices', 'involved'][slot % 3]!, ['pay', 'paid'][slot % 2]!] : late,
  );
  add(400);
  const others = ['p', 'pa', 'pay', 'pai', 'paid'];
  for (const other of others) {
    const { found, expected } = await ask([beginning('inv'), beginning(other)]);
    t.deepEqual(found, expected, other);
  }
  t.true(counts.completed > 0, 'the third question has completions of the first word');
  t.true(counts.looks > 1);
  const before = counts.completed;
  add(1);
  t.deepEqual((await ask([beginning('inv'), beginning('payp')])).found, [400]);
  t.is(counts.completed, before + 1);
  add(150);
  const { looks } = counts;
  t.is((await ask([beginning('paypa'), beginning('inv')])).found.length, 151);
  t.true(counts.looks > looks, 'the words are looked for again');
  t.is((await ask([beginning('paypal'), beginning('inv')])).found.length, 151);
  indexAgain('invented');
  t.is((await ask([beginning('inve'), beginning('inv')])).found.length, 551);
  t.is((await ask([beginning('p'), beginning('inv'), beginning('invent')])).found.length, 551);
});

test('words that were looked for before emails were indexed again are not used', async (t) => {
  const { add, ask, counts, gate, indexAgain } = setUp((slot) => [slot % 2 === 0 ? 'invoice' : 'other', 'paid']);
  add(400);
  let release = () => {};
  gate.open = new Promise((resolve) => {
    release = resolve;
  });
  await ask([beginning('invoice'), beginning('p')]);
  await ask([beginning('invoice'), beginning('pa')]);
  t.is(counts.looks, 1);
  indexAgain('invoices');
  await ask([beginning('pai'), beginning('o')]);
  release();
  await ask([beginning('paid'), beginning('ot')]);
  t.is((await ask([beginning('invoice'), beginning('pai')])).found.length, 400);
});

test('a search goes on when its words cannot be looked for, and does not try it each time', async (t) => {
  const { add, ask, counts, gate } = setUp((slot) => [`invoice${slot % 3}`, `paid${slot}`]);
  add(400);
  gate.isBroken = true;
  for (let i = 0; i < 8; i++) {
    const { found, expected } = await ask([beginning('invo'), { words: [`paid${i}`], prefix: false }]);
    t.deepEqual(found, expected);
  }
  t.is(counts.looks, 4);
  t.is(counts.completed, 0);
  gate.isBroken = false;
  for (let i = 8; i < 12; i++) await ask([beginning('invo'), { words: [`paid${i}`], prefix: false }]);
  t.true(counts.completed > 0);
});

test('a search takes its turn at the store before its words are looked for', async (t) => {
  const { add, ask, statements } = setUp((slot) => ['invoice', 'paid'].slice(slot % 2));
  add(400);
  await ask([beginning('inv'), beginning('p')]);
  await ask([beginning('inv'), beginning('pa')]);
  t.deepEqual(statements, ['search', 'search', 'look', 'look']);
});

test('words that are outdated and could not be looked for again are not tried each time', async (t) => {
  const { add, ask, counts, gate } = setUp((slot) => [`invoice${slot % 3}`, `paid${slot}`]);
  add(400);
  for (let i = 0; i < 3; i++) await ask([beginning('invo'), { words: [`paid${i}`], prefix: false }]);
  t.true(counts.completed > 0);
  add(150);
  gate.isBroken = true;
  const before = counts.looks;
  for (let i = 3; i < 11; i++) {
    const { found, expected } = await ask([beginning('invo'), { words: [`paid${i}`], prefix: false }]);
    t.deepEqual(found, expected);
  }
  t.true(counts.looks - before <= 4, `${counts.looks - before} looks`);
});

test('a beginning of many words is left to the index, and a search does not depend on completions', async (t) => {
  const { add, ask, counts } = setUp((slot) => [`word${slot}`, 'all', 'always']);
  add(400);
  for (let i = 0; i < 10; i++) {
    const { found, expected } = await ask([beginning('word'), { words: [`word${i}`], prefix: false }]);
    t.deepEqual(found, expected);
  }
  t.is(counts.completed, 0);
  const looks = counts.looks;
  await ask([beginning('word'), beginning('word399')]);
  t.is(counts.looks, looks, 'it is known that there are too many');
  t.true(looks < 12);
});

test('random mail and questions agree with the definition while completions are found, used and outdated', async (t) => {
  const alphabet = ['a', 'ab', 'abc', 'abd', 'b', 'ba', 'bab', 'c', 'ca', 'd', 'e'];
  let completed = 0;
  let found = 0;
  const term = fc.record({
    words: fc.constantFrom('a', 'ab', 'b', 'c', 'd').map((word) => [word]),
    prefix: fc.boolean(),
  });
  const step = fc.oneof(
    { weight: 8, arbitrary: fc.array(term, { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 200 }) },
    { weight: 1, arbitrary: fc.constant('again' as const) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60 }), fc.nat(), async (steps, seed) => {
      // The later an email, the more words it may have.
      const { add, ask, counts, indexAgain } = setUp((slot) => {
        const known = Math.min(alphabet.length, 3 + Math.floor(slot / 120));
        const wordAt = (i: number) => alphabet[(Math.imul(slot + seed + i, 2_654_435_761) >>> 8) % known]!;
        return [wordAt(1), wordAt(7)];
      });
      add(320);
      for (const each of steps) {
        if (typeof each === 'number') add(each);
        else if (each === 'again') indexAgain('abz');
        else {
          const answer = await ask(each);
          t.deepEqual(answer.found, answer.expected, JSON.stringify(each));
          found += answer.found.length;
        }
      }
      completed += counts.completed;
    }),
    { numRuns: 30 },
  );
  t.true(completed > 100, `${completed} questions with completions`);
  t.true(found > 1000);
});
