// Measures what it costs to make an email searchable, from its decoded text on: processor time of the node (words, statements) and of the
// database, and the longest time for which the event loop was blocked; the cost of the merges that become due; and emails of many accounts
// in the background. `npm run bench indexing [4000] [50000] … [accounts]`: the texts' sizes in octets, by default 4 kB, 50 kB and 256 kB;
// or the accounts.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { makeSearchable } from '../src/actors/mailbox/search/searchable-emails.js';
import { connect } from '../src/store/postgres/driver/client.js';
import { postgresSearch } from '../src/store/postgres/search/search.js';
import { indexManyAccounts } from './indexing/many-accounts.js';
import { ownCpuSeconds } from './support/cpu-time.js';
import { figure } from './support/figures.js';
import { startBenchNode } from './support/node.js';
import { textOf } from './support/text.js';

const MANY = 'accounts';
const SIZES = [4_000, 50_000, 256 * 1024];
/** The octets of text for each size; half as much is indexed first, unmeasured. */
const OCTETS = 6_000_000;
/** The page sizes of background indexing: for an account that has many emails, and for one that gets one at a time. */
const PAGES = [100, 1];
const PUTS_A_MERGE = 16;

export async function run(args: readonly string[]): Promise<void> {
  const node = await startBenchNode({ MANSIO_LOG_LEVEL: 'warn' });
  try {
    const sizes = args.length > 0 ? args.filter((arg) => arg !== MANY).map(Number) : SIZES;
    for (const size of sizes) {
      const accounts = await node.createAccounts(PAGES.length);
      for (const [i, page] of PAGES.entries()) await measure(node.database, accounts[i]!.id, size, page);
    }
    if (args.length === 0 || args.includes(MANY)) await indexManyAccounts(node, textOf);
  } finally {
    await node.stop();
  }
}

async function measure(
  database: Parameters<typeof connect>[0],
  accountId: string,
  size: number,
  pageSize: number,
): Promise<void> {
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
  const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const costs = { indexing: { node: 0, database: 0 }, merging: { node: 0, database: 0 } };
  const counted = async <T>(cost: { node: number; database: number }, work: () => Promise<T>): Promise<T> => {
    const [own, databaseBefore] = [process.cpuUsage(), await ownCpuSeconds(backend!.pid)];
    const result = await work();
    const { user, system } = process.cpuUsage(own);
    cost.node += user + system;
    cost.database += ((await ownCpuSeconds(backend!.pid)) - databaseBefore) * 1e6;
    return result;
  };
  const page = async (emails: number): Promise<number> => {
    const some = await store.unindexed([accountId], Math.min(pageSize, emails));
    await makeSearchable({ store, texts }, some, signal);
    return some.length;
  };
  const pages = async (emails: number): Promise<number> => {
    let done = 0;
    for (let i = 0; i < PUTS_A_MERGE && done < emails; i++) done += await page(emails - done);
    return done;
  };
  const merged = async (): Promise<void> => {
    for (let more = true; more; ) ({ mayBeMore: more } = await store.merge(accountId, { signal }));
  };
  const some = async (emails: number): Promise<void> => {
    for (let done = 0; done < emails; ) {
      done += await counted(costs.indexing, () => pages(emails - done));
      await counted(costs.merging, merged);
    }
  };
  await some(Math.floor(count / 2));
  for (const cost of Object.values(costs)) Object.assign(cost, { node: 0, database: 0 });
  const held = monitorEventLoopDelay({ resolution: 1 });
  held.enable();
  const done = Math.ceil(count / 2);
  await some(done);
  held.disable();
  const { indexing, merging } = costs;
  const name = `words of ${Math.round(size / 1000)} kB, ${pageSize} at a time`;
  figure(
    `${name}, node`,
    indexing.node / done,
    'µs CPU',
    `${done} emails; merges ${(merging.node / done).toFixed(0)} µs more`,
  );
  figure(
    `${name}, database`,
    indexing.database / done,
    'µs CPU',
    `merges ${(merging.database / done).toFixed(0)} µs more`,
  );
  figure(`${name}, event loop held at most`, held.max / 1e6, 'ms');
  await sql.end();
}
