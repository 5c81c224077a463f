// Tests the DNS block lists against a DNS server: which clients they have, and that a list without an answer delays nobody for long.
import type { ExecutionContext } from 'ava';
import { startDnsServer, type Zone } from '../../../dev/servers/dns-server.js';
import { type BlockList, BlockLists, shownZone } from '../../../src/message-checks/clients/block-lists.js';
import { patientDns } from '../../support/peers/patient-dns.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';
import { silent } from '../mailauth/peers.js';

const REFUSE: BlockList = { zone: 'bl.test', action: 'refuse' };
const JUNK: BlockList = { zone: 'junk.test', action: 'junk' };
const LISTED = '192.0.2.9';

/** Without `answerMs` no answer is late, however slow the machine is. */
async function start(t: ExecutionContext, zones: Record<string, Zone>, lists = [REFUSE, JUNK], answerMs = 60_000) {
  const dns = await startDnsServer(zones);
  const ended = new AbortController();
  // What the server has not answered keeps no process alive.
  t.teardown(() => {
    ended.abort();
    return dns.close();
  });
  const counted: string[] = [];
  const resolver = patientDns(dns, { signal: ended.signal });
  const blockLists = new BlockLists({
    lists,
    dns: resolver,
    log: silent,
    meter: { looked: (list, outcome) => void counted.push(`${list} ${outcome}`) },
    answerMs,
  });
  return { dns, counted, blockLists };
}

test('a client that a list has is refused with its zone, or only found, and is looked up once', async (t) => {
  const listedSixth = `2.${'0.'.repeat(15)}1.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.bl.test`;
  const { blockLists, dns, counted } = await start(t, {
    '9.2.0.192.bl.test': { A: ['127.0.0.2'] },
    '9.2.0.192.junk.test': { A: ['127.0.0.4'] },
    '8.2.0.192.junk.test': { A: ['127.0.0.4'] },
    [listedSixth]: { A: ['127.0.0.2'] },
  });
  const refusal = {
    verdict: 'refuse',
    reply: 'The address of this client is in the block list bl.test',
    code: 554,
    by: 'dnsbl',
  } as const;
  t.deepEqual(await blockLists.refusalOf(LISTED), refusal);
  t.deepEqual(await blockLists.refusalOf('::ffff:192.0.2.9'), refusal);
  t.deepEqual(await blockLists.listing(LISTED), [REFUSE, JUNK]);
  t.is(dns.asked.length, 2);
  t.deepEqual(counted.sort(), ['bl.test listed', 'junk.test listed']);
  t.is(await blockLists.refusalOf('192.0.2.8'), undefined);
  t.deepEqual(await blockLists.listing('192.0.2.8'), [JUNK]);
  t.is(await blockLists.refusalOf('192.0.2.7'), undefined);
  t.deepEqual(await blockLists.refusalOf('2001:db8:0:1::2'), refusal);
});

test('private addresses are never looked up', async (t) => {
  const { blockLists, dns } = await start(t, {});
  for (const address of ['127.0.0.2', '10.1.2.3', '192.168.0.1', '::1', 'fd00::1', 'fe80::1', '::ffff:10.0.0.1', ''])
    t.deepEqual(await blockLists.listing(address), []);
  t.deepEqual(dns.asked, []);
});

test('an error of the list and a fault are no listing, and are counted', async (t) => {
  const lists = ['refused.test', 'broken.test', 'odd.test'];
  const { blockLists, counted } = await start(
    t,
    {
      '9.2.0.192.refused.test': { A: ['127.255.255.254'] },
      '9.2.0.192.broken.test': { rcode: 'SERVFAIL' },
      '9.2.0.192.odd.test': { A: ['203.0.113.80'] },
    },
    lists.map((zone) => ({ zone, action: 'refuse' })),
  );
  t.is(await blockLists.refusalOf(LISTED), undefined);
  t.deepEqual(counted.sort(), ['broken.test failed', 'odd.test clear', 'refused.test refused']);
});

test('a list without an answer in its time is no listing, and is counted', async (t) => {
  const zones = { '9.2.0.192.bl.test': { silent: true } };
  const { blockLists, counted } = await start(t, zones, [REFUSE], 300);
  t.is(await blockLists.refusalOf(LISTED), undefined);
  t.deepEqual(counted, ['bl.test failed']);
});

test('a list that gives no answers is left alone', async (t) => {
  const zones = Object.fromEntries(
    Array.from({ length: 12 }, (_, i) => [`${i}.2.0.192.bl.test`, { rcode: 'SERVFAIL' }] as const),
  );
  const { blockLists, counted } = await start(t, zones, [REFUSE]);
  for (let i = 0; i < 12; i++) t.is(await blockLists.refusalOf(`192.0.2.${i}`), undefined);
  t.deepEqual(counted, [...Array(10).fill('bl.test failed'), 'bl.test skipped', 'bl.test skipped']);
});

test('a network that opens too many connections at once waits within its share and is deferred beyond it', async (t) => {
  const opened: (() => void)[] = [];
  const dns = {
    resolve: () => new Promise<never>((_, reject) => void opened.push(() => reject(new Error('late')))),
  };
  const lists = new BlockLists({ lists: [REFUSE], dns, log: silent, answerMs: 60_000 });
  const addresses = Array.from({ length: 111 }, (_, i) => `2001:db8::${(i + 1).toString(16)}`);
  const flood = addresses.map((address) => lists.refusalOf(address));
  const over = Promise.all(flood);
  let ended = false;
  void over.then(() => (ended = true));
  const isOver = () => ended;
  t.like(await Promise.race(flood), { verdict: 'defer', by: 'dnsbl' });
  const other = lists.refusalOf('192.0.2.1');
  await until(() => opened.length === 11);
  opened[10]!();
  t.is(await other, undefined);
  for (let i = 0; i < 10; i++) opened[i]!();
  for (let i = 11; i < 111; i++) {
    // The last ones are not looked up any more: a list that gives no answers is left alone.
    await until(() => opened.length > i || isOver());
    opened[i]?.();
  }
  t.is((await over).filter((each) => each?.verdict === 'defer').length, 1);
});

test('a name of a list that is told to clients has no key in it', (t) => {
  t.is(shownZone('abcdefghijklmnopqrstuvwxyz.zen.dq.spamhaus.net'), 'dq.spamhaus.net');
  t.is(shownZone('zen.spamhaus.org'), 'zen.spamhaus.org');
});
