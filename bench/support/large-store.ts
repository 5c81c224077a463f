// A store of many emails, made by SQL in a fraction of the time that delivering them would take: accounts with mail in
// their inboxes, words of a Zipf-like vocabulary, all of it searchable. Emails share some thousands of messages.
import { createHash } from 'node:crypto';
import { indexMessage } from '../../src/mail/mime-index/indexer.js';
import type { Sql } from '../../src/store/postgres/client.js';
import { fieldsOf, Tsvectors } from '../../src/store/postgres/search-words.js';
import { wordOrder } from '../../src/store/postgres/word-order.js';

const MESSAGES = 2_000;
const VOCABULARY = 20_000;
const WORDS_A_MESSAGE = 100;
/** As long as the key that lexemes begin with, and what stands for it in a template. */
const ANY_ACCOUNT = '@@@@@@@';

/** Word of a rank, most frequent first. */
export function wordOf(rank: number): string {
  let word = '';
  for (let left = rank * 7919 + 1_000; left > 0; left = Math.floor(left / 21)) {
    word += 'bcdfghjklmnpqrstvwxyz'[left % 21]! + 'aeiou'[left % 5]!;
  }
  return word;
}

/** The one word that email `n` of its account has alone. */
export const rareWordOf = (n: number): string => `rare${n}`;

/** `counts`: emails by account. */
export async function fillStore(sql: Sql, counts: ReadonlyMap<string, number>): Promise<void> {
  await sql`set synchronous_commit = off`;
  await sql`drop index email_search_words`;
  await sql`drop index emails_blob`;
  await sql`
    create table bench_message (n int primary key, hash bytea, size int, subject text, words text, word_order bytea)`;
  for (let n = 0; n < MESSAGES; n += 100) await putMessages(sql, n, Math.min(n + 100, MESSAGES));
  for (const [accountId, count] of counts) await fillAccount(sql, accountId, count);
  await sql`create index emails_blob on emails using hash (blob)`;
  await sql`set maintenance_work_mem = '512MB'`;
  await sql`
    create index email_search_words on email_search using gin (words) with (gin_pending_list_limit = 1024)`;
  await sql`drop table bench_message`;
  // Now, and not while something is measured.
  await sql`vacuum (analyze) emails, placements, email_search`;
}

async function putMessages(sql: Sql, from: number, to: number): Promise<void> {
  const rows = [];
  const vectors = new Tsvectors();
  for (let n = from; n < to; n++) {
    const words = Array.from({ length: WORDS_A_MESSAGE }, (_, i) => wordOf(zipf(n * WORDS_A_MESSAGE + i)));
    const subject = words.slice(0, 6).join(' ');
    const text = `${words.join(' ').replace(/(.{60,75}) /g, '$1\r\n')}\r\n`.repeat(5);
    const raw = Buffer.from(`From: Ann <ann@remote.test>\r\nSubject: ${subject}\r\nX-N: ${n}\r\n\r\n${text}`);
    const hash = createHash('sha256').update(raw).digest('hex');
    const email = {
      subject: words.slice(0, 6),
      sender: ['ann', 'ann', 'remote', 'test'],
      recipients: [],
      attachments: [],
      body: words,
    };
    const row = { n, hash: `\\x${hash}`, size: raw.length, data: `\\x${raw.toString('hex')}` };
    const order = Buffer.from(wordOrder(fieldsOf(email))!).toString('base64');
    vectors.add(ANY_ACCOUNT, email);
    rows.push({ ...row, subject, order, index: indexMessage(raw) });
  }
  await sql`
    with x as materialized (
      select * from json_to_recordset(${JSON.stringify(rows)}::text::json)
        as x (n int, hash bytea, size int, data bytea, subject text, "order" text, index json)
    ), b as (
      insert into blobs (hash, size, mime_index) select hash, size, index from x
    ), c as (
      insert into blob_chunks (hash, seq, data) select hash, 0, data from x
    )
    insert into bench_message
    select x.n, hash, size, subject, words::text, decode("order", 'base64') from x
    join unnest(${vectors.octets()}::tsvector[]) with ordinality as v (words, i) on v.i = x.n - ${from}::int + 1`;
}

async function fillAccount(sql: Sql, accountId: string, count: number): Promise<void> {
  const key = accountId.slice(-ANY_ACCOUNT.length);
  await sql`
    create temp table bench_email as
    select ('0' || lpad(to_hex(1750000000000 + n), 11, '0') || '7000' || '8000' || substr(md5(n::text), 1, 12))::uuid as id,
      n, n % ${MESSAGES} as m from generate_series(1, ${count}::int) n`;
  await sql`
    insert into emails (account_id, id, blob, message_id, thread_id, refs, from_address, from_name, subject, preview,
      received_at, size, has_attachments, attachment_count, flags, modseq)
    select ${accountId}, e.id, m.hash, '<' || e.id || '@remote.test>', e.id, '{}', 'ann@remote.test', 'Ann', m.subject,
      left(m.words, 200), to_timestamp(1750000000 + e.n), m.size, e.n % 10 = 0, (e.n % 10 = 0)::int, e.n % 3 % 2, 2
    from bench_email e join bench_message m on m.n = e.m order by e.n`;
  await sql`
    insert into placements (account_id, folder_id, uid, email_id, modseq)
    select ${accountId}, f.id, e.n, e.id, 2 from bench_email e, folders f
    where f.account_id = ${accountId} and f.role = 'inbox' order by e.n`;
  await sql`
    insert into email_search (account_id, email_id, version, words, word_order)
    select ${accountId}, e.id, 2,
      (replace(m.words, ${ANY_ACCOUNT}, ${key}) || ' ''' || ${key}::text || 'rare' || e.n || ''':16000')::tsvector, m.word_order
    from bench_email e join bench_message m on m.n = e.m order by e.n`;
  await sql`
    insert into search_state (account_id, upto) select ${accountId}, id from bench_email order by id desc limit 1`;
  await sql`
    update folders set total = ${count}, uidnext = ${count + 1},
      unread = (select count(*) from emails where account_id = ${accountId} and flags & 1 = 0)
    where account_id = ${accountId} and role = 'inbox'`;
  await sql`drop table bench_email`;
}

/** A rank below VOCABULARY; the first ones often, as words are. The same for the same `i`. */
export function zipf(i: number): number {
  const random = ((Math.imul(i + 1, 2_654_435_761) >>> 0) % 1_000_003) / 1_000_003;
  return Math.floor(VOCABULARY ** random) - 1;
}
