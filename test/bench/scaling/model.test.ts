// Tests the rules of the model: accounts are limited by the part that is full first.
import type { Constants } from '../../../bench/scaling/constants.js';
import { heartbeatCost } from '../../../bench/scaling/constants.js';
import { CONSTANTS, PROFILE } from '../../../bench/scaling/measured.js';
import { type Cluster, capacityOf, FULL, messageCost, type Profile, perSecond } from '../../../bench/scaling/model.js';
import test from '../../support/test.js';

const part = (node: number, database: number, nats: number) => ({ node, database, nats });

const SIMPLE: Constants = {
  ...CONSTANTS,
  heartbeats: [{ nodes: 1, node: 0, database: 0 }],
  idle: { node: 0, database: 0 },
  ping: { node: 0, nats: 0 },
  operations: { list: { owner: part(100, 50, 0), other: part(300, 50, 40) } },
};
/** One list per second and account. */
const LISTS: Profile = { ...PROFILE, perHour: { list: 3_600 }, visitsPerHour: 0 };
const CLUSTER: Cluster = { nodes: 1, databaseCores: 16, natsCores: 4, logOctets: 1e9, nodeMemory: 2 ** 40 };

test('an account takes what its operations take, here and at other nodes', (t) => {
  t.deepEqual(perSecond(SIMPLE, LISTS, 0), part(100, 50, 0));
  t.deepEqual(perSecond(SIMPLE, LISTS, 1), part(300, 50, 40));
  t.deepEqual(perSecond(SIMPLE, LISTS, 0.5), part(200, 50, 20));
  t.throws(() => perSecond(SIMPLE, { ...LISTS, perHour: { lists: 1 } }, 0), {
    message: /no operation lists; there are list/,
  });
});

test('the part that is full first is the bound', (t) => {
  const alone = capacityOf(SIMPLE, LISTS, CLUSTER);
  t.is(alone.bound, 'nodes');
  t.is(alone.accounts.nodes, (FULL * 1e6) / 100);
  t.is(alone.accounts.NATS, Number.POSITIVE_INFINITY);
  const large = capacityOf(SIMPLE, LISTS, { ...CLUSTER, nodes: 1_000 });
  t.is(large.bound, 'NATS');
  t.is(capacityOf(SIMPLE, LISTS, { ...CLUSTER, nodes: 1_000, natsCores: 1e3 }).bound, 'database');
  t.is(capacityOf(SIMPLE, LISTS, { ...CLUSTER, nodeMemory: SIMPLE.octets.node }).bound, 'memory');
  t.is(
    capacityOf(SIMPLE, { ...PROFILE, perHour: { message: 10 } }, { ...CLUSTER, nodes: 3, logOctets: 1_000 }).bound,
    'log',
  );
});
test('mailboxes that do not fit in memory are loaded when they are visited', (t) => {
  const load = { base: { node: 0, database: 0 }, eachEmail: { node: 0, database: 1 } };
  const constants = {
    ...SIMPLE,
    load,
    octets: { ...SIMPLE.octets, mailbox: 0, emailOfMailbox: 40, loadedMailboxes: 4e6 },
  };
  const visits = { ...LISTS, perHour: {}, emails: 1_000, visitsPerHour: 3_600 };
  // 100 mailboxes fit. Of 1,000 nine in ten are loaded, for 1 ms each, once per second: with 0.9 of a core.
  const cores = { ...CLUSTER, databaseCores: 0.9 / FULL };
  t.is(capacityOf(constants, visits, cores).accounts.database, 1_000);
  t.is(capacityOf(constants, visits, { ...cores, nodes: 2 }).accounts.database, 1_100);
  t.is(capacityOf(constants, { ...visits, visitsPerHour: 0 }, cores).accounts.database, Number.POSITIVE_INFINITY);
});

test('heartbeats leave less for accounts, and nothing when they fill a part', (t) => {
  const heartbeats = [
    { nodes: 1, node: 0, database: 1_000 },
    { nodes: 101, node: 0, database: 101_000 },
  ];
  t.deepEqual(heartbeatCost({ ...SIMPLE, heartbeats, ping: { node: 3, nats: 2 } }, 51), part(150, 51_000, 100));
  const at = (nodes: number) => capacityOf({ ...SIMPLE, heartbeats }, LISTS, { ...CLUSTER, nodes, natsCores: 1e4 });
  t.true(at(51).accounts.database < at(1).accounts.database);
  t.true(at(101).heartbeats.database > 0.6);
  t.is(
    capacityOf({ ...SIMPLE, heartbeats }, LISTS, { ...CLUSTER, nodes: 101, databaseCores: 10 }).accounts.database,
    0,
  );
});

test('a message takes its share of a statement, and more at another node', (t) => {
  const { owner, other } = messageCost(CONSTANTS, 1);
  const shared = messageCost(CONSTANTS, 100);
  t.true(shared.owner.node < owner.node && shared.owner.database < owner.database);
  t.true(other.node >= owner.node && other.nats > 0);
});
