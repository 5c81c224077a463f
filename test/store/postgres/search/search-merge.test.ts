// Tests merges of segments in PostgreSQL: large ones that are streamed, several at once, killed or aborted ones, and what searches,
// removals and deletions find meanwhile.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { uuidText } from '../../../../src/mail-format/ids.js';
import { searchTerms } from '../../../../src/mail-format/words/search-text.js';
import { newId } from '../../../../src/store/ids/new-id.js';
import { postgresDirectory } from '../../../../src/store/postgres/accounts/directory.js';
import { connect } from '../../../../src/store/postgres/driver/client.js';
import { postgresSearch } from '../../../../src/store/postgres/search/search.js';
import type { SearchLimits } from '../../../../src/store/postgres/search/search-matches.js';
import { type SearchStore, SearchTooLarge } from '../../../../src/store/search.js';
import { migratedDatabase } from '../../../support/database/embedded-database.js';
import { gated, signalled } from '../../../support/database/gated-sql.js';
import { textsWith } from '../../../support/field-words.js';
import test from '../../../support/test.js';

const NO_SIGNAL = new AbortController().signal;
/** Words of an email: 16 emails have more words than are merged at once. */
const MANY = 16_000;

async function setUp(t: ExecutionContext) {
  const { address } = await migratedDatabase(t);
  const open = (applicationName: string) => {
    const sql = connect(address, { max: 3, applicationName, byKey: true });
    t.teardown(() => sql.end({ timeout: 1 }));
    return sql;
  };
  const sql = open('test');
  const directory = postgresDirectory(sql, 1);
  const store = postgresSearch(sql);

  /** Creates an account with emails in a segment each; each word of an email contains its number or `all`. */
  async function account(emails: number, words = 1): Promise<{ accountId: string; ids: string[] }> {
    const { id: accountId } = await directory.createAccount(`${randomUUID()}@example.test`, 'Zoë 💌');
    const ids: string[] = [];
    for (let n = 0; n < emails; n++) ids.push(await add(accountId, n, words));
    return { accountId, ids };
  }

  async function add(accountId: string, n: number, words = 1): Promise<string> {
    const id = newId();
    await sql`
      insert into emails (account_id, id, blob, message_id, thread_id, refs, from_address, from_name, subject, preview,
        received_at, size, has_attachments, attachment_count, flags, modseq)
      values (${accountId}, ${id}, '\\x00', '', ${id}, '{}', '', '', '', '', now(), 1, false, 0, 0, 1)`;
    const body = Array.from({ length: words }, (_, i) => `w${(i * 7 + n) % (2 * words)}`).join(' ');
    const texts = textsWith({ subject: `all number${n}`, sender: 'Zoë 💌', body });
    t.deepEqual(await store.put([{ accountId, id, texts }]), []);
    return id;
  }

  const found = async (accountId: string, query: string, by: SearchStore = store): Promise<string[]> => {
    const { ids } = await by.matches(accountId, searchTerms(query), 'text');
    return Array.from({ length: ids.length / 16 }, (_, i) => uuidText(ids, i * 16)).sort();
  };
  const segments = async (accountId: string) => {
    const rows = await sql<{ ready: boolean; emails: number }[]>`
      select is_ready as ready, emails from search_segments where account_id = ${accountId} order by id`;
    return rows.map(({ ready, emails }) => (ready ? emails : 'not ready'));
  };
  /** Returns the number of pages whose segment does not exist. */
  const strayPages = async () =>
    (
      await sql`
        select from search_pages p where not exists (
          select from search_segments s where s.account_id = p.account_id and s.id = p.segment)`
    ).length;
  return { sql, open, directory, store, account, add, found, segments, strayPages };
}

/** Aborts when it is asked for the nth time, after it has called `then`. */
function abortedAt(n: number, then: () => unknown = () => {}): AbortSignal {
  let asked = 0;
  return Object.assign(new AbortController().signal, {
    throwIfAborted() {
      if (++asked < n) return;
      then();
      throw new Error('given up');
    },
  });
}

test('a merge of more than is read at once finds the same as before, in words, prefixes and phrases', async (t) => {
  const { account, found, segments, store, strayPages } = await setUp(t);
  const { accountId, ids } = await account(16, MANY);
  const queries = ['all', 'number3', 'w', 'w17', '"w18"', '"w21 w28"', '"zoe 💌"', 'w1 number', 'zoe@💌', '"w28 w21"'];
  const before = [];
  for (const query of queries) before.push(await found(accountId, query));
  t.deepEqual(before[0], ids.toSorted());
  t.true(before[5]!.length > 0);
  t.deepEqual(before[9], []);
  const outcome = await store.merge(accountId, { signal: NO_SIGNAL });
  t.like(outcome, { segments: 16, emails: 16, mayBeMore: false });
  t.true(outcome.octets > 1_000_000);
  t.deepEqual(await segments(accountId), [16]);
  for (const [i, query] of queries.entries()) t.deepEqual(await found(accountId, query), before[i], query);
  t.is(await strayPages(), 0);
});

test('a merge that is given up or killed between pages leaves the index as it was, and the next one clears up', async (t) => {
  const { sql, open, account, found, segments, store, strayPages } = await setUp(t);
  const { accountId, ids } = await account(16, MANY);
  const pages = async () => (await sql`select from search_pages where account_id = ${accountId}`).length;
  const before = await pages();
  // The signal is asked once per segment for its emails, then at each write of pages.
  await t.throwsAsync(store.merge(accountId, { signal: abortedAt(16 + 4) }), { message: 'given up' });
  t.deepEqual(await segments(accountId), Array(16).fill(1));
  t.is(await pages(), before);
  const killed = open('killed');
  const end = () => void killed.end({ timeout: 0 });
  await t.throwsAsync(postgresSearch(killed).merge(accountId, { signal: abortedAt(16 + 4, end) }));
  t.deepEqual(await segments(accountId), [...Array(16).fill(1), 'not ready']);
  t.true((await pages()) > before);
  t.deepEqual(await found(accountId, 'all'), ids.toSorted());
  t.is((await store.matches(accountId, searchTerms('all'), 'text')).segments, 16);
  t.is((await store.merge(accountId, { signal: NO_SIGNAL })).segments, 16);
  t.deepEqual(await segments(accountId), [16]);
  t.deepEqual(await found(accountId, 'all'), ids.toSorted());
  t.is(await strayPages(), 0);
});

for (const { words, how } of [
  { words: 1, how: 'small' },
  { words: MANY, how: 'large' },
]) {
  test(`of ${how} merges at once one counts, and nothing is lost or left behind`, async (t) => {
    const { open, account, found, segments, store, strayPages } = await setUp(t);
    const { accountId, ids } = await account(16, words);
    const others = [store, postgresSearch(open('other'))];
    const outcomes = await Promise.all(others.map((each) => each.merge(accountId, { signal: NO_SIGNAL })));
    t.deepEqual(
      outcomes.map((outcome) => outcome.segments).sort((a, b) => a - b),
      [0, 16],
    );
    for (const each of others) t.deepEqual(await found(accountId, 'all', each), ids.toSorted());
    await store.merge(accountId, { signal: NO_SIGNAL });
    t.deepEqual(await segments(accountId), [16]);
    t.is(await strayPages(), 0);
  });
}

test('a segment that becomes ready while another node takes it for left behind keeps its pages', async (t) => {
  const { open, account, found, segments, store, strayPages } = await setUp(t);
  const { accountId, ids } = await account(16, MANY);
  const [atEnd, goOn] = [signalled(), signalled()];
  const merging = postgresSearch(
    gated(open('merging'), 'retired as', () => {
      atEnd.resolve();
      return goOn.promise;
    }),
  ).merge(accountId, { signal: NO_SIGNAL });
  await atEnd.promise;
  const other = gated(open('other'), 'set emails = -1', () => {
    goOn.resolve();
    return merging;
  });
  await postgresSearch(other).merge(accountId, { signal: NO_SIGNAL });
  t.is((await merging).segments, 16);
  t.deepEqual(await segments(accountId), [16]);
  for (const by of [store, postgresSearch(open('fresh'))])
    t.deepEqual(await found(accountId, '"all" number', by), ids.toSorted());
  t.is(await strayPages(), 0);
});

test('a search ends when it takes too long, and when its words take too much memory', async (t) => {
  const { sql, account, found } = await setUp(t);
  const { accountId, ids } = await account(3, MANY);
  const by = (limits: Partial<SearchLimits>) => postgresSearch(sql, limits);
  const late = await t.throwsAsync(found(accountId, 'all', by({ ms: 0 })));
  t.like(late, { code: 'store-unavailable', temporary: true, message: 'a search takes too much time' });
  const large = await t.throwsAsync(found(accountId, '"w1 w8"', by({ memoryOctets: 1_000 })));
  t.true(large instanceof SearchTooLarge);
  t.is(large!.message, 'words of a search take too much memory');
  // Pages of prefixes are not held; further statements read what one did not return.
  t.deepEqual(await found(accountId, 'w', by({ memoryOctets: 10_000 })), ids.toSorted());
  for (const query of ['w', '"w1 w8"', 'w1 w8 w15 number', 'zoe@💌', '"w1 w8 w1"', '"zoe 💌"']) {
    const expected = await found(accountId, query);
    for (const statementOctets of [0, 5_000, 20_000, 60_000])
      t.deepEqual(await found(accountId, query, by({ statementOctets })), expected, query);
  }
});

test('what a killed merge left is deleted at the second look, though the account is at rest', async (t) => {
  const { sql, open, account, segments, store, strayPages } = await setUp(t);
  const { accountId, ids } = await account(16, MANY);
  const killed = open('killed');
  const end = () => void killed.end({ timeout: 0 });
  await t.throwsAsync(postgresSearch(killed).merge(accountId, { signal: abortedAt(16 + 4, end) }));
  const first = await store.clear(new Set(), NO_SIGNAL);
  t.is(first.size, 1);
  t.is((await segments(accountId)).length, 17);
  const pages = async () => (await sql`select from search_pages where account_id = ${accountId}`).length;
  const before = await pages();
  await store.clear(first, NO_SIGNAL);
  t.deepEqual(await segments(accountId), Array(16).fill(1));
  t.true((await pages()) < before);
  t.is(await strayPages(), 0);
  t.is((await store.clear(first, NO_SIGNAL)).size, 0);
  t.is((await store.matches(accountId, searchTerms('all'), 'text')).ids.length, 16 * ids.length);
});

test('the same emails put by two nodes at once are found once, and are in one segment', async (t) => {
  const { sql, open, account, found, segments, store } = await setUp(t);
  const { accountId } = await account(0);
  const ids = Array.from({ length: 8 }, () => newId());
  await sql`
    insert into emails (account_id, id, blob, message_id, thread_id, refs, from_address, from_name, subject, preview,
      received_at, size, has_attachments, attachment_count, flags, modseq)
    select ${accountId}, x, '\\x00', '', x, '{}', '', '', '', '', now(), 1, false, 0, 0, 1 from unnest(${ids}::uuid[]) x`;
  const emails = ids.map((id) => ({ accountId, id, texts: textsWith({ subject: 'word' }) }));
  const stores = [store, postgresSearch(open('other'))];
  await Promise.all(stores.map((each) => each.put(emails)));
  t.deepEqual(await segments(accountId), [8]);
  // This page overlaps with the existing ones.
  await sql`update search_state set upto = ${ids[3]!} where account_id = ${accountId}`;
  await Promise.all(stores.map((each) => each.put(emails.slice(2))));
  t.deepEqual(await segments(accountId), [8, 6]);
  t.deepEqual(await found(accountId, 'word'), ids.toSorted());
  t.like(await store.merge(accountId, { live: 0, signal: NO_SIGNAL }), { segments: 2, emails: 8 });
  t.deepEqual(await found(accountId, 'word'), ids.toSorted());
  t.is((await store.merge(accountId, { live: 0, signal: NO_SIGNAL })).segments, 0, 'there is nothing to do');
});

test('searches find everything while segments are put and merged', async (t) => {
  const { open, account, add, found, store } = await setUp(t);
  const { accountId, ids } = await account(16, 300);
  const [putting, searching] = [{ isDone: false }, postgresSearch(open('searcher'))];
  let merges = 0;
  // Merges may be slower than puts, so these go on until some have ended between them.
  const puts = (async () => {
    for (let n = 16; n < 120 || (merges <= 3 && n < 1_000); n++) ids.push(await add(accountId, n, 300));
    putting.isDone = true;
  })();
  const merging = (async () => {
    while (!putting.isDone) if ((await store.merge(accountId, { signal: NO_SIGNAL })).segments > 0) merges++;
  })();
  while (!putting.isDone) {
    for (const query of ['all', 'w', '"zoe 💌"']) {
      const known = ids.slice();
      const hits = new Set(await found(accountId, query, searching));
      t.deepEqual(
        known.filter((id) => !hits.has(id)),
        [],
        query,
      );
    }
  }
  await Promise.all([puts, merging]);
  t.true(merges > 3);
});

test('a segment that is merged while it is searched is found where it went', async (t) => {
  const { sql, account, add, found, store } = await setUp(t);
  // Prefixes of many pages are streamed; ids are read apart from words.
  for (const [query, statement] of [
    ['w', 'and (first_word, part) >'],
    ['zoe', 'select id::float8, ids from'],
  ] as const) {
    const { accountId, ids } = await account(16, MANY);
    // A long merge has an id before those of segments that are put meanwhile.
    const [early] = await sql<{ id: number }[]>`select nextval('search_segment_ids')::float8 as id`;
    ids.push(await add(accountId, 16));
    let merged = 0;
    const searching = new Proxy(sql, {
      apply(target, _this, [strings, ...values]: [TemplateStringsArray, ...never[]]) {
        if (merged > 0 || !strings.join('').includes(statement)) return target(strings, ...values);
        const raw = async () => {
          merged = (await store.merge(accountId, { live: 0, signal: NO_SIGNAL })).segments;
          const [output] = await sql<{ id: number }[]>`
            update search_segments set id = ${early!.id} where account_id = ${accountId} returning id::float8`;
          t.is(output?.id, early!.id);
          await sql`update search_pages set segment = ${early!.id} where account_id = ${accountId}`;
          ids.push(await add(accountId, 17));
          return target(strings, ...values).raw();
        };
        return { raw };
      },
    });
    const hits = await found(accountId, query, postgresSearch(searching, { ms: 600_000 }));
    t.is(merged, 17);
    t.deepEqual(hits, ids.toSorted(), query);
  }
});

test('more segments than are looked at once are all found, and become few by one merge', async (t) => {
  const { account, found, segments, store } = await setUp(t);
  const { accountId, ids } = await account(150);
  for (const query of ['all', '"all"', 'zoe@💌']) t.deepEqual(await found(accountId, query), ids.toSorted(), query);
  t.deepEqual(await found(accountId, 'number149'), [ids[149]]);
  t.is((await store.matches(accountId, searchTerms('zoe'), 'text')).segments, 150);
  t.like(await store.merge(accountId, { signal: NO_SIGNAL }), { segments: 150, emails: 150, mayBeMore: false });
  t.deepEqual(await segments(accountId), [150]);
  t.deepEqual(await found(accountId, 'all'), ids.toSorted());
});

test('emails that are gone go with a merge, and with all of them their segments', async (t) => {
  const { sql, account, add, found, segments, store, strayPages } = await setUp(t);
  for (const words of [1, MANY]) {
    const { accountId, ids } = await account(16, words);
    await sql`delete from emails where account_id = ${accountId} and id = any(${ids.slice(0, 10)}::uuid[])`;
    t.like(await store.merge(accountId, { signal: NO_SIGNAL }), { segments: 16, emails: 6 });
    t.deepEqual(await segments(accountId), [6]);
    t.deepEqual(await found(accountId, 'all'), ids.slice(10).sort());
    t.deepEqual(await found(accountId, 'number12'), [ids[12]]);
    t.deepEqual(await found(accountId, 'number2'), []);
    // Some emails of a segment stay.
    const last = await add(accountId, 16, words);
    await sql`delete from emails where account_id = ${accountId} and id = any(${[ids[10]!, ids[13]!]}::uuid[])`;
    t.like(await store.merge(accountId, { live: 0, signal: NO_SIGNAL }), { segments: 2, emails: 5 });
    const left = [11, 12, 14, 15].map((n) => ids[n]!);
    for (const [i, n] of [11, 12, 14, 15].entries()) t.deepEqual(await found(accountId, `number${n}`), [left[i]]);
    t.deepEqual(await found(accountId, 'number16'), [last]);
    t.deepEqual(await found(accountId, '"zoe 💌"'), [...left, last].sort());
    await sql`delete from emails where account_id = ${accountId}`;
    t.like(await store.merge(accountId, { live: 0, signal: NO_SIGNAL }), { segments: 1, emails: 0, octets: 0 });
    t.deepEqual(await segments(accountId), []);
    t.is(await strayPages(), 0);
  }
});

test('nothing is left of an account that is deleted while its segments are merged', async (t) => {
  const { sql, open, directory, account, store } = await setUp(t);
  const { accountId } = await account(16, MANY);
  let deleted: Promise<boolean> | undefined;
  const other = postgresDirectory(open('deleter'), 1);
  const signal = Object.assign(new AbortController().signal, {
    throwIfAborted() {
      deleted ??= other.deleteAccount(accountId);
    },
  });
  await store.merge(accountId, { signal }).catch(() => {});
  t.true(await deleted);
  for (const table of ['search_segments', 'search_pages', 'search_state'])
    t.is((await sql`select from ${sql(table)} where account_id = ${accountId}`).length, 0, table);
  t.is((await store.merge(accountId, { signal: NO_SIGNAL })).segments, 0);
  t.false(await directory.deleteAccount(accountId));
});
