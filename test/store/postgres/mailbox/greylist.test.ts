// Tests the greylist in a real database, which all nodes share: a retry after a minute makes its network and domains known, and nobody fills
// the list.

import { connect, type Sql } from '../../../../src/store/postgres/driver/client.js';
import { postgresGreylist } from '../../../../src/store/postgres/mailbox/greylist.js';
import {
  GREYLIST_DELAY_MS,
  GREYLIST_KNOWN_MS,
  GREYLIST_WINDOW_MS,
  type GreylistedMail,
  MOST_KNOWN_OF_NETWORK,
  MOST_WAITING_OF_NETWORK,
} from '../../../../src/store/traces/greylist.js';
import { migratedDatabase } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';

let sql: Sql;
let drop: () => Promise<void>;

test.before(async () => {
  const database = await migratedDatabase();
  sql = connect(database.address, { max: 4, applicationName: 'test' });
  drop = database.drop;
});

test.after.always(async () => {
  await sql?.end();
  await drop?.();
});

const mailFrom = (network: string, more: Partial<GreylistedMail> = {}): GreylistedMail => ({
  network,
  domains: [],
  sender: 'a@peer.test',
  recipients: ['ann@example.test'],
  ...more,
});

/** Lets time pass for what waits of a network. */
async function age(network: string, ms: number): Promise<void> {
  await sql`
    update greylist_waiting set first_at = first_at - ${ms} * interval '1 millisecond' where network = ${network}`;
}

test('the first try waits, and so does one that comes too early; a retry passes, and its network is known for 35 days', async (t) => {
  const [greylist, network] = [postgresGreylist(sql), '192.0.2.0/24'];
  const other = postgresGreylist(sql);
  const mail = mailFrom(network, { recipients: ['ann@example.test', 'Bob@example.test'] });
  t.is(await greylist.ask(mail), 'waiting');
  t.is(await other.ask(mail), 'waiting');
  await age(network, GREYLIST_DELAY_MS);
  // Another sender or recipient is no retry.
  t.is(await greylist.ask({ ...mail, sender: 'b@peer.test' }), 'waiting');
  t.is(await greylist.ask({ ...mail, recipients: ['ann@example.test', 'carl@example.test'] }), 'waiting');
  t.is(await other.ask({ ...mail, sender: 'A@Peer.test' }), 'retried');
  t.is(await greylist.ask(mailFrom(network, { sender: 'somebody@else.test' })), 'known');
  t.is(await greylist.ask(mailFrom('198.51.100.0/24')), 'waiting');
  const gone = GREYLIST_KNOWN_MS - 3_600_000;
  await sql`
    update greylist_known set expires_at = expires_at - ${gone} * interval '1 millisecond' where source = ${network}`;
  // Mail keeps it known.
  t.is(await greylist.ask(mail), 'known');
  const [row] = await sql<{ days: number }[]>`
    select round(extract(epoch from expires_at - now()) / 86400)::integer as days
    from greylist_known where source = ${network}`;
  t.is(row!.days, 35);
  await sql`update greylist_known set expires_at = now() where source = ${network}`;
  t.is(await greylist.ask(mailFrom(network, { sender: 'c@peer.test' })), 'waiting');
  const [stored] = await sql<{ text: string }[]>`select string_agg(w::text, ' ') as text from greylist_waiting w`;
  t.notRegex(stored!.text, /example|peer/);
});

test('a domain that passes stands for its servers: the retry may come from another network, and others are known then', async (t) => {
  const greylist = postgresGreylist(sql);
  const domains = ['big.test', 'lists.big.test'];
  t.is(await greylist.ask(mailFrom('203.0.113.0/24', { domains })), 'waiting');
  await age('203.0.113.0/24', GREYLIST_DELAY_MS);
  t.is(await greylist.ask(mailFrom('203.0.112.0/24', { domains: domains.toReversed() })), 'retried');
  t.is(await greylist.ask(mailFrom('203.0.111.0/24', { domains: ['lists.big.test'], sender: 'x@y.test' })), 'known');
  t.is(await greylist.ask(mailFrom('203.0.111.0/24', { sender: 'x@y.test' })), 'waiting');
  t.is(await greylist.ask(mailFrom('203.0.112.0/24', { sender: 'x@y.test' })), 'known');
});

test('a retry after a day is a first try', async (t) => {
  const [greylist, network] = [postgresGreylist(sql), '192.0.1.0/24'];
  t.is(await greylist.ask(mailFrom(network)), 'waiting');
  await age(network, GREYLIST_WINDOW_MS + 1_000);
  t.is(await greylist.ask(mailFrom(network)), 'waiting');
  await age(network, GREYLIST_DELAY_MS);
  t.is(await greylist.ask(mailFrom(network)), 'retried');
});

test('a network fills its share alone; what it has noted can still pass', async (t) => {
  const [greylist, network] = [postgresGreylist(sql), '198.18.1.0/24'];
  const first = mailFrom(network);
  t.is(await greylist.ask(first), 'waiting');
  const recipients = Array.from({ length: MOST_WAITING_OF_NETWORK - 1 }, (_, i) => `r${i}@example.test`);
  t.is(await greylist.ask(mailFrom(network, { recipients })), 'waiting');
  t.is(await greylist.ask(mailFrom(network, { sender: 'b@peer.test' })), 'full');
  t.is(await greylist.ask(mailFrom('198.18.2.0/24', { sender: 'b@peer.test' })), 'waiting');
  t.is(await greylist.ask(first), 'waiting');
  await age(network, GREYLIST_DELAY_MS);
  t.is(await greylist.ask(first), 'retried');
});

test('a network makes few domains known', async (t) => {
  const [greylist, network] = [postgresGreylist(sql), '198.18.3.0/24'];
  await sql`
    insert into greylist_known (source, network, expires_at)
    select 'd' || n || '.test', ${network}, now() + interval '1 day' from generate_series(1, ${MOST_KNOWN_OF_NETWORK}) n`;
  t.is(await greylist.ask(mailFrom(network, { domains: ['new.test'] })), 'waiting');
  await age(network, GREYLIST_DELAY_MS);
  t.is(await greylist.ask(mailFrom(network, { domains: ['new.test'] })), 'retried');
  t.is(await greylist.ask(mailFrom('198.18.4.0/24', { domains: ['new.test'] })), 'waiting');
  t.is(await greylist.ask(mailFrom(network)), 'known');
});

test('what is too old is pruned', async (t) => {
  const [greylist, network] = [postgresGreylist(sql), '198.18.5.0/24'];
  await greylist.ask(mailFrom(network, { recipients: ['old@example.test'] }));
  await age(network, GREYLIST_WINDOW_MS + 1_000);
  await greylist.ask(mailFrom(network, { recipients: ['new@example.test'] }));
  await sql`
    insert into greylist_known (source, network, expires_at) values ('198.18.6.0/24', '198.18.6.0/24', now() - interval '1 s')`;
  t.true((await greylist.prune()) >= 2);
  const [waiting] = await sql`select count(*)::integer as count from greylist_waiting where network = ${network}`;
  t.is(waiting!['count'], 1);
  const [known] = await sql`select count(*)::integer as count from greylist_known where source = '198.18.6.0/24'`;
  t.is(known!['count'], 0);
});

test('tries at one time with the same recipients in any order do not wait for each other', async (t) => {
  const greylist = postgresGreylist(sql);
  const recipients = Array.from({ length: 50 }, (_, i) => `r${i}@example.test`);
  const tries = Array.from({ length: 16 }, (_, i) =>
    greylist.ask(mailFrom('198.18.7.0/24', { recipients: i % 2 === 0 ? recipients : recipients.toReversed() })),
  );
  t.deepEqual(new Set(await Promise.all(tries)), new Set(['waiting']));
});
