// Tests login guards on one bus: the others soon know what one node counts, by few packets.
import { setTimeout as delay } from 'node:timers/promises';
import { LOGINS_SUBJECT } from '../../../src/actors/runtime/transport/subjects.js';
import { localTransport } from '../../../src/actors/runtime/transport/transport-local.js';
import { LoginGuard } from '../../../src/auth/login-guard.js';
import { shareLogins } from '../../../src/node/listeners/shared-logins.js';
import test from '../../support/test.js';

test('a node learns what other nodes count, and nothing twice', async (t) => {
  const transport = localTransport({ encoding: true });
  let packets = 0;
  transport.subscribe(LOGINS_SUBJECT, () => void packets++);
  const guards = ['one', 'two', 'three'].map((nodeId) => {
    const guard = new LoginGuard({ delayMs: 1, failuresPerNetwork: 100 });
    t.teardown(shareLogins({ guard, transport, nodeId, intervalMs: 5 }));
    return guard;
  });
  const [one, two, three] = guards as [LoginGuard, LoginGuard, LoginGuard];
  // The failures of a network show in its next delay.
  for (let i = 0; i < 100; i++) one.recordFailure('192.0.2.1');
  one.admit('192.0.2.1', ['alice@example.test']);
  while (packets === 0) await delay(1);
  t.is(packets, 1);
  t.like(two.refuse('192.0.2.1', ['bob@example.test']), { isLimited: true });
  t.like(three.refuse('192.0.2.1', ['alice@example.test']), { isLimited: false });
  t.like(two.refuse('192.0.2.2', []), { isLimited: false, delayMs: 1 });
  // The bus returned the first node's own packets to it.
  t.like(one.refuse('192.0.2.2', []), { delayMs: 1 });
  while (packets < 3) await delay(1);
  t.like(one.refuse('192.0.2.2', []), { delayMs: 3 });
});

test('what was counted last is published at the end', (t) => {
  const transport = localTransport();
  const [stopped, other] = [new LoginGuard(), new LoginGuard({ delayMs: 1 })];
  const ends = [
    shareLogins({ guard: stopped, transport, nodeId: 'stopped' }),
    shareLogins({ guard: other, transport, nodeId: 'other' }),
  ] as const;
  stopped.recordFailure('192.0.2.1');
  ends[0]();
  t.is(other.refuse('192.0.2.1', []).delayMs, 2);
  ends[1]();
});
