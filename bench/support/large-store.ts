// Makes a store of many emails in a fraction of the time that delivering them would take: accounts with mail in their inboxes, words of a
// Zipf-like vocabulary, all of it searchable. Emails share some thousands of messages, and accounts with the same number of emails have the
// same ones: SQL writes the rows, the store makes the search index of one account, and the others get copies of it.
import { createHash } from 'node:crypto';
import { indexMessage } from '../../src/mail-format/mime-index/indexer.js';
import { connect, type Sql } from '../../src/store/postgres/driver/client.js';
import { postgresSearch } from '../../src/store/postgres/search/search.js';
import type { IndexedEmail } from '../../src/store/search.js';
import type { BenchNode } from './node.js';

const MESSAGES = 2_000;
const VOCABULARY = 20_000;
const WORDS_A_MESSAGE = 100;
/** The emails that the store indexes together: sixteen such segments are merged into one. */
const SEGMENT = 4_096;

/** Returns the word of a rank; the most frequent has the lowest. */
export function wordOf(rank: number): string {
  let word = '';
  for (let left = rank * 7919 + 1_000; left > 0; left = Math.floor(left / 21)) {
    word += 'bcdfghjklmnpqrstvwxyz'[left % 21]! + 'aeiou'[left % 5]!;
  }
  return word;
}

/** Returns the word that only email `n` of its account has. */
export const rareWordOf = (n: number): string => `rare${n}`;

const wordsOf = (message: number): string[] =>
  Array.from({ length: WORDS_A_MESSAGE }, (_, i) => wordOf(zipf(message * WORDS_A_MESSAGE + i)));

/** `counts` has the number of emails per account. */
export async function fillStore(database: BenchNode['database'], counts: ReadonlyMap<string, number>): Promise<void> {
  const sql = connect(database, { max: 1, applicationName: 'bench' });
  const byKey = connect(database, { max: 1, applicationName: 'bench', byKey: true, wide: true });
  await sql`set synchronous_commit = off`;
  await byKey`set synchronous_commit = off`;
  await sql`drop index emails_blob`;
  await sql`create table bench_message (n int primary key, hash bytea, size int, subject text, preview text)`;
  for (let n = 0; n < MESSAGES; n += 100) await putMessages(sql, n, Math.min(n + 100, MESSAGES));
  const indexed = new Map<number, string>();
  for (const [accountId, count] of counts) {
    await fillAccount(sql, accountId, count);
    const like = indexed.get(count);
    if (like === undefined) await indexAccount(byKey, accountId);
    else await copyIndex(sql, like, accountId);
    indexed.set(count, accountId);
  }
  await sql`create index emails_blob on emails using hash (blob)`;
  await sql`drop table bench_message`;
  // This runs now, so that it does not run during a measurement.
  await sql`vacuum (analyze) emails, placements, search_segments, search_pages`;
  await Promise.all([sql.end(), byKey.end()]);
}

async function putMessages(sql: Sql, from: number, to: number): Promise<void> {
  const rows = [];
  for (let n = from; n < to; n++) {
    const words = wordsOf(n);
    const subject = words.slice(0, 6).join(' ');
    const text = `${words.join(' ').replace(/(.{60,75}) /g, '$1\r\n')}\r\n`.repeat(5);
    const raw = Buffer.from(`From: Ann <ann@remote.test>\r\nSubject: ${subject}\r\nX-N: ${n}\r\n\r\n${text}`);
    const hash = createHash('sha256').update(raw).digest('hex');
    const preview = words.join(' ').slice(0, 200);
    const row = { n, hash: `\\x${hash}`, size: raw.length, data: `\\x${raw.toString('hex')}` };
    rows.push({ ...row, subject, preview, index: indexMessage(raw) });
  }
  await sql`
    with x as materialized (
      select * from json_to_recordset(${JSON.stringify(rows)}::text::json)
        as x (n int, hash bytea, size int, data bytea, subject text, preview text, index json)
    ), b as (
      insert into blobs (hash, size, mime_index) select hash, size, index from x
    ), c as (
      insert into blob_chunks (hash, seq, data) select hash, 0, data from x
    )
    insert into bench_message select n, hash, size, subject, preview from x`;
}

async function fillAccount(sql: Sql, accountId: string, count: number): Promise<void> {
  await sql`
    create temp table bench_email as
    select ('0' || lpad(to_hex(1750000000000 + n), 11, '0') || '7000' || '8000' || substr(md5(n::text), 1, 12))::uuid as id,
      n, n % ${MESSAGES} as m from generate_series(1, ${count}::int) n`;
  await sql`
    insert into emails (account_id, id, blob, message_id, thread_id, refs, from_address, from_name, subject, preview,
      received_at, size, has_attachments, attachment_count, flags, modseq)
    select ${accountId}, e.id, m.hash, '<' || e.id || '@remote.test>', e.id, '{}', 'ann@remote.test', 'Ann', m.subject,
      m.preview, to_timestamp(1750000000 + e.n), m.size, e.n % 10 = 0, (e.n % 10 = 0)::int, e.n % 3 % 2, 2
    from bench_email e join bench_message m on m.n = e.m order by e.n`;
  await sql`
    insert into placements (account_id, folder_id, uid, email_id, modseq)
    select ${accountId}, f.id, e.n, e.id, 2 from bench_email e, folders f
    where f.account_id = ${accountId} and f.role = 'inbox' order by e.n`;
  await sql`
    update folders set total = ${count}, uidnext = ${count + 1},
      unread = (select count(*) from emails where account_id = ${accountId} and flags & 1 = 0)
    where account_id = ${accountId} and role = 'inbox'`;
  await sql`drop table bench_email`;
}

/** Indexes the account and runs the merges that are due. */
async function indexAccount(sql: Sql, accountId: string): Promise<void> {
  const store = postgresSearch(sql);
  const { signal } = new AbortController();
  const messages = Array.from({ length: MESSAGES }, (_, n) => wordsOf(n));
  for (let n = 1; ; ) {
    const emails = await store.unindexed([accountId], SEGMENT);
    if (emails.length === 0) return;
    const words = emails.map(({ id }): IndexedEmail => {
      const body = messages[n % MESSAGES]!;
      const fields = { subject: body.slice(0, 6).join(' '), body: [...body, rareWordOf(n)].join(' ') };
      n++;
      return { accountId, id, texts: { ...fields, sender: 'Ann ann@remote.test', recipients: '', attachments: '' } };
    });
    await store.put(words);
    for (let more = true; more; ) ({ mayBeMore: more } = await store.merge(accountId, { signal }));
  }
}

async function copyIndex(sql: Sql, from: string, to: string): Promise<void> {
  await sql`
    with segment as materialized (
      select id, nextval('search_segment_ids') as copy from search_segments where account_id = ${from}
    ), page as (
      insert into search_pages (account_id, segment, first_word, part, words, positions)
      select ${to}, copy, first_word, part, words, positions from search_pages p join segment s on s.id = p.segment
      where p.account_id = ${from}
    ), state as (
      insert into search_state (account_id, upto)
      select ${to}, upto from search_state where account_id = ${from}
    )
    insert into search_segments (account_id, id, level, emails, last_id, is_ready, ids, octets, words, positions)
    select ${to}, copy, level, emails, last_id, is_ready, ids, octets, words, positions from search_segments join segment using (id)
    where account_id = ${from}`;
}

/** Returns a rank below VOCABULARY; the first ranks are frequent, like words. The same `i` always gives the same rank. */
export function zipf(i: number): number {
  const random = ((Math.imul(i + 1, 2_654_435_761) >>> 0) % 1_000_003) / 1_000_003;
  return Math.floor(VOCABULARY ** random) - 1;
}
