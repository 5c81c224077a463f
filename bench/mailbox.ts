// Measures one mailbox of 100,000 emails over REST: list page 1 and page 500, detail, mark read; then its loading from the store, and the
// memory that each of its emails takes.
import { loadMailbox } from '../src/actors/mailbox/state/state.js';
import { idSource } from '../src/store/ids/new-id.js';
import { connect } from '../src/store/postgres/driver/client.js';
import { postgresMailboxes } from '../src/store/postgres/mailbox/mailboxes.js';
import { figure, latency } from './support/figures.js';
import { type BenchNode, startBenchNode } from './support/node.js';
import { SmtpSender } from './support/smtp-load.js';

const EMAILS = 100_000;
const SAMPLES = 200;
const LOADS = 20;

export async function run(): Promise<void> {
  const node = await startBenchNode({ MANSIO_LOG_LEVEL: 'warn' });
  try {
    const [account] = await node.createAccounts(1);
    const key = await node.createKey(account!.id);
    await fill(node, account!.id, account!.email);
    await measureLoading(node, account!.id);
    const base = `http://127.0.0.1:${node.port('http')}/api/emails`;
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const get = async (path: string) => {
      const response = await fetch(base + path, { headers });
      if (!response.ok) throw new Error(`${path}: ${response.status}`);
      return (await response.json()) as { items: { id: string; isRead: boolean }[]; totalCount: number };
    };
    const ids: string[] = [];
    for (let page = 1; page <= 10; page++)
      ids.push(...(await get(`?page=${page}&pageSize=100`)).items.map(({ id }) => id));
    await timed('list, page 1 of 20', () => get(''));
    await timed('list, page 500 of 20', () => get('?page=500'));
    await timed('list, last page of 20', () => get('?page=5000'));
    await timed('detail', (i) => get(`/${ids[i % ids.length]}`));
    await timed('mark read', async (i) => {
      const body = JSON.stringify({ isRead: i % 2 === 0 });
      const response = await fetch(`${base}/${ids[i % ids.length]}`, { method: 'PATCH', headers, body });
      if (response.status !== 204) throw new Error(`mark read: ${response.status}`);
    });
  } finally {
    await node.stop();
  }
}

async function timed(name: string, call: (i: number) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < 20; i++) await call(i);
  const samples: number[] = [];
  for (let i = 0; i < SAMPLES; i++) {
    const started = performance.now();
    await call(i);
    samples.push(performance.now() - started);
  }
  latency(name, samples);
}

/** Loads the mailbox as its actor does, with the epoch of its owner. */
async function measureLoading(node: BenchNode, accountId: string): Promise<void> {
  const sql = connect(node.database, { max: 4, applicationName: 'bench' });
  const store = postgresMailboxes(sql, sql);
  const [row] = await sql<[{ epoch: string }]>`select epoch from accounts where id = ${accountId}`;
  const samples: number[] = [];
  for (let i = 0; i < LOADS; i++) {
    const started = performance.now();
    const loaded = await loadMailbox(store, accountId, Number(row.epoch));
    samples.push(performance.now() - started);
    if (loaded.kind !== 'loaded') throw new Error(`the mailbox could not be loaded: ${loaded.kind}`);
    if (i === 0) figure('bytes an email in memory', loaded.state.octets / loaded.state.emails.size, 'octets');
  }
  latency(`load ${EMAILS} emails`, samples);
  await sql.end();
}

/** Delivers one real message by SMTP and copies its row: only the mailbox's size matters here. */
async function fill(node: BenchNode, accountId: string, email: string): Promise<void> {
  const sender = await SmtpSender.open('127.0.0.1', node.port('mx'));
  const message = `From: a@remote.test\r\nTo: ${email}\r\nSubject: one of many\r\n\r\n${'some text\r\n'.repeat(300)}.\r\n`;
  await sender.send('a@remote.test', [email], message);
  sender.close();
  const sql = connect(node.database, { max: 1, applicationName: 'bench' });
  const ids: string[] = [];
  const start = Date.now() + 1000;
  let ms = start;
  const idOfNextMs = idSource(() => ++ms);
  for (let i = 1; i < EMAILS; i++) ids.push(idOfNextMs());
  for (let from = 0; from < ids.length; from += 10_000) {
    const page = ids.slice(from, from + 10_000);
    await sql`
      with one as (select * from emails where account_id = ${accountId} order by id limit 1),
      inbox as (select id from folders where account_id = ${accountId} and role = 'inbox'),
      added as (
        insert into emails select account_id, x.id, blob, message_id, gen_random_uuid(), in_reply_to, refs, from_address,
          from_name, subject || ' ' || x.n, preview, received_at + x.n * interval '1 second', size, has_attachments,
          attachment_count, flags, keywords, modseq
        from one, unnest(${page}::uuid[]) with ordinality as x (id, n))
      insert into placements (account_id, folder_id, uid, email_id, modseq)
      select ${accountId}, inbox.id, ${from} + x.n + 1, x.id, 2
      from inbox, unnest(${page}::uuid[]) with ordinality as x (id, n)`;
  }
  await sql`
    update folders set total = ${EMAILS}, unread = ${EMAILS}, uidnext = ${EMAILS + 1}
    where account_id = ${accountId} and role = 'inbox'`;
  // The actor's next commit finds another modseq, so it loads the mailbox again.
  await sql`update accounts set modseq = modseq + 1 where id = ${accountId}`;
  await sql`vacuum analyze emails, placements`;
  await sql.end();
  const again = await SmtpSender.open('127.0.0.1', node.port('mx'));
  const started = performance.now();
  await again.send('a@remote.test', [email], message.replace('one of many', 'the last'));
  figure(`delivery that has to load ${EMAILS} emails first`, performance.now() - started, 'ms');
  again.close();
}
