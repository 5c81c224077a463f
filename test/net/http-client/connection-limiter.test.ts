// Tests who gets the next connection: both the host and the share of the account must have room.
import { setMaxListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { SemaphoreFull } from '../../../src/concurrency/fair-semaphore.js';
import { ConnectionLimiter } from '../../../src/net/http-client/connection-limiter.js';
import { DEFAULT_HTTP_LIMITS } from '../../../src/net/http-client/limits.js';
import test from '../../support/test.js';
import { clientOf, dnsOf, OK, peer } from './peers.js';

const limiterOf = (limits = {}) => new ConnectionLimiter({ ...DEFAULT_HTTP_LIMITS, ...limits });

/** Says whether a request gets a connection without waiting. */
async function isServed(limiter: ConnectionLimiter, accountId: string, host: string): Promise<boolean> {
  const controller = new AbortController();
  const asked = limiter.acquire(accountId, host, controller.signal).then(
    (permit) => {
      permit.release();
      return true;
    },
    () => false,
  );
  await nextTurn();
  controller.abort();
  return asked;
}

test('33 accounts with 8 slow hosts each leave connections for the next accounts', async (t) => {
  for (const connections of [128, 256]) {
    const limiter = limiterOf({ connections });
    const permits: { release(): void }[] = [];
    for (let i = 0; i < 33 * 8; i++) {
      limiter.acquire(`a${i % 33}`, `h${i}`).then((permit) => permits.push(permit));
    }
    await nextTurn();
    for (let i = 0; i < 5; i++) t.true(await isServed(limiter, `next${i}`, `n${i}`), `${connections}`);
    const before = permits.length;
    t.true(before < connections && before >= connections / 2, `${before}`);
    for (let i = 0; i < permits.length; i++) permits[i]!.release();
    await nextTurn();
    for (let i = before; i < permits.length; i++) permits[i]!.release();
    await nextTurn();
    t.true(permits.length > before);
  }
});

test('a request that waits for the share of its account holds no place at its host', async (t) => {
  // The share is 1/16 of the free connections, little more than one: account a holds two and has to wait.
  const limiter = limiterOf({ connections: 20, connectionsPerHost: 2 });
  const slow = await Promise.all(['slow1', 'slow2'].map((host) => limiter.acquire('a', host)));
  for (let i = 0; i < 5; i++) void limiter.acquire('a', 'shared').then((permit) => permit.release());
  await nextTurn();
  t.true(await isServed(limiter, 'b', 'shared'));
  t.true(await isServed(limiter, 'c', 'shared'));
  for (const permit of slow) permit.release();
});

test('a host has its share, accounts that wait for it are served in turn, and those who leave are forgotten', async (t) => {
  const limiter = limiterOf({ connectionsPerHost: 1, waiting: 6, waitingPerHost: 5 });
  const served: string[] = [];
  const first = await limiter.acquire('z', 'h');
  const controller = new AbortController();
  const ask = (name: string, signal?: AbortSignal) =>
    limiter.acquire(name[0]!, 'h', signal).then((permit) => {
      served.push(name);
      permit.release();
    });
  const waiting = [ask('a1'), ask('a2'), ask('a3'), ask('b1')];
  const leaving = ask('b0', controller.signal);
  await t.throwsAsync(limiter.acquire('c', 'h'), { instanceOf: SemaphoreFull });
  controller.abort(new Error('gone'));
  await t.throwsAsync(leaving, { message: 'gone' });
  t.true(await isServed(limiter, 'c', 'other'));
  first.release();
  await Promise.all(waiting);
  t.deepEqual(served, ['a1', 'b1', 'a2', 'a3']);
  t.true(await isServed(limiter, 'c', 'h'));
});

test('bounds hold, and everybody is served once others end', async (t) => {
  const request = fc.record({
    account: fc.constantFrom('a', 'b', 'c'),
    host: fc.constantFrom('h', 'i'),
    ends: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(request, { maxLength: 30 }), async (requests) => {
      const limiter = limiterOf({ connections: 4, connectionsPerHost: 2 });
      const held = new Map<string, number>();
      const releases: (() => void)[] = [];
      let served = 0;
      for (const { account, host, ends } of requests) {
        void limiter.acquire(account, host).then((permit) => {
          served++;
          held.set(host, (held.get(host) ?? 0) + 1);
          releases.push(() => {
            held.set(host, held.get(host)! - 1);
            permit.release();
          });
        });
        await nextTurn();
        t.true([...held.values()].every((count) => count <= 2));
        if (ends) releases.shift()?.();
      }
      await nextTurn();
      while (releases.length > 0) {
        releases.shift()!();
        await nextTurn();
      }
      t.is(served, requests.length);
    }),
  );
});

test('peers that do not answer make no other account wait', async (t) => {
  const silent = await peer(t, () => {});
  const quick = await peer(t, (socket) => socket.end(OK));
  const names = Array.from({ length: 33 * 8 + 1 }, (_, i) => `h${i}.test`);
  const dns = dnsOf(Object.fromEntries(names.map((name) => [name, { A: ['127.0.0.1'] }])));
  const client = clientOf(t, { dns });
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const post = (accountId: string, url: string) =>
    client.post({ accountId, url, headers: {}, body: '{}', signal: controller.signal });
  const hanging = names.slice(1).map((name, i) => post(`a${i % 33}`, `http://${name}:${silent.port}/`));
  let ended = 0;
  for (const request of hanging) void request.then(() => ended++);
  while (silent.open < 150) await nextTurn();
  t.like(await post('another', `http://${names[0]}:${quick.port}/`), { status: 200 });
  t.is(ended, 0, 'no request had to end for it');
  controller.abort();
  t.true((await Promise.all(hanging)).every((outcome) => 'failure' in outcome && outcome.failure === 'aborted'));
});
