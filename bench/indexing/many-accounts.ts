// Measures emails of many accounts that wait to be made searchable, one or a few per account, as mail to mailboxes that are not in memory
// leaves them: how many emails per second the background work indexes with its pauses, and what each costs; and the same when accounts have
// waited so long that there are more rounds and fewer pauses.
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pino from 'pino';
import { startSearchIndexing } from '../../src/actors/mailbox/search/search-indexing.js';
import { indexMessage } from '../../src/mail-format/mime-index/indexer.js';
import { openEmailTexts } from '../../src/node/engine/email-texts.js';
import { connect, type Sql } from '../../src/store/postgres/driver/client.js';
import { postgresBlobs } from '../../src/store/postgres/mailbox/blobs.js';
import { postgresSearch } from '../../src/store/postgres/search/search.js';
import { fillAccounts } from '../support/cold-store.js';
import { cpuSeconds, difference } from '../support/cpu-time.js';
import { figure } from '../support/figures.js';
import type { BenchNode } from '../support/node.js';

const ACCOUNTS = 3_000;
const OCTETS = 4_000;
const LOOK_MS = 100;
/** The number that the node has. */
const CONNECTIONS = 4;

export async function indexManyAccounts(node: BenchNode, textOf: (n: number, size: number) => string): Promise<void> {
  const sql = connect(node.database, { max: CONNECTIONS, applicationName: 'bench', byKey: true, wide: true });
  const looking = connect(node.database, { max: 1, applicationName: 'bench' });
  await fillAccounts(looking, 'many.test', ACCOUNTS);
  const emails = await ownMessages(looking, textOf);
  const texts = openEmailTexts(postgresBlobs(sql));
  const store = postgresSearch(sql);
  const half = Math.ceil(emails.length / 2);
  const halves = [
    { how: 'in the background', some: emails.slice(0, half), behindMs: Number.POSITIVE_INFINITY },
    { how: 'the same, of accounts that have waited for long', some: emails.slice(half), behindMs: -1 },
  ];
  const roots = { database: [node.databasePid] };
  let done = 0;
  for (const { how, some, behindMs } of halves) {
    const indexing = startSearchIndexing({ store, texts, log: pino({ level: 'warn' }), quietMs: 1, behindMs });
    const [before, own, began] = [await cpuSeconds(roots), process.cpuUsage(), performance.now()];
    for (const { account_id, id } of some) indexing.note(account_id, id);
    done += some.length;
    while ((await searchable(looking)) < done) await pause(LOOK_MS);
    const seconds = (performance.now() - began) / 1000;
    const used = process.cpuUsage(own);
    const { database } = difference(await cpuSeconds(roots), before);
    figure(`${how}, ${some.length} accounts of one email`, some.length / seconds, 'emails/s');
    figure('  an email, node', (used.user + used.system) / some.length, 'µs CPU');
    figure('  an email, database', (database / some.length) * 1e6, 'µs CPU');
    await indexing.stop();
  }
  await texts.close();
  await Promise.all([sql.end(), looking.end()]);
}

/** Gives each email its own message. */
async function ownMessages(sql: Sql, textOf: (n: number, size: number) => string) {
  const emails = await sql<{ account_id: string; id: string }[]>`
    select e.account_id, e.id from emails e join addresses a on a.account_id = e.account_id where a.domain = 'many.test'`;
  for (const [n, { account_id, id }] of emails.entries()) {
    const raw = Buffer.from(
      `From: Ann <ann@remote.test>\r\nTo: Bob <bob@many.test>\r\nSubject: First\r\nX: ${n}\r\n\r\n${textOf(n, OCTETS)}\r\n`,
    );
    const hash = createHash('sha256').update(raw).digest();
    await sql`
      with blob as (
        insert into blobs (hash, size, mime_index)
        values (${hash}, ${raw.length}, ${JSON.stringify(indexMessage(raw))}::text::json)
      ), chunk as (
        insert into blob_chunks (hash, seq, data) values (${hash}, 0, ${raw})
      )
      update emails set blob = ${hash}, size = ${raw.length} where account_id = ${account_id} and id = ${id}`;
  }
  return emails;
}

async function searchable(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from search_state s join addresses a on a.account_id = s.account_id
    where a.domain = 'many.test'`;
  return row!.count;
}
