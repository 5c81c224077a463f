// Tests when deferred flag writes are written to the emails: after a pause, one account at a time, again after a fault.
import { setImmediate } from 'node:timers/promises';
import { type DeferredFlagRows, startFlagFlushing } from '../../src/store/flag-flushing.js';
import test from '../support/test.js';

const QUIET_MS = 20;
const NEVER_MS = 3_600_000;

/** Deferred writes in memory: the number of slices of each account that are not written. */
class Rows implements DeferredFlagRows {
  readonly left = new Map<string, number>();
  readonly log: string[] = [];
  fault: Error | undefined;
  #noticed: () => void = () => {};

  add(accountId: string, slices: number): void {
    this.left.set(accountId, (this.left.get(accountId) ?? 0) + slices);
  }

  /** Resolves once `isSo` is true; checks it after each action. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      await new Promise<void>((resolve) => {
        this.#noticed = resolve;
      });
    }
  }

  async dropCovered(accountId: string): Promise<number> {
    this.#did(`drop ${accountId}`);
    return this.left.has(accountId) ? 1 : 0;
  }

  async write(accountId: string, _most: number): Promise<boolean> {
    const { fault } = this;
    this.fault = undefined;
    this.#did(`write ${accountId}`);
    if (fault !== undefined) throw fault;
    const left = this.left.get(accountId);
    if (left === undefined) return false;
    if (left === 1) this.left.delete(accountId);
    else this.left.set(accountId, left - 1);
    return true;
  }

  async behind(): Promise<readonly string[]> {
    return [...this.left.keys()];
  }

  #did(what: string): void {
    this.log.push(what);
    this.#noticed();
  }
}

function start(retryMs = 1, quietMs = QUIET_MS) {
  const rows = new Rows();
  const failures: unknown[] = [];
  const failed = (...of: unknown[]) => void failures.push(of);
  return { rows, failures, flushing: startFlagFlushing({ rows, failed, quietMs, retryMs }) };
}

test('what accounts have is written, one account after the other', async (t) => {
  const { rows, flushing } = start();
  for (const id of ['a', 'b']) {
    rows.add(id, 3);
    flushing.note(id);
  }
  await rows.until(() => rows.left.size === 0);
  await rows.until(() => rows.log.filter((what) => what.startsWith('write')).length === 8);
  // Which one is first is open: both have paused for as long.
  const order = rows.log[0] === 'drop a' ? ['a', 'b'] : ['b', 'a'];
  t.deepEqual(
    rows.log,
    order.flatMap((id) => [`drop ${id}`, ...Array.from({ length: 4 }, () => `write ${id}`)]),
  );
  await flushing.stop();
});

test('an account with 24 deferred writes has room when those that others cover are dropped, or the oldest is written', async (t) => {
  const { rows, flushing } = start(1, NEVER_MS);
  let left = 0;
  rows.dropCovered = async () => {
    rows.log.push('drop');
    return left;
  };
  rows.write = async (_, most) => {
    rows.log.push(`write ${most}`);
    left--;
    return true;
  };
  const note = async () => {
    const before = rows.log.length;
    await flushing.makeRoom('a');
    const done = rows.log.slice(before);
    flushing.note('a');
    left++;
    await setImmediate();
    return done;
  };
  for (let i = 0; i < 24; i++) t.deepEqual(await note(), []);
  t.deepEqual(await note(), ['drop', 'write 10000']);
  left = 5;
  t.deepEqual(await note(), ['drop']);
  t.deepEqual(await note(), []);
  await flushing.makeRoom('b');
  rows.dropCovered = async () => {
    throw new Error('no database');
  };
  while (left < 24) await note();
  await t.throwsAsync(flushing.makeRoom('a'), { message: 'no database' });
  await flushing.stop();
});

test('many deferred writes are looked through before the pause', async (t) => {
  const { rows, flushing } = start();
  const timer = setInterval(() => flushing.note('a'), 1);
  rows.add('a', 1);
  await rows.until(() => rows.log.length > 0);
  t.is(rows.log[0], 'drop a');
  clearInterval(timer);
  await rows.until(() => rows.left.size === 0);
  await flushing.stop();
});

test('deferred writes that others cover are dropped as soon as there are many, whatever else is written', async (t) => {
  const { rows, flushing } = start(1, NEVER_MS);
  rows.add('a', 1);
  rows.add('b', 1);
  for (let i = 0; i < 300; i++) {
    for (const id of ['a', 'b']) {
      await flushing.makeRoom(id);
      flushing.note(id);
    }
    await setImmediate();
  }
  const drops = rows.log.length;
  t.true(drops >= 50 && drops < 100, `${drops} drops`);
  t.deepEqual(new Set(rows.log), new Set(['drop a', 'drop b']));
  await flushing.stop();
});

test('deferred writes that could not be dropped are looked through when there are more; those that nothing covers not all the time', async (t) => {
  const { rows, failures, flushing } = start(1, NEVER_MS);
  let left = 0;
  const note = async (count: number) => {
    for (let i = 0; i < count; i++) flushing.note('a');
    left += count;
    await setImmediate();
  };
  const fault = new Error('no database');
  let isBroken = true;
  rows.dropCovered = async () => {
    rows.log.push('drop');
    if (isBroken) throw fault;
    return left;
  };
  await note(8);
  await note(7);
  t.deepEqual(failures, [['a', fault]]);
  isBroken = false;
  await note(1);
  t.is(rows.log.length, 2);
  await note(7);
  t.is(rows.log.length, 2);
  await note(1);
  t.is(rows.log.length, 3);
  await flushing.stop();
});

test('a fault is told, and the deferred writes are written later', async (t) => {
  const { rows, failures, flushing } = start();
  rows.add('a', 2);
  const fault = new Error('no database');
  rows.fault = fault;
  flushing.note('a');
  await rows.until(() => rows.left.size === 0);
  t.deepEqual(failures, [['a', fault]]);
  await flushing.stop();
});

test('a sweep writes what others have left; nothing is written after the stop', async (t) => {
  const { rows, flushing } = start();
  rows.add('a', 2);
  rows.add('b', 1);
  t.is(await flushing.sweep(), 2);
  t.is(rows.left.size, 0);
  await flushing.stop();
  rows.add('a', 1);
  flushing.note('a');
  t.is(await flushing.sweep(), 0);
  t.is(rows.left.size, 1);
});

test('a sweep goes on with the next account after a fault', async (t) => {
  const { rows, failures, flushing } = start();
  rows.add('a', 1);
  rows.add('b', 1);
  rows.fault = new Error('rows are locked');
  t.is(await flushing.sweep(), 1);
  t.deepEqual([...rows.left.keys()], ['a']);
  t.is(failures.length, 1);
  t.is(await flushing.sweep(), 1);
  t.is(rows.left.size, 0);
  await flushing.stop();
});
