// What it costs to make an email searchable, from its decoded text on: processor time of the node (words, statements) and of
// the database, and the longest time for which the event loop was held; and emails of many accounts in the background.
// `npm run bench indexing [4000] [50000] … [accounts]`: texts of so many octets, by default 4 kB, 50 kB and 256 kB; or the accounts.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { makeSearchable } from '../src/actors/mailbox/searchable-emails.js';
import { connect } from '../src/store/postgres/client.js';
import { postgresSearch } from '../src/store/postgres/search.js';
import { indexManyAccounts } from './indexing/many-accounts.js';
import { ownCpuSeconds } from './support/cpu-time.js';
import { figure } from './support/figures.js';
import { startBenchNode } from './support/node.js';
import { textOf } from './support/text.js';

const MANY = 'accounts';
const SIZES = [4_000, 50_000, 256 * 1024];
/** Of text for each size; half of it first, unmeasured. */
const OCTETS = 6_000_000;
/** As background indexing takes them. */
const PAGE = 100;

export async function run(args: readonly string[]): Promise<void> {
  const node = await startBenchNode({ MANSIO_LOG_LEVEL: 'warn' });
  try {
    const sizes = args.length > 0 ? args.filter((arg) => arg !== MANY).map(Number) : SIZES;
    const accounts = await node.createAccounts(sizes.length);
    for (const [i, size] of sizes.entries()) await measure(node.database, accounts[i]!.id, size);
    if (args.length === 0 || args.includes(MANY)) await indexManyAccounts(node, textOf);
  } finally {
    await node.stop();
  }
}

async function measure(database: Parameters<typeof connect>[0], accountId: string, size: number): Promise<void> {
  const sql = connect(database, { max: 1, applicationName: 'bench', byKey: true, wide: true });
  const store = postgresSearch(sql);
  const count = Math.max(20, Math.floor(OCTETS / size));
  await sql`
    insert into emails (account_id, id, blob, message_id, thread_id, refs, from_address, from_name, subject, preview,
      received_at, size, has_attachments, attachment_count, flags, modseq)
    select ${accountId}, ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, ''::bytea, '', ${accountId}, '{}',
      'ann@remote.test', 'Ann', 'a subject of words', '', now(), ${size}, false, 0, 0, 1 from generate_series(1, ${count}::int) n`;
  const pool = Array.from({ length: Math.min(100, count) }, (_, n) => textOf(n, size));
  let read = 0;
  const texts = {
    searchable: async (messages: readonly unknown[]) =>
      messages.map(() => ({ recipients: 'Bob bob@example.test', attachments: '', body: pool[read++ % pool.length]! })),
  };
  const { signal } = new AbortController();
  const some = async (emails: number): Promise<number> => {
    let done = 0;
    while (done < emails) {
      const page = await store.unindexed([accountId], Math.min(PAGE, emails - done));
      if (page.length === 0) break;
      await makeSearchable({ store, texts }, page, signal);
      done += page.length;
    }
    return done;
  };
  await some(Math.floor(count / 2));
  const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const held = monitorEventLoopDelay({ resolution: 1 });
  held.enable();
  const [own, databaseBefore] = [process.cpuUsage(), await ownCpuSeconds(backend!.pid)];
  const done = await some(count);
  const used = process.cpuUsage(own);
  const databaseUsed = (await ownCpuSeconds(backend!.pid)) - databaseBefore;
  held.disable();
  const kilobytes = Math.round(size / 1000);
  figure(`words of ${kilobytes} kB, node`, (used.user + used.system) / done, 'µs CPU', `${done} emails`);
  figure(`words of ${kilobytes} kB, database`, (databaseUsed * 1e6) / done, 'µs CPU');
  figure(`words of ${kilobytes} kB, event loop held at most`, held.max / 1e6, 'ms');
  await sql.end();
}
