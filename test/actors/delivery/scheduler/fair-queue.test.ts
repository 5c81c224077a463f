// Tests permits of groups under random histories of requests: within the limits, fair among accounts and groups, none forgotten.
import { setMaxListeners } from 'node:events';
import fc from 'fast-check';
import {
  type Entered,
  type Entry,
  FairQueue,
  type Leaving,
  type PermitRequest,
} from '../../../../src/actors/delivery/scheduler/fair-queue.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';

const { signal } = new AbortController();
// Every waiting request listens to this signal; in the product each delivery has its own.
setMaxListeners(0, signal);

interface Asked {
  readonly request: PermitRequest;
  readonly abort: AbortController;
  readonly number: number;
  entry?: Entry;
}

/** Resolves after promises that are settled by now have run their handlers. */
const settled = () => new Promise(setImmediate);

function world(options: ConstructorParameters<typeof FairQueue>[0]) {
  const queue = new FairQueue(options);
  const asked: Asked[] = [];
  return {
    queue,
    asked,
    ask(account: number, group: number) {
      const request = { accountId: `a${account}`, outboundId: 'o', domain: `d${group}`, group: `g${group}` };
      const one: Asked = { request, abort: new AbortController(), number: asked.length };
      asked.push(one);
      const entry = queue.enter(request, one.abort.signal);
      if (entry instanceof Promise) void entry.then((given) => Object.assign(one, { entry: given }));
      else one.entry = entry;
      return one;
    },
    running: () => asked.filter(({ entry }) => entry?.kind === 'entered'),
    waiting: () => asked.filter(({ entry }) => entry === undefined),
    leave(one: Asked, how?: Leaving) {
      asked.splice(asked.indexOf(one), 1);
      (one.entry as Entered).leave(how);
    },
  };
}

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('ask' as const), account: fc.nat(4), group: fc.nat(3) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('leave' as const),
      which: fc.nat(1_000),
      mayStay: fc.boolean(),
      unreachable: fc.option(fc.constant('dead'), { nil: undefined, freq: 8 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort' as const), which: fc.nat(1_000) }) },
);
const bounds = fc.record({
  perGroup: fc.integer({ min: 1, max: 6 }),
  total: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
});

test('never above the bounds, no permit idle that a request may have, and every request is served in the end', async (t) => {
  await fc.assert(
    fc.asyncProperty(bounds, fc.array(step, { maxLength: 120 }), async ({ perGroup, total }, steps) => {
      const of = world(total === undefined ? { perGroup } : { perGroup, total });
      const check = () => {
        const running = of.running();
        t.is(of.queue.running, running.length);
        t.is(of.queue.waiting, of.waiting().length);
        t.true(running.length <= (total ?? Number.POSITIVE_INFINITY));
        for (const group of new Set(running.map(({ request }) => request.group)))
          t.true(running.filter(({ request }) => request.group === group).length <= perGroup);
        if (total === undefined || running.length < total) {
          // An account without a permit waits only while its group, or the total, is at its limit.
          for (const { request } of of.waiting()) {
            const inGroup = running.filter((other) => other.request.group === request.group);
            const isStranger = total === undefined ? inGroup : running;
            const isFree = inGroup.length < perGroup;
            const holdsNone = !isStranger.some((other) => other.request.accountId === request.accountId);
            const domainHoldsNone = total === undefined || inGroup.length === 0;
            t.false(isFree && holdsNone && domainHoldsNone);
          }
        }
      };
      for (const one of steps) {
        if (one.kind === 'ask') of.ask(one.account, one.group);
        if (one.kind === 'leave') {
          const running = of.running();
          const left = running[one.which % (running.length || 1)];
          if (left === undefined) continue;
          const group = of.waiting().filter(({ request }) => request.group === left.request.group);
          of.leave(left, { mayStay: one.mayStay, unreachable: one.unreachable });
          await settled();
          if (one.unreachable !== undefined) {
            t.true(group.every(({ entry }) => entry?.kind === 'unreachable'));
            for (const dismissed of group) of.asked.splice(of.asked.indexOf(dismissed), 1);
          }
        }
        if (one.kind === 'abort') {
          const waiting = of.waiting();
          const aborted = waiting[one.which % (waiting.length || 1)];
          if (aborted === undefined) continue;
          aborted.abort.abort();
          await settled();
          t.is(aborted.entry?.kind, 'aborted');
          of.asked.splice(of.asked.indexOf(aborted), 1);
        }
        await settled();
        check();
      }
      for (let left = of.running()[0]; left !== undefined; left = of.running()[0]) {
        of.leave(left);
        await settled();
        check();
      }
      t.deepEqual(of.asked, []);
    }),
    { numRuns: runs(60) },
  );
});

test('accounts that want as much as they can get have about as many permits as each other, and so have groups', async (t) => {
  const accounts = fc.integer({ min: 2, max: 5 });
  await fc.assert(
    fc.asyncProperty(accounts, fc.integer({ min: 2, max: 4 }), async (count, groups) => {
      const of = world({ perGroup: 3, total: 8 });
      const served = new Map<string, number>();
      const byGroup = new Map<string, number>();
      for (let i = 0; i < 40; i++)
        for (let account = 0; account < count; account++)
          for (let group = 0; group < groups; group++) of.ask(account, group);
      for (let round = 0; round < 30 * count; round++) {
        const [left] = of.running();
        const { accountId, group } = left!.request;
        served.set(accountId, (served.get(accountId) ?? 0) + 1);
        byGroup.set(group, (byGroup.get(group) ?? 0) + 1);
        of.leave(left!);
        await settled();
      }
      t.is(served.size, count);
      t.true(Math.max(...served.values()) <= 2 * Math.min(...served.values()), `${[...served]}`);
      t.is(byGroup.size, groups);
      t.true(Math.max(...byGroup.values()) <= 2 * Math.min(...byGroup.values()), `${[...byGroup]}`);
    }),
    { numRuns: runs(20) },
  );
});

test('an account leaves permits of a group to others, and others come before its many that wait', async (t) => {
  const queue = new FairQueue({ perGroup: 20 });
  const entered: string[] = [];
  const permits: Entered[] = [];
  const request = (accountId: string) => ({ accountId, outboundId: 'o', domain: 'slow.test', group: 'slow.test' });
  const enter = async (accountId: string) => {
    const entry = await queue.enter(request(accountId), signal);
    if (entry.kind !== 'entered') return;
    entered.push(accountId);
    permits.push(entry);
  };
  for (let i = 0; i < 100; i++) void enter('many');
  await settled();
  t.is(entered.length, 14, 'two thirds');
  for (let i = 0; i < 6; i++) void enter(`other ${i}`);
  await settled();
  t.is(entered.length, 20);
  void enter('late');
  permits[0]!.leave();
  await settled();
  t.is(entered.at(-1), 'late', 'before the 86 that came before it');
});

test('where there is one permit the accounts alternate', async (t) => {
  const queue = new FairQueue({ perGroup: 1 });
  const order: string[] = [];
  const deliver = async (accountId: string) => {
    const request = { accountId, outboundId: 'o', domain: 'd.test', group: 'd.test' };
    const entry = await queue.enter(request, signal);
    order.push(accountId);
    await settled();
    (entry as Entered).leave();
  };
  await Promise.all([...Array.from({ length: 4 }, () => deliver('a')), deliver('b'), deliver('b')]);
  t.deepEqual(order, ['a', 'b', 'a', 'b', 'a', 'a']);
});

test('a group keeps its permits for requests of its own, but not for ever while another group has fewer', async (t) => {
  const of = world({ perGroup: 2, total: 3 });
  for (let i = 0; i < 60; i++) of.ask(i % 3, 0);
  await settled();
  for (let i = 0; i < 10; i++) of.ask(i % 3, 1);
  await settled();
  let permits = 0;
  while (of.running().filter(({ request }) => request.group === 'g1').length < 2 && permits < 50) {
    of.leave(of.running().find(({ request }) => request.group === 'g0')!, { mayStay: true });
    permits++;
    await settled();
  }
  t.true(permits > 10 && permits < 30, `${permits}`);
});

test('waiting is bounded in number and in time', async (t) => {
  const queue = new FairQueue({ perGroup: 1, total: 1, mostWaiting: 1, waitMs: 20 });
  const request = (accountId: string) => ({ accountId, outboundId: 'o', domain: 'd', group: 'h' });
  const first = queue.enter(request('a'), signal) as Entered;
  t.is(first.kind, 'entered');
  const waits = queue.enter(request('b'), signal);
  t.deepEqual(queue.enter(request('c'), signal), { kind: 'busy' });
  t.deepEqual(await waits, { kind: 'busy' });
  t.is(queue.waiting, 0);
  const { signal: ended } = AbortSignal.abort() && { signal: AbortSignal.abort() };
  t.deepEqual(queue.enter(request('d'), ended), { kind: 'aborted' });
  first.leave();
  t.like(queue.enter(request('d'), signal), { kind: 'entered' });
});
