// Words in the index of the versions before: read beside segments, moved into them, and made again by nodes of such a version
// that run beside newer ones.
import { randomUUID } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { newId } from '../../src/ids/new-id.js';
import { uuidText } from '../../src/mail/ids.js';
import { searchTerms } from '../../src/mail/search-text.js';
import { connect } from '../../src/store/postgres/client.js';
import { postgresDirectory } from '../../src/store/postgres/directory.js';
import { postgresLeases } from '../../src/store/postgres/leases.js';
import { postgresSearch } from '../../src/store/postgres/search.js';
import type { IndexedEmail } from '../../src/store/search.js';
import { foundEarlier, putEarlier, unindexedEarlier } from '../support/earlier-search.js';
import { migratedDatabase } from '../support/embedded-database.js';
import { textsWith } from '../support/field-words.js';

const NO_ID = '00000000-0000-0000-0000-000000000000';

async function setUp(t: ExecutionContext) {
  const { address } = await migratedDatabase(t);
  const sql = connect(address, { max: 3, applicationName: 'test', byKey: true });
  t.teardown(() => sql.end());
  const directory = postgresDirectory(sql, 1);
  const store = postgresSearch(sql);
  const { id: accountId } = await directory.createAccount(`${randomUUID()}@example.test`, 'Zoë 💌');
  const ids: string[] = [];
  const emails: IndexedEmail[] = [];
  /** Emails that are not yet searchable. */
  async function deliver(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const id = newId();
      await sql`
        insert into emails (account_id, id, blob, message_id, thread_id, refs, from_address, from_name, subject, preview,
          received_at, size, has_attachments, attachment_count, flags, modseq)
        values (${accountId}, ${id}, '\\x00', '', ${id}, '{}', '', '', '', '', now(), 1, false, 0, 0, 1)`;
      const texts = textsWith({ subject: `word number${ids.length}`, sender: 'Zoë', body: 'the body 💌' });
      emails.push({ accountId, id, texts });
      ids.push(id);
    }
  }
  const wordsOf = (some: readonly string[]) => some.map((id) => emails[ids.indexOf(id)]!);
  const older = {
    async index(): Promise<number> {
      const waiting = await unindexedEarlier(sql, accountId);
      await putEarlier(sql, wordsOf(waiting));
      return waiting.length;
    },
    found: async (word: string) => (await foundEarlier(sql, accountId, word)).sort(),
  };
  const newer = {
    async index(): Promise<number> {
      const waiting = (await store.unindexed([accountId], 100)).map(({ id }) => id);
      await store.put(wordsOf(waiting));
      return waiting.length;
    },
    put: (some: readonly string[]) => store.put(wordsOf(some)),
    /** As the renewal does. Returns how many emails were moved. */
    async renew(most = 100): Promise<number> {
      const outdated = (await store.outdated(accountId, most)).map(({ id }) => id);
      await store.put(wordsOf(outdated));
      return outdated.length;
    },
    async found(query: string, after?: string): Promise<string[]> {
      const found = await store.matches(accountId, searchTerms(query), 'text', after);
      return Array.from({ length: found.ids.length / 16 }, (_, i) => uuidText(found.ids, i * 16)).sort();
    },
  };
  return { sql, store, accountId, ids, deliver, older, newer };
}

test('what an earlier version has indexed is found beside segments, and moves into them', async (t) => {
  const { sql, store, accountId, ids, deliver, older, newer } = await setUp(t);
  await deliver(10);
  t.is(await older.index(), 10);
  await deliver(5);
  t.is(await newer.index(), 5, 'no email that the earlier version has indexed');
  for (const query of ['word', 'wor zoe', '"the body"', 'body@💌']) t.deepEqual(await newer.found(query), ids, query);
  t.deepEqual(await newer.found('number3'), [ids[3]]);
  t.deepEqual(await newer.found('word', ids[7]), ids.slice(8));
  t.deepEqual(await store.outdatedAccounts(NO_ID, 10), [accountId]);
  t.deepEqual(await store.outdatedAccounts(accountId, 10), []);
  await sql`delete from emails where account_id = ${accountId} and id = ${ids[1]!}`;
  // Of a page of four one is gone.
  t.is(await newer.renew(4), 3);
  const left = ids.filter((_, n) => n !== 1);
  t.deepEqual(await newer.found('word'), left);
  t.is(await newer.renew(), 6);
  t.is(await newer.renew(), 0);
  t.deepEqual(await store.outdatedAccounts(NO_ID, 10), []);
  t.deepEqual(await newer.found('word'), left);
  t.is(await newer.index(), 0);
});

test('a node of an earlier version finds everything in an account that newer ones have indexed and renewed', async (t) => {
  const { ids, deliver, older, newer } = await setUp(t);
  await deliver(6);
  await older.index();
  await deliver(2);
  await newer.index();
  // The account comes to an older node and back.
  await older.index();
  t.deepEqual(await older.found('word'), ids);
  await deliver(2);
  t.is(await older.index(), 2);
  t.is(await newer.index(), 2, 'a newer node goes on where its own index ends');
  t.deepEqual(await newer.found('word'), ids);
  t.is(await newer.renew(), 8, 'the others were moved as they were indexed');
  t.deepEqual(await older.found('word'), []);
  t.is(await older.index(), 10, 'an older node begins anew');
  t.deepEqual(await older.found('word'), ids);
  await deliver(1);
  await newer.index();
  t.deepEqual(await newer.found('word'), ids, 'each once');
  t.deepEqual(await newer.found('number1'), [ids[1], ids[10]]);
  while ((await newer.renew(3)) > 0);
  t.deepEqual(await newer.found('word'), ids);
});

test('what an earlier version has indexed stays as long as a node of it runs', async (t) => {
  const { sql, store, accountId, ids, deliver, older, newer } = await setUp(t);
  const leases = postgresLeases(sql);
  const node = { id: 'newer', incarnation: 'second', version: '2', roles: [], bus: 'nats' } as const;
  t.is((await leases.join(node, 60_000)).kind, 'joined');
  await sql`
    insert into nodes (id, incarnation, version, roles, bus, state, started_at, beat_at, expires_at, reads_flag_ranges)
    values ('older', 'first', '1', '{}', 'nats', 'serving', now(), now(), now() + interval '1 hour', 'first')`;
  await deliver(5);
  await older.index();
  t.is(await newer.renew(), 0);
  t.deepEqual(await store.outdatedAccounts(NO_ID, 10), []);
  // A page of the renewal that was under way when the node came.
  await newer.put(ids);
  await deliver(2);
  await newer.index();
  t.deepEqual(await older.found('word'), ids.slice(0, 5));
  t.is(await older.index(), 2, 'it goes on where it was');
  t.deepEqual(await older.found('word'), ids);
  t.deepEqual(await newer.found('word'), ids, 'each once');
  // It becomes one of this version.
  t.is((await leases.join({ ...node, id: 'older', incarnation: 'third' }, 60_000, 'first')).kind, 'joined');
  t.deepEqual(await store.outdatedAccounts(NO_ID, 10), [accountId]);
  t.is(await newer.renew(), 7);
  t.deepEqual(await older.found('word'), []);
  t.deepEqual(await newer.found('word'), ids);
});

test('an account whose emails an earlier version indexes after all is not indexed twice', async (t) => {
  const { ids, deliver, older, newer } = await setUp(t);
  await deliver(3);
  await older.index();
  t.is(await newer.index(), 0);
  t.is(await newer.renew(2), 2);
  t.deepEqual(await newer.found('word'), ids);
  t.is(await newer.index(), 0, 'the rest is still in the earlier index');
  await newer.renew();
  t.deepEqual(await newer.found('word'), ids);
});
