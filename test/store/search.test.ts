// Words in PostgreSQL: what the index finds against the plain definition, for phrases and starts of words, in all that is
// indexed or in bodies alone, in short emails and long ones and in those of an earlier version.
import { randomUUID } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { newId } from '../../src/ids/new-id.js';
import { type SearchTerm, wordCount } from '../../src/mail/search-text.js';
import { connect, type Sql } from '../../src/store/postgres/client.js';
import { postgresDirectory } from '../../src/store/postgres/directory.js';
import { postgresSearch } from '../../src/store/postgres/search.js';
import { type EmailWords, SEARCH_PARTS, type SearchPart, type SearchStore } from '../../src/store/search.js';
import { migratedDatabase } from '../support/embedded-database.js';

/** Every term somewhere in one of the fields, word after word, the last as a prefix. */
function isMatch(email: Omit<EmailWords, 'accountId' | 'id'>, terms: readonly SearchTerm[], part: SearchPart): boolean {
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
  ),
});
const term = fc.record({ words: fc.array(word, { minLength: 1, maxLength: 3 }), prefix: fc.boolean() });
const terms = fc.array(term, { minLength: 1, maxLength: 3 });

/** All words that the last words of single ones among the terms stand for. */
async function completionsOf(store: SearchStore, id: string, terms: readonly SearchTerm[]) {
  const completed = new Map<string, string[]>();
  for (const { words, prefix } of terms) {
    const [beginning] = words;
    if (!prefix || words.length > 1) continue;
    const known = [beginning!];
    for (let more = known; more.length > 0; known.push(...more)) {
      more = [...(await store.completions(id, beginning!, known))];
    }
    completed.set(beginning!, known);
  }
  return completed;
}

test('random words and terms agree with the definition, through the index and one by one', async (t) => {
  const database = await migratedDatabase(t);
  const sql = connect(database.address, { max: 4, applicationName: 'test', byKey: true, wide: true });
  t.teardown(() => sql.end());
  const store = postgresSearch(sql);
  const directory = postgresDirectory(sql, 1);
  const first = '00000000-0000-0000-0000-000000000000';
  const idOf = (n: number) => `00000000-0000-7000-8000-${String(n + 1).padStart(12, '0')}`;
  let found = 0;
  let complete = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(email, { minLength: 1, maxLength: 12 }),
      fc.array(fc.tuple(terms, fc.constantFrom(...SEARCH_PARTS)), { minLength: 4, maxLength: 10 }),
      fc.nat(12),
      async (emails, questions, older) => {
        const { id } = await directory.createAccount(`${randomUUID()}@example.test`, 'Search');
        const ids = emails.map((_, n) => idOf(n));
        await sql`
          insert into emails (account_id, id, blob, message_id, thread_id, refs, from_address, from_name, subject, preview,
            received_at, size, has_attachments, attachment_count, flags, modseq)
          select ${id}, x, '\\x00', '', x, '{}', '', '', '', '', now(), 1, false, 0, 0, 1 from unnest(${ids}::uuid[]) x`;
        t.deepEqual(
          (await store.unindexed([id], 100)).map((each) => each.id),
          ids,
        );
        await store.put(emails.map((each, n) => ({ accountId: id, id: idOf(n), ...each })));
        t.is((await store.unindexed([id], 100)).length, 0);
        // As an earlier version has written it.
        await sql`update email_search set word_order = null where account_id = ${id} and email_id = ${idOf(older)}`;
        for (const [asked, part] of questions) {
          const expected = ids.filter((_, n) => isMatch(emails[n]!, asked, part));
          for (const after of [undefined, first]) {
            const packed = Buffer.from(await store.matches(id, asked, part, after)).toString('hex');
            const hex = (packed.match(/.{32}/g) ?? []).sort();
            t.deepEqual(
              hex,
              expected.map((each) => each.replaceAll('-', '')),
              JSON.stringify([asked, part, after]),
            );
          }
          const completed = await completionsOf(store, id, asked);
          const upto = ids[older % ids.length]!;
          const packed = await store.matches(id, asked, part, undefined, { words: completed, upto });
          t.deepEqual(
            Buffer.from(packed).toString('hex').match(/.{32}/g)?.sort() ?? [],
            expected.map((each) => each.replaceAll('-', '')),
            JSON.stringify([asked, part, [...completed], upto]),
          );
          if (expected.length > 0 && completed.size > 0) complete++;
          if (expected.length > 0 && wordCount(asked) > asked.length) found++;
        }
      },
    ),
    { numRuns: 40 },
  );
  t.true(found > 3, 'phrases that are there');
  t.true(complete > 10, 'beginnings of words that are there');
});

test('an account that is being deleted holds up no other, and becomes searchable when it stays', async (t) => {
  const { address } = await migratedDatabase(t);
  const sql = connect(address, { max: 2, applicationName: 'test', byKey: true, wide: true });
  t.teardown(() => sql.end());
  const directory = postgresDirectory(sql, 1);
  const store = postgresSearch(sql);
  const accountIds: string[] = [];
  for (const name of ['a', 'b']) accountIds.push((await directory.createAccount(`${name}@example.test`, name)).id);
  const [deleted, other] = accountIds as [string, string];
  await add(sql, accountIds, 1);
  const page = await store.unindexed(accountIds, 10);
  const fields = { subject: ['word'], sender: [], recipients: [], attachments: [], body: [] };
  const emails = page.map(({ accountId, id }) => ({ accountId, id, ...fields }));
  const waiting = async () => (await store.unindexed(accountIds, 10)).map(({ accountId }) => accountId);
  await sql.begin(async (tx) => {
    await tx`select from accounts where id = ${deleted} for update`;
    t.deepEqual(await store.put(emails), [deleted]);
  });
  t.deepEqual(await waiting(), [deleted]);
  const found = async (id: string) =>
    (await store.matches(id, [{ words: ['word'], prefix: false }], 'text')).length / 16;
  t.deepEqual([await found(deleted), await found(other)], [0, 1]);
  t.deepEqual(await store.put(emails), []);
  t.deepEqual([await found(deleted), await found(other)], [1, 1]);
  await directory.deleteAccount(deleted);
  t.deepEqual(await store.put(emails), [deleted], 'nothing is left behind of an account that is gone');
  t.is(await found(deleted), 0);
});

test('emails become searchable without a look at the others of their accounts', async (t) => {
  const { address } = await migratedDatabase(t);
  const directorySql = connect(address, { max: 1, applicationName: 'test' });
  const sql = connect(address, { max: 1, applicationName: 'test', byKey: true, wide: true });
  t.teardown(async () => {
    await Promise.all([directorySql.end(), sql.end()]);
  });
  const directory = postgresDirectory(directorySql, 1);
  const accountIds: string[] = [];
  for (const name of ['a', 'b']) accountIds.push((await directory.createAccount(`${name}@example.test`, name)).id);
  const others = Array.from({ length: 3000 }, () => randomUUID());
  await directorySql`
    insert into accounts (id, shard, email, display_name, modseq) select x, 0, x, '', 1 from unnest(${others}::uuid[]) x`;
  // The database knows of accounts with one email each.
  await add(directorySql, others, 1);
  await directorySql`analyze emails, accounts`;
  await add(directorySql, others, 20);
  await add(directorySql, accountIds, 2000);
  const read = async (): Promise<number> => {
    await sql`select pg_stat_force_next_flush()`;
    const [row] = await sql<[{ read: number }]>`
      select sum(idx_tup_read)::float8 as read from pg_stat_user_indexes where relname = 'emails'`;
    return row.read;
  };
  const store = postgresSearch(sql);
  const before = await read();
  const page = await store.unindexed(accountIds, 5);
  t.is(page.length, 10);
  const none = { subject: [], sender: [], recipients: [], attachments: [] };
  await store.put(page.map(({ accountId, id }) => ({ accountId, id, ...none, body: ['word'] })));
  const rows = (await read()) - before;
  t.true(rows >= 20 && rows < 100, `${rows} rows were read`);
});

async function add(sql: Sql, accountIds: readonly string[], count: number): Promise<void> {
  const ids = Array.from({ length: count }, () => newId());
  await sql`
    insert into emails (account_id, id, blob, message_id, thread_id, refs, from_address, from_name, subject, preview,
      received_at, size, has_attachments, attachment_count, flags, modseq)
    select a, x, '\\x00', '', x, '{}', '', '', '', '', now(), 1, false, 0, 0, 1
    from unnest(${accountIds as string[]}::uuid[]) a, unnest(${ids}::uuid[]) x`;
}
