// Tests scheduled emails on their way to their mailboxes: each is asked for when due, once, again after a fault, by accounts in turn.
import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { startReleases } from '../../../src/actors/delivery/releases.js';
import type { DeliveryMailboxes } from '../../../src/actors/mailbox/outbound/delivery-protocol.js';
import { ActorFault } from '../../../src/actors/runtime/errors.js';
import { clock } from '../../../src/store/clock.js';
import type { HeldOutbound } from '../../../src/store/outbound.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';
import { account } from './outbound-world.js';

type Ask = (held: HeldOutbound) => Promise<'released' | 'refused'>;

/** The store keeps an email until its mailbox has released it. */
function world(held: HeldOutbound[], ask: Ask, intervalMs = 5) {
  const asked: { readonly outboundId: string; readonly early: number }[] = [];
  let reads = 0;
  let fault: Error | undefined;
  const mailboxes = {
    of: (accountId: string) => ({
      async ask(_: string, { outboundId, heldUntil }: HeldOutbound) {
        asked.push({ outboundId, early: heldUntil - clock.now() });
        const answer = await ask({ accountId, outboundId, heldUntil });
        const i = held.findIndex((one) => one.outboundId === outboundId);
        held.splice(i, 1);
        return answer === 'refused' ? { refusal: 'released' } : { reply: { status: 'Sending' } };
      },
    }),
  } as unknown as DeliveryMailboxes;
  const releases = startReleases({
    store: {
      async held(_, withinMs, limit, except) {
        reads++;
        if (fault !== undefined) throw fault;
        const ranks = new Map<string, number>();
        return held
          .filter(({ outboundId, heldUntil }) => !except.includes(outboundId) && heldUntil <= clock.now() + withinMs)
          .map((one) => {
            const rank = ranks.get(one.accountId) ?? 0;
            ranks.set(one.accountId, rank + 1);
            return { one, rank };
          })
          .sort((a, b) => a.rank - b.rank)
          .slice(0, limit)
          .map(({ one }) => one);
      },
    },
    mailboxes,
    ownership: { owned: [0] },
    log: pino({ level: 'silent' }),
    intervalMs,
  });
  return {
    releases,
    asked,
    get reads() {
      return reads;
    },
    set fault(error: Error | undefined) {
      fault = error;
    },
  };
}

const email = (n: number, inMs: number): HeldOutbound => ({
  accountId: account(n),
  outboundId: randomUUID(),
  heldUntil: clock.now() + inMs,
});

test('each email is asked for once, at its time; one that was cancelled is not counted', async (t) => {
  const held = Array.from({ length: 50 }, (_, i) => email(i % 5, 4 * i));
  const cancelled = held[7]!.outboundId;
  const { releases, asked } = world(
    held,
    async ({ outboundId }) => (outboundId === cancelled ? 'refused' : 'released'),
    40,
  );
  await until(() => held.length === 0);
  await releases.stop();
  t.is(new Set(asked.map(({ outboundId }) => outboundId)).size, 50);
  t.is(asked.length, 50);
  t.true(asked.every(({ early }) => early <= 0));
  t.is(releases.released, 49);
});

test('what could not be asked, or read, is tried again; an account that is gone keeps no other waiting', async (t) => {
  const held = [email(1, 0), email(2, 0)];
  const [gone, other] = held;
  let tries = 0;
  const running = world(held, async ({ accountId }) => {
    if (accountId === gone!.accountId) throw new ActorFault('no-such-account', 'gone');
    tries++;
    if (tries < 4) throw new ActorFault('unreachable', 'away');
    return 'released';
  });
  running.fault = new Error('the store is away');
  const { reads } = running;
  await until(() => running.reads > reads + 2);
  running.fault = undefined;
  await until(() => !held.includes(other!));
  await running.releases.stop();
  t.is(tries, 4);
  t.is(running.releases.released, 1);
});

test('thousands of emails of one account delay those of another by no more than one of them', async (t) => {
  const held = [...Array.from({ length: 3_000 }, () => email(1, 0)), email(2, 0)];
  const other = held.at(-1)!.outboundId;
  const { releases, asked } = world(held, () => new Promise((resolve) => setImmediate(resolve, 'released' as const)));
  await until(() => held.length === 0);
  await releases.stop();
  t.true(asked.findIndex(({ outboundId }) => outboundId === other) < 200);
  t.is(asked.length, 3_001);
  t.is(releases.released, 3_001);
});

test('a stop waits for what was asked, and asks no more', async (t) => {
  const held = [email(1, 0), email(1, 10_000)];
  let answer = (_: 'released') => {};
  const { releases, asked } = world(held, () => new Promise((resolve) => (answer = resolve)), 20_000);
  await until(() => asked.length === 1);
  let isStopped = false;
  const stopped = releases.stop().then(() => {
    isStopped = true;
  });
  await new Promise(setImmediate);
  t.false(isStopped);
  answer('released');
  await stopped;
  t.is(asked.length, 1);
  t.is(releases.released, 1);
});
