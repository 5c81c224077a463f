// Tests group commits: who shares a write, and who fails when a write does.
import { StoreFault } from '../../../../src/store/errors.js';
import { GroupCommit } from '../../../../src/store/postgres/driver/group-commit.js';
import { deferred } from '../../../support/deferred.js';
import test from '../../../support/test.js';
import { turn } from '../../../support/turns.js';

const options = { maxItems: 10, maxWeight: 100, maxWaiting: 1000, weigh: (item: number) => item };

/** Returns a group commit, the groups that it has written so far, and the number of an item as its result. */
function collect(write: (items: readonly number[]) => Promise<unknown> = async () => {}) {
  const groups: number[][] = [];
  const group = new GroupCommit<number, number>(async (items) => {
    groups.push([...items]);
    await write(items);
    return [...items];
  }, options);
  return { groups, group };
}

test('items of one turn and of one write under way share the next write, each gets its own result', async (t) => {
  const { groups, group } = collect(turn);
  t.deepEqual(await Promise.all([1, 2, 3].map((item) => group.submit(item))), [1, 2, 3]);
  t.deepEqual(groups, [[1, 2, 3]]);
});

test('a group is bounded in items and in weight', async (t) => {
  const { groups, group } = collect();
  await Promise.all([60, 60, 30, 150, ...new Array(12).fill(1)].map((item: number) => group.submit(item)));
  t.deepEqual(groups, [[60], [60, 30], [150], new Array(10).fill(1), [1, 1]]);
});

test('who waits for the next write shares it, as many as fit it, also after a write that fails', async (t) => {
  const { groups, group } = collect(async (items) => {
    await turn();
    if (items.includes(13)) throw new Error('bad row');
  });
  const late = async (item: number) => {
    await group.beforeWrite();
    // Promises resolve meanwhile, but no event arrives from outside.
    for (let i = 0; i < item; i++) await undefined;
    return group.submit(item);
  };
  const bad = t.throwsAsync(group.submit(13));
  while (groups.length === 0) await turn();
  const items = Array.from({ length: 12 }, (_, i) => i + 1);
  t.deepEqual(await Promise.all(items.map(late)), items);
  await bad;
  t.deepEqual(
    groups.map((each) => each.toSorted((a, b) => a - b)),
    [[13], items.slice(0, 10), items.slice(10)],
  );
});

test('what comes in one turn of the event loop is written together, whether it waits for the write or not', async (t) => {
  const { groups, group } = collect();
  const late = async (item: number) => {
    await group.beforeWrite();
    return group.submit(item);
  };
  t.deepEqual(await Promise.all([late(1), group.submit(2), late(3)]), [1, 2, 3]);
  t.deepEqual(groups, [[2, 1, 3]]);
});

test('who waits for a write and submits nothing holds up nobody', async (t) => {
  const { groups, group } = collect();
  const idle = Array.from({ length: 25 }, () => group.beforeWrite());
  const last = group.beforeWrite().then(() => group.submit(1));
  await Promise.all(idle);
  t.is(await last, 1);
  await group.beforeWrite();
  t.is(await group.submit(2), 2);
  t.deepEqual(groups, [[1], [2]]);
});

for (const [what, fault] of [
  ['bad', new Error('bad row')],
  ['locked', new StoreFault('store-locked', 'locked', { temporary: true })],
] as const) {
  test(`an item that is ${what} fails alone`, async (t) => {
    const { group } = collect(async (items) => {
      if (items.includes(13)) throw fault;
    });
    const results = await Promise.allSettled([1, 13, 2].map((item) => group.submit(item)));
    t.deepEqual(
      results.map((result) => result.status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
  });
}

test('a commit at which the server crashes is not tried again: the recovery may find it written', async (t) => {
  let writes = 0;
  const group = new GroupCommit<number, number>(async () => {
    writes++;
    throw Object.assign(new Error('could not fsync file'), { severity: 'PANIC', code: 'XX000' });
  }, options);
  const results = await Promise.allSettled([1, 2].map((item) => group.submit(item)));
  const faults = results.map((result) => (result.status === 'rejected' ? (result.reason as StoreFault) : t.fail()));
  t.deepEqual(
    faults.map((fault) => fault instanceof StoreFault && fault.temporary),
    [true, true],
  );
  t.is(writes, 1);
});

test('a temporary fault fails the whole group: it is not tried item by item', async (t) => {
  let writes = 0;
  const group = new GroupCommit<number, number>(async () => {
    writes++;
    throw new StoreFault('store-unavailable', 'down', { temporary: true });
  }, options);
  const results = await Promise.allSettled([1, 2, 3].map((item) => group.submit(item)));
  t.true(results.every((result) => result.status === 'rejected'));
  t.is(writes, 1);
});

test('more weight than may wait is refused as temporary', async (t) => {
  const { promise: gate, resolve: open } = deferred();
  const group = new GroupCommit<number, number>(async (items) => {
    await gate;
    return [...items];
  }, options);
  const accepted = Array.from({ length: 10 }, () => group.submit(100));
  const refused = await t.throwsAsync(group.submit(1), { instanceOf: StoreFault });
  t.true(refused.temporary);
  open();
  await Promise.all(accepted);
});
