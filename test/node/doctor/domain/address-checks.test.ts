// Tests reverse DNS, IPv6 and block lists of the addresses that send.
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { freePort } from '../../../../dev/ports.js';
import type { Zone } from '../../../../dev/servers/dns-server.js';
import type { DomainCheck } from '../../../../src/node/doctor/check.js';
import { blockListCheck, reverseCheck, sixthVersionCheck } from '../../../../src/node/doctor/domain/address-checks.js';
import test from '../../../support/test.js';
import { ADDRESS, DOMAIN, HOST, NODE, subjectFor } from '../subjects.js';

const REVERSE = '5.113.0.203.in-addr.arpa';

interface Teardowns {
  teardown(work: () => Promise<void>): void;
}

async function after(t: Teardowns, check: DomainCheck, zones: Readonly<Record<string, Zone>>) {
  const { subject, server, planOf } = await subjectFor(t, { more: { blockLists: ['list.test'] } });
  for (const [name, zone] of Object.entries(zones)) server.zones.set(name, zone);
  return check.run({ name: DOMAIN, plan: planOf(DOMAIN) }, subject);
}

test('reverse DNS has to lead to the host and back', async (t) => {
  const of = (zones: Readonly<Record<string, Zone>>) => after(t, reverseCheck, zones);
  const record = `${REVERSE}. IN PTR ${HOST}.`;
  t.like(await of({}), { status: 'ok', detail: `${ADDRESS} is ${HOST}, and back` });
  t.like(await of({ [REVERSE]: {} }), { status: 'fail', fix: record });
  t.like(await of({ [REVERSE]: { PTR: ['vm7.provider.net'] } }), { status: 'fail', fix: record });
  const named = { [REVERSE]: { PTR: ['vm7.provider.net'] }, 'vm7.provider.net': { A: [ADDRESS] } };
  t.like(await of(named), { status: 'warn', fix: record });
  t.like(await of({ [HOST]: {} }), {
    status: 'warn',
    detail: `DNS has no address of ${HOST}, so this cannot be checked`,
  });
  const six = { [HOST]: { A: [ADDRESS], AAAA: ['2001:db8::5'] } };
  const missing = await of(six);
  t.like(missing, { status: 'fail', fix: `5.${'0.'.repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa. IN PTR ${HOST}.` });
});

test('IPv6 that is published and not of this machine is not asked', async (t) => {
  t.like(await after(t, sixthVersionCheck, { [HOST]: { A: [ADDRESS], AAAA: ['2001:db8::5'] } }), {
    status: 'ok',
    detail: `${HOST} is 2001:db8::5`,
  });
  t.like(await after(t, sixthVersionCheck, { [HOST]: { rcode: 'SERVFAIL' } }), { status: 'warn' });
});

const hasSix = Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === '::1'));

(hasSix ? test : test.skip)('an address of IPv6 of this machine has to answer', async (t) => {
  const server = createServer((socket) => void socket.on('error', () => undefined).end('220 here\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '::1', resolve));
  t.teardown(() => void server.close());
  const of = async (port: number) => {
    const nodes = [{ ...NODE, listeners: { mx: `${HOST}:${port}` } }];
    const { subject, server: dns, planOf } = await subjectFor(t, { nodes, more: { dialMs: 20_000 } });
    dns.zones.set(HOST, { A: [ADDRESS], AAAA: ['::1'] });
    return sixthVersionCheck.run({ name: DOMAIN, plan: planOf(DOMAIN) }, subject);
  };
  t.like(await of((server.address() as AddressInfo).port), { status: 'ok', detail: `${HOST} is ::1` });
  const closed = await of(await freePort());
  t.like(closed, { status: 'fail', fix: 'MANSIO_BIND=::' });
  t.regex(closed.detail, /^::1 is published, and does not answer \(MANSIO_BIND is 127\.0\.0\.1\)/);
});

test('block lists', async (t) => {
  const at = '5.113.0.203.list.test';
  t.like(await after(t, blockListCheck, {}), { status: 'ok', detail: `${ADDRESS}: not in list.test` });
  t.like(await after(t, blockListCheck, { [at]: { A: ['127.0.0.2'] } }), { status: 'fail', fix: `dig TXT ${at}` });
  t.like(await after(t, blockListCheck, { [at]: { A: ['127.255.255.254'] } }), { status: 'warn' });
  t.like(await after(t, blockListCheck, { [at]: { rcode: 'SERVFAIL' } }), { status: 'warn' });
});
