// Tests the work queue on a time of its own: no key is lost, none has two workers, and back-off, bounds and shares hold.
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { type Timing, type WorkAttempt, WorkQueue, type WorkQueueOptions } from '../../src/concurrency/work-queue.js';
import { runs } from '../support/amounts.js';
import test from '../support/test.js';

/** Passes only when the test advances it. */
class ManualTime implements Timing {
  #now = 0;
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>();

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await nextTurn();
    for (;;) {
      const next = [...this.#timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#now = next.at;
      this.#timers.delete(next);
      next.run();
      await nextTurn();
    }
    this.#now = until;
  }
}

interface Run {
  readonly key: string;
  readonly at: number;
  readonly attempt: WorkAttempt;
}

type Work = (run: Run) => Promise<number | undefined>;

/** Begins a queue whose work takes `work`, and records what it runs. */
function start(work: Work, options: Partial<Omit<WorkQueueOptions, 'work' | 'failed'>> = {}) {
  const time = new ManualTime();
  const began: Run[] = [];
  const failures: string[] = [];
  const queue = new WorkQueue({
    workers: 2,
    most: 100,
    backoff: { firstMs: 1 },
    timing: time,
    ...options,
    work(key, attempt) {
      const run = { key, at: time.now(), attempt };
      began.push(run);
      return work(run);
    },
    failed: (key) => failures.push(key),
  });
  return {
    time,
    queue,
    began,
    failures,
    keys: () => began.map(({ key }) => key),
    times: () => began.map(({ at }) => at),
  };
}

/** Work that ends when the test says so. */
function held() {
  const ends = new Map<string, (error?: Error) => void>();
  const work: Work = ({ key }) =>
    new Promise((resolve, reject) => {
      ends.set(key, (error) => (error === undefined ? resolve(undefined) : reject(error)));
    });
  const end = async (key: string, error?: Error) => {
    ends.get(key)!(error);
    await nextTurn();
  };
  return { work, end };
}

const done: Work = async () => undefined;

test('keys run in the order in which they are due, each once however often it was added', async (t) => {
  const { time, queue, began } = start(done, { workers: 1 });
  queue.addAfter('late', 20);
  for (let i = 0; i < 3; i++) queue.add('now');
  queue.addAfter('soon', 10);
  queue.add('next');
  t.is(queue.size, 4);
  await time.advance(30);
  t.deepEqual(
    began.map(({ key, at }) => [key, at]),
    [
      ['now', 0],
      ['next', 0],
      ['soon', 10],
      ['late', 20],
    ],
  );
  t.is(queue.size, 0);
  t.deepEqual(queue.keys, []);
});

test('of several times the earliest counts', async (t) => {
  const { time, queue, times } = start(done);
  queue.addAfter('a', 50);
  queue.addAfter('a', 20);
  queue.addAfter('a', 90);
  await time.advance(200);
  t.deepEqual(times(), [20]);
});

test('a key that is added while it runs has one worker, and runs once more afterwards', async (t) => {
  const { work, end } = held();
  const { time, queue, keys } = start(work);
  queue.add('a');
  await nextTurn();
  queue.add('a');
  queue.addAfter('a', 5);
  await time.advance(10);
  t.deepEqual(keys(), ['a']);
  t.is(queue.waiting, 0);
  await end('a');
  t.deepEqual(keys(), ['a', 'a']);
  await end('a');
  await time.advance(100);
  t.deepEqual(keys(), ['a', 'a']);
});

test('work may ask to run again after a time', async (t) => {
  const { time, queue, times } = start(async ({ at }) => (at < 20 ? 10 : undefined));
  queue.add('a');
  await time.advance(100);
  t.deepEqual(times(), [0, 10, 20]);
});

test('a failed key backs off longer each time, whatever adds it; other keys do not wait, and a success ends it', async (t) => {
  let fails = true;
  const work: Work = async ({ key }) => {
    if (fails && key === 'a') throw new Error('away');
    return undefined;
  };
  const { time, queue, began, failures } = start(work, { workers: 1, backoff: { firstMs: 10, longestMs: 40 } });
  queue.add('a');
  await time.advance(5);
  queue.add('a');
  queue.add('b');
  await time.advance(120);
  const ofA = () => began.filter(({ key }) => key === 'a').map(({ at, attempt }) => [at, attempt.failures]);
  t.deepEqual(ofA(), [
    [0, 0],
    [10, 1],
    [30, 2],
    [70, 3],
    [110, 4],
  ]);
  t.deepEqual(began.find(({ key }) => key === 'b')?.at, 5);
  t.is(failures.length, 5);
  fails = false;
  await time.advance(40);
  queue.add('a');
  await time.advance(1);
  t.deepEqual(ofA().slice(5), [
    [150, 5],
    [165, 0],
  ]);
});

test('a failure that is not temporary ends the key, unless it was added while it ran', async (t) => {
  const { work, end } = held();
  const { time, queue, keys, failures } = start(work, {
    isTemporary: ({ message }: Error) => message === 'away',
    backoff: { firstMs: 10 },
  } as Partial<WorkQueueOptions>);
  queue.add('a');
  await nextTurn();
  await end('a', new Error('broken'));
  t.false(queue.has('a'));
  queue.add('a');
  await nextTurn();
  queue.add('a');
  await end('a', new Error('broken'));
  t.deepEqual(keys(), ['a', 'a'], 'no add shortens the back-off');
  await time.advance(10);
  t.deepEqual(keys(), ['a', 'a', 'a']);
  await end('a', new Error('away'));
  await time.advance(10);
  t.deepEqual(keys(), ['a', 'a', 'a', 'a']);
  t.is(failures.length, 3);
});

test('a worker rests after a key, and longer after a failure', async (t) => {
  const work: Work = async ({ key }) => {
    if (key === 'b') throw new Error('away');
    return undefined;
  };
  const options = {
    workers: 1,
    isTemporary: () => false,
    restMs: (_: number, hasFailed: boolean) => (hasFailed ? 50 : 5),
  };
  const { time, queue, times } = start(work, options);
  for (const key of ['a', 'b', 'c']) queue.add(key);
  await time.advance(100);
  t.deepEqual(times(), [0, 5, 55]);
});

test('a holder with many keys leaves workers and room to others', async (t) => {
  const { work, end } = held();
  const { queue, keys } = start(work, { workers: 3, most: 9 });
  const taken = Array.from({ length: 9 }, (_, i) => queue.add(`a${i}`, 'a'));
  t.is(taken.filter((isTaken) => isTaken).length, 6, 'two thirds of the room');
  t.is(queue.free, 3);
  await nextTurn();
  t.deepEqual(keys(), ['a0', 'a1'], 'two thirds of the workers');
  t.true(queue.add('b0', 'b'));
  await nextTurn();
  t.deepEqual(keys(), ['a0', 'a1', 'b0']);
  t.true(queue.add('a3', 'a'), 'a key that is known needs no room');
  await end('a0');
  t.is(queue.waiting, 3);
  t.is(queue.size, 6);
});

test('a forgotten key does not run; one that runs does not run again, unless it is added once more', async (t) => {
  const ends: (() => void)[] = [];
  const { time, queue, keys } = start(() => new Promise((resolve) => ends.push(() => resolve(10))));
  queue.addAfter('late', 10);
  queue.forget('late');
  queue.forget('unknown');
  queue.add('a');
  await nextTurn();
  queue.add('a');
  queue.forget('a');
  ends.shift()!();
  await time.advance(100);
  t.deepEqual(keys(), ['a']);
  t.is(queue.size, 0);
  queue.add('b');
  await nextTurn();
  queue.forget('b');
  queue.add('b');
  ends.shift()!();
  await nextTurn();
  t.deepEqual(keys(), ['a', 'b', 'b']);
});

test('a stop waits for what runs, begins nothing more, and reports no failure', async (t) => {
  const { work, end } = held();
  const { time, queue, began, keys, failures } = start(work, { workers: 1 });
  for (const key of ['a', 'b']) queue.add(key);
  queue.addAfter('c', 10);
  await nextTurn();
  queue.add('a');
  let isStopped = false;
  const stopping = queue.stop().then(() => {
    isStopped = true;
  });
  await time.advance(20);
  t.false(isStopped);
  t.true(began[0]!.attempt.signal.aborted);
  t.false(queue.add('d'));
  await end('a', new Error('interrupted'));
  await stopping;
  await time.advance(100);
  t.deepEqual([keys(), failures, queue.keys], [['a'], [], []]);
});

test('the timers of the process do not run a key early', async (t) => {
  const due = performance.now() + 5.5;
  const at = await new Promise<number>((resolve) => {
    const queue = new WorkQueue({
      most: 1,
      backoff: { firstMs: 1 },
      work: async () => void resolve(performance.now()) as undefined,
      failed: () => {},
    });
    queue.addAfter('a', due - performance.now());
  });
  t.true(at >= due);
});

const HOLDERS = ['x', 'y', 'z'];
const action = fc.record({
  pauseMs: fc.nat(8),
  key: fc.nat(11),
  afterMs: fc.oneof(fc.constant(0), fc.nat(30)),
});
const outcome = fc.record({
  tookMs: fc.nat(12),
  fails: fc.boolean(),
  againInMs: fc.option(fc.nat(9), { nil: undefined }),
});

test('whatever is added and fails: bounds hold, a key has one worker, and every key that was taken runs', async (t) => {
  const property = fc.asyncProperty(
    fc.array(action, { maxLength: 40 }),
    fc.array(outcome, { minLength: 1, maxLength: 20 }),
    fc.record({ workers: fc.integer({ min: 1, max: 4 }), most: fc.integer({ min: 1, max: 12 }), restMs: fc.nat(3) }),
    async (actions, outcomes, { workers, most, restMs }) => {
      const inWork = new Set<string>();
      const blocked = new Map<string, number>();
      let count = 0;
      const work: Work = async ({ key, at }) => {
        t.false(inWork.has(key), 'one worker');
        inWork.add(key);
        t.true(inWork.size <= workers);
        t.true(at >= (blocked.get(key) ?? 0), 'not before the end of the back-off');
        // Later on everything succeeds, so that the queue runs empty.
        const { tookMs, fails, againInMs } =
          count < 60 ? outcomes[count++ % outcomes.length]! : { tookMs: 1, fails: false };
        await new Promise<void>((resolve) => queueTime().after(tookMs, resolve));
        inWork.delete(key);
        if (!fails) return againInMs;
        blocked.set(key, queueTime().now() + 4);
        throw new Error('away');
      };
      const { time, queue, began } = start(work, {
        workers,
        most,
        backoff: { firstMs: 4, longestMs: 16 },
        restMs: () => restMs,
      });
      const queueTime = () => time;
      /** How many runs had begun when the key was last added. */
      const wanted = new Map<string, number>();
      for (const { pauseMs, key, afterMs } of actions) {
        await time.advance(pauseMs);
        const name = `k${key}`;
        if (queue.addAfter(name, afterMs, HOLDERS[key % HOLDERS.length])) wanted.set(name, began.length);
        t.true(queue.size <= most && queue.size + queue.free === most);
        t.is(new Set(queue.keys).size, queue.size);
      }
      await time.advance(10_000);
      t.deepEqual(queue.keys, []);
      t.is(queue.free, most);
      await queue.stop();
      for (const [key, before] of wanted)
        t.true(
          began.slice(before).some((run) => run.key === key),
          key,
        );
    },
  );
  await fc.assert(property, { numRuns: runs(300) });
});
