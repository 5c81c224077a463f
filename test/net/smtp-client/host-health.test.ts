// Tests what is remembered of hosts and of address families.

import { HostHealth } from '../../../src/net/smtp-client/host-health.js';
import test from '../../support/test.js';

const SIX = ['2001:db8::1', '2001:db8::2'];
const FOUR = ['192.0.2.1'];
const ALL = [...SIX, ...FOUR];

test('families take turns, IPv6 first', (t) => {
  t.deepEqual(new HostHealth(1000).order(ALL), ['2001:db8::1', '192.0.2.1', '2001:db8::2']);
});

test('a family without a route is passed over at once, unless there is no other', (t) => {
  const known = new HostHealth(1000);
  known.unreachable(SIX[0]!, 'ENETUNREACH');
  t.deepEqual(known.order(ALL), FOUR);
  t.deepEqual(known.order(SIX), SIX);
  known.unreachable(FOUR[0]!, 'ECONNREFUSED');
  t.deepEqual(known.order(ALL), FOUR);
});

test('a family that times out is passed over after a few in a row', (t) => {
  const known = new HostHealth(1000);
  for (let i = 0; i < 2; i++) known.unreachable(SIX[0]!, 'ETIMEDOUT');
  known.connected(SIX[1]!);
  for (let i = 0; i < 2; i++) known.unreachable(SIX[0]!, 'ETIMEDOUT');
  t.is(known.order(ALL).length, 3);
  known.unreachable(SIX[0]!, 'ETIMEDOUT');
  t.deepEqual(known.order(ALL), FOUR);
});

test('a host that closes connections is left alone, longer each time, until it answers', (t) => {
  const known = new HostHealth(50_000);
  known.closing('192.0.2.1', '421 no');
  const first = known.notNow('192.0.2.1')!;
  t.like(first, { kind: 'closing', reason: '421 no' });
  t.true(first.ms > 40_000 && first.ms <= 50_000);
  known.closing('192.0.2.1', '421 still no');
  t.true(known.notNow('192.0.2.1')!.ms <= 50_000, 'failures during a back-off do not make it longer');
  t.is(known.notNow('192.0.2.2'), undefined);
  known.answered('192.0.2.1');
  t.is(known.notNow('192.0.2.1'), undefined);
});

test('a host that did not answer is left alone until it answers', (t) => {
  const known = new HostHealth(1000);
  known.silent('192.0.2.1', 'no greeting');
  t.like(known.notNow('192.0.2.1'), { kind: 'silent', reason: 'no greeting' });
  known.closing('192.0.2.1', '421 no');
  t.like(known.notNow('192.0.2.1'), { kind: 'silent' }, 'the longer of the two');
  known.answered('192.0.2.1');
  t.is(known.notNow('192.0.2.1'), undefined);
});
