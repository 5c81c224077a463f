// Tests the semaphore: limits hold, holders are served in turn, none starves, and a request that leaves the queue leaves no trace.
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { FairSemaphore, SemaphoreFull } from '../../src/concurrency/fair-semaphore.js';
import type { Reservation } from '../../src/concurrency/keyed-limiter.js';
import { runs } from '../support/amounts.js';
import test from '../support/test.js';

/** Acquires for requests, each named by its holder and a number, and records which were served. */
class Users {
  readonly semaphore: FairSemaphore;
  readonly served: string[] = [];
  readonly permits = new Map<string, Reservation>();

  constructor(semaphore: FairSemaphore) {
    this.semaphore = semaphore;
  }

  ask(name: string, weight = 1): void {
    this.semaphore.acquire(name[0]!, { weight }).then((permit) => {
      this.served.push(name);
      this.permits.set(name, permit);
    });
  }

  async end(name: string): Promise<void> {
    this.permits.get(name)!.release();
    await nextTurn();
  }

  /** Ends all requests in the order in which they were served. */
  async endAll(): Promise<void> {
    await nextTurn();
    for (let i = 0; i < this.served.length; i++) await this.end(this.served[i]!);
  }
}

test('holders are served round robin, the one that was served last after the others', async (t) => {
  const users = new Users(new FairSemaphore({ total: 1 }));
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) users.ask(name);
  await users.endAll();
  t.deepEqual(users.served, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
});

test('who waits is served though others come again and again', async (t) => {
  const users = new Users(new FairSemaphore({ total: 1 }));
  for (const name of ['a1', 'a2', 'b0']) users.ask(name);
  await nextTurn();
  for (const next of ['c0', 'd0', 'e0', 'f0']) {
    users.ask(next);
    await users.end(users.served.at(-1)!);
  }
  t.deepEqual(users.served, ['a1', 'b0', 'c0', 'a2', 'd0']);
});

test('a heavy request is served though light ones come again and again', async (t) => {
  const users = new Users(new FairSemaphore({ total: 3 }));
  users.ask('a1');
  users.ask('b1', 3);
  users.ask('c1');
  await nextTurn();
  t.deepEqual(users.served, ['a1'], 'what is free is kept for the one whose turn is next');
  await users.endAll();
  t.deepEqual(users.served, ['a1', 'b1', 'c1']);
});

test('a holder that has its share keeps nobody waiting, and a weight beyond the share counts as the share', async (t) => {
  const users = new Users(new FairSemaphore({ total: 4, share: 2 }));
  users.ask('a1', 9);
  users.ask('a2');
  users.ask('b1', 2);
  await nextTurn();
  t.deepEqual(users.served, ['a1', 'b1']);
  await users.end('b1');
  t.deepEqual(users.served, ['a1', 'b1']);
  await users.end('a1');
  t.deepEqual(users.served, ['a1', 'b1', 'a2']);
});

test('a permit that is released twice is one permit', async (t) => {
  const users = new Users(new FairSemaphore({ total: 1 }));
  for (const name of ['a1', 'b1', 'c1']) users.ask(name);
  await nextTurn();
  await users.end('a1');
  await users.end('a1');
  t.deepEqual(users.served, ['a1', 'b1']);
});

test('as many wait as may, of all and of one', async (t) => {
  const semaphore = new FairSemaphore({ total: 1, waiting: 3, waitingShare: 2 });
  const first = await semaphore.acquire('a');
  const waiting = [semaphore.acquire('a'), semaphore.acquire('a')];
  await t.throwsAsync(semaphore.acquire('a'), { instanceOf: SemaphoreFull });
  waiting.push(semaphore.acquire('b'));
  await t.throwsAsync(semaphore.acquire('c'), { instanceOf: SemaphoreFull });
  first.release();
  for (const place of [waiting[2]!, waiting[0]!, waiting[1]!]) (await place).release();
  (await semaphore.acquire('c')).release();
});

test('an aborted request leaves the queue, and those behind it do not wait for it', async (t) => {
  const users = new Users(new FairSemaphore({ total: 2, waiting: 2 }));
  users.ask('a1');
  const signal = AbortSignal.abort(new Error('gone'));
  await t.throwsAsync(users.semaphore.acquire('b', { signal }), { message: 'gone' });
  const leaving = new AbortController();
  const heavy = users.semaphore.acquire('b', { weight: 2, signal: leaving.signal });
  users.ask('c1');
  await nextTurn();
  t.deepEqual(users.served, ['a1']);
  leaving.abort(new Error('left'));
  await t.throwsAsync(heavy, { message: 'left' });
  await nextTurn();
  t.deepEqual(users.served, ['a1', 'c1']);
  // The places of both are free again.
  users.ask('d1');
  users.ask('d2');
  await users.endAll();
  t.deepEqual(users.served, ['a1', 'c1', 'd1', 'd2']);
});

test('work that fails gives its permit back', async (t) => {
  const semaphore = new FairSemaphore({ total: 1 });
  const failing = semaphore.run('a', () => Promise.reject(new Error('no')));
  const next = semaphore.run('b', async () => 'done');
  await t.throwsAsync(failing, { message: 'no' });
  t.is(await next, 'done');
});

test('whatever is acquired, released and aborted, the bounds hold and nobody waits who need not', async (t) => {
  const step = fc.record({
    kind: fc.constantFrom('acquire', 'acquire', 'release', 'abort'),
    holder: fc.constantFrom('a', 'b', 'c'),
    weight: fc.integer({ min: 1, max: 3 }),
    which: fc.nat(),
  });
  interface Request {
    readonly holder: string;
    readonly weight: number;
    readonly leaving: AbortController;
    readonly number: number;
    permit?: Reservation;
  }
  const [total, share, waiting, waitingShare] = [5, 4, 6, 4];
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const semaphore = new FairSemaphore({ total, share, waiting, waitingShare });
      const requests = new Set<Request>();
      let number = 0;
      const sum = (holds: boolean, holder?: string) => {
        const chosen = [...requests].filter(
          (r) => (r.permit !== undefined) === holds && (holder === undefined || r.holder === holder),
        );
        return { count: chosen.length, weight: chosen.reduce((all, { weight }) => all + weight, 0), chosen };
      };
      for (const { kind, holder, weight, which } of steps) {
        const { chosen } = sum(kind === 'release');
        const one = chosen[which % Math.max(1, chosen.length)];
        if (kind === 'release' && one !== undefined) {
          requests.delete(one);
          one.permit!.release();
        } else if (kind === 'abort' && one !== undefined) {
          requests.delete(one);
          one.leaving.abort();
        } else if (kind === 'acquire') {
          const request: Request = { holder, weight, leaving: new AbortController(), number: ++number };
          requests.add(request);
          semaphore.acquire(holder, { weight, signal: request.leaving.signal }).then(
            (permit) => {
              request.permit = permit;
              const earlier = sum(false, holder).chosen.filter((other) => other.number < request.number);
              t.is(earlier.length, 0, 'in the order of arrival');
            },
            () => requests.delete(request),
          );
        }
        await nextTurn();
        t.true(sum(true).weight <= total && sum(false).count <= waiting);
        const heads = ['a', 'b', 'c'].flatMap((name) => {
          t.true(sum(true, name).weight <= share && sum(false, name).count <= waitingShare);
          const [head] = sum(false, name).chosen;
          return head !== undefined && sum(true, name).weight + head.weight <= share ? [head] : [];
        });
        // Among holders with a share left, the next one in turn does not fit.
        t.true(heads.length === 0 || heads.some((head) => sum(true).weight + head.weight > total));
      }
      for (;;) {
        const [held] = sum(true).chosen;
        if (held === undefined) break;
        requests.delete(held);
        held.permit!.release();
        await nextTurn();
      }
      t.is(requests.size, 0, 'everybody was served');
    }),
    { numRuns: runs(200) },
  );
});

test('with a factor something is left for whoever comes next, and what is given back is shared again', async (t) => {
  const users = new Users(new FairSemaphore({ total: 12, share: 4, factor: 1 / 2 }));
  const hogs = ['a', 'b', 'c', 'd', 'e'];
  for (const name of hogs) for (let i = 0; i < 6; i++) users.ask(`${name}${i}`);
  await nextTurn();
  const heldBy = (name: string) => [...users.permits.keys()].filter((each) => each.startsWith(name)).length;
  t.deepEqual(hogs.map(heldBy), [4, 3, 2, 1, 1]);
  users.ask('x1');
  await nextTurn();
  t.is(users.served.at(-1), 'x1');
  await users.endAll();
  t.is(users.served.length, 31);
});
