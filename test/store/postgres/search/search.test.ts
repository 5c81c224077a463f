// Compares what the word index in PostgreSQL finds with the plain definition: phrases and starts of words, in all fields or in bodies
// alone, in short emails and long ones, in many segments and few.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { uuidText } from '../../../../src/mail-format/ids.js';
import { type SearchTerm, wordCount } from '../../../../src/mail-format/words/search-text.js';
import { newId } from '../../../../src/store/ids/new-id.js';
import { postgresDirectory } from '../../../../src/store/postgres/accounts/directory.js';
import type { Sql } from '../../../../src/store/postgres/driver/client.js';
import { postgresSearch } from '../../../../src/store/postgres/search/search.js';
import { SEARCH_PARTS, type SearchPart, type SearchStore } from '../../../../src/store/search.js';
import { runs } from '../../../support/amounts.js';
import { migratedSql } from '../../../support/database/embedded-database.js';
import { type FieldWords, textsOf, textsWith } from '../../../support/field-words.js';
import test from '../../../support/test.js';

/** One of the fields has every term, as words in order, the last one as a prefix. */
function isMatch(email: FieldWords, terms: readonly SearchTerm[], part: SearchPart): boolean {
  const { subject, sender, recipients, attachments, body } = email;
  const fields = part === 'body' ? [attachments, body] : [subject, sender, recipients, attachments, body];
  return terms.every(({ words, prefix }) =>
    fields.some((field) =>
      field.some((_, at) =>
        words.every((word, i) => {
          const candidate = field[at + i] ?? '';
          return prefix && i === words.length - 1 ? candidate.startsWith(word) : candidate === word;
        }),
      ),
    ),
  );
}

async function found(store: SearchStore, ...question: Parameters<SearchStore['matches']>): Promise<string[]> {
  const { ids } = await store.matches(...question);
  return Array.from({ length: ids.length / 16 }, (_, i) => uuidText(ids, i * 16)).sort();
}

const FIRST = '00000000-0000-0000-0000-000000000000';
const idOf = (n: number) => `00000000-0000-7000-8000-${String(n + 1).padStart(12, '0')}`;

const word = fc.constantFrom('a', 'ab', 'abc', 'b', 'bo', 'strasse', '漢', '字', '🎉');
const words = fc.array(word, { maxLength: 6 });
const email = fc.record({
  subject: words,
  sender: words,
  recipients: words,
  attachments: words,
  body: fc.oneof(
    words,
    words,
    fc.tuple(words, words).map(([a, b]) => [...a, ...Array(600).fill('long'), ...b]),
    // These words fill several pages.
    fc
      .tuple(words, fc.nat(9), words)
      .map(([a, n, b]) => [...a, ...Array.from({ length: 800 }, (_, i) => `b${n}word${i}`), ...b]),
  ),
});
const term = fc.record({ words: fc.array(word, { minLength: 1, maxLength: 3 }), prefix: fc.boolean() });
const terms = fc.array(term, { minLength: 1, maxLength: 3 });

test('random words and terms agree with the definition, in whatever segments they are', async (t) => {
  const sql = await migratedSql(t, { max: 4, byKey: true, wide: true });
  const store = postgresSearch(sql);
  const directory = postgresDirectory(sql, 1);
  const { signal } = new AbortController();
  let phrases = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(email, { minLength: 1, maxLength: 12 }),
      fc.array(fc.tuple(terms, fc.constantFrom(...SEARCH_PARTS)), { minLength: 4, maxLength: 8 }),
      fc.nat(12),
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 12, maxLength: 12 }),
      // The bits say which emails are removed.
      fc.nat(0xfff),
      async (emails, questions, middleAt, pages, gone) => {
        const { id: accountId } = await directory.createAccount(`${randomUUID()}@example.test`, 'Search');
        const ids = emails.map((_, n) => idOf(n));
        await addEmails(sql, [accountId], ids);
        const indexed = emails.map((each, n) => ({ accountId, id: idOf(n), texts: textsOf(each) }));
        for (const page of pages) {
          const next = await store.unindexed([accountId], page);
          await store.put(next.map(({ id }) => indexed[ids.indexOf(id)]!));
        }
        t.is((await store.unindexed([accountId], 100)).length, 0);
        const removed = new Set<string>();
        const ask = async () => {
          for (const [asked, part] of questions) {
            const expected = ids.filter((id, n) => !removed.has(id) && isMatch(emails[n]!, asked, part));
            const middle = ids[middleAt % ids.length]!;
            for (const after of [undefined, FIRST, middle]) {
              t.deepEqual(
                await found(store, accountId, asked, part, after),
                expected.filter((id) => id > (after ?? '')),
                JSON.stringify([asked, part, after]),
              );
            }
            t.deepEqual(await found(postgresSearch(sql), accountId, asked, part), expected, 'of another node');
            if (expected.length > 0 && wordCount(asked) > asked.length) phrases++;
          }
        };
        await ask();
        for (const [n, id] of ids.entries()) if (((gone >> n) & 1) === 1) removed.add(id);
        await sql`delete from emails where account_id = ${accountId} and id = any(${[...removed]}::uuid[])`;
        await store.merge(accountId, { live: 0, signal });
        t.is((await store.matches(accountId, questions[0]![0], 'text')).segments, removed.size < ids.length ? 1 : 0);
        await ask();
      },
    ),
    { numRuns: runs(30) },
  );
  t.true(phrases > 3, 'phrases that are there');
});

test('an account that is being deleted holds up no other, and becomes searchable when it stays', async (t) => {
  const sql = await migratedSql(t, { max: 2, byKey: true, wide: true });
  const directory = postgresDirectory(sql, 1);
  const store = postgresSearch(sql);
  const accountIds: string[] = [];
  for (const name of ['a', 'b']) accountIds.push((await directory.createAccount(`${name}@example.test`, name)).id);
  const [deleted, other] = accountIds as [string, string];
  await addEmails(sql, accountIds, [newId()]);
  const page = await store.unindexed(accountIds, 10);
  const texts = textsWith({ subject: 'word' });
  const emails = page.map(({ accountId, id }) => ({ accountId, id, texts }));
  const waiting = async () => (await store.unindexed(accountIds, 10)).map(({ accountId }) => accountId);
  await sql.begin(async (tx) => {
    await tx`select from accounts where id = ${deleted} for update`;
    t.deepEqual(await store.put(emails), [deleted]);
  });
  t.deepEqual(await waiting(), [deleted]);
  const count = async (id: string) => (await found(store, id, [{ words: ['word'], prefix: false }], 'text')).length;
  t.deepEqual([await count(deleted), await count(other)], [0, 1]);
  t.deepEqual(await store.put(emails), []);
  t.deepEqual([await count(deleted), await count(other)], [1, 1]);
  await directory.deleteAccount(deleted);
  t.deepEqual(await store.put(emails), [deleted], 'nothing is left behind of an account that is gone');
  t.is(await count(deleted), 0);
  t.is((await sql`select from search_segments where account_id = ${deleted}`).length, 0);
});

async function addEmails(sql: Sql, accountIds: readonly string[], ids: readonly string[]): Promise<void> {
  await sql`
    insert into emails (account_id, id, blob, message_id, thread_id, refs, from_address, from_name, subject, preview,
      received_at, size, has_attachments, attachment_count, flags, modseq)
    select a, x, '\\x00', '', x, '{}', '', '', '', '', now(), 1, false, 0, 0, 1
    from unnest(${accountIds as string[]}::uuid[]) a, unnest(${ids as string[]}::uuid[]) x`;
}
