import { pino } from 'pino';
import { Lifecycle } from '../../src/node/lifecycle.js';
import test from '../support/test.js';

const log = pino({ level: 'silent' });

test('parts stop in reverse, one after the other, once', async (t) => {
  const stopped: string[] = [];
  const lifecycle = new Lifecycle(log);
  for (const name of ['store', 'actors', 'gateways']) {
    lifecycle.add(name, async () => {
      stopped.push(`${name} begins`);
      await Promise.resolve();
      stopped.push(`${name} ends`);
    });
  }
  t.deepEqual(await Promise.all([lifecycle.stop(5000), lifecycle.stop(5000)]), [true, true]);
  const expected = ['gateways', 'actors', 'store'].flatMap((name) => [`${name} begins`, `${name} ends`]);
  t.deepEqual(stopped, expected);
});

test('a part that fails or hangs does not keep the others from stopping', async (t) => {
  const stopped: string[] = [];
  const lifecycle = new Lifecycle(log);
  lifecycle.add('store', () => void stopped.push('store'));
  lifecycle.add('hangs', () => new Promise(() => {}));
  lifecycle.add('throws', () => {
    throw new Error('no');
  });
  lifecycle.add('rejects', () => Promise.reject(new Error('no')));
  t.false(await lifecycle.stop(300));
  t.deepEqual(stopped, ['store']);
});

test('hanging parts share the deadline: the sum holds, and each reserve is kept', async (t) => {
  const bounds = new Map<string, number>();
  const lifecycle = new Lifecycle(log);
  const started = performance.now();
  const hangs = (name: string) => (boundMs: number) => {
    bounds.set(name, boundMs);
    // On a busy machine the timers of the parts above are late: the rest shrinks. Timers may also fire a little early.
    const most = 1005 - (performance.now() - started);
    t.true(boundMs <= Math.max(0, most), `${name} has ${boundMs} of ${most} ms`);
    return new Promise<void>(() => {});
  };
  lifecycle.add('database', hangs('database'), 300);
  lifecycle.add('leases', hangs('leases'), 150, 150);
  lifecycle.add('job', hangs('job'), 50, 60);
  lifecycle.add('listener', hangs('listener'));
  t.false(await lifecycle.stop(1000));
  t.true(bounds.get('listener')! <= 500, 'what is reserved below was kept');
  t.true(bounds.get('job')! <= 60 && bounds.get('leases')! <= 150, 'no part gets more than its most');
  t.deepEqual([...bounds.keys()], ['listener', 'job', 'leases', 'database']);
});

test('when less is left than is reserved, every part is stopped within the deadline', async (t) => {
  const stopped: string[] = [];
  const lifecycle = new Lifecycle(log);
  for (const name of ['a', 'b', 'c', 'd']) {
    lifecycle.add(
      name,
      () => {
        stopped.push(name);
        return new Promise<void>(() => {});
      },
      40_000,
    );
  }
  const started = Date.now();
  t.false(await lifecycle.stop(400));
  t.true(Date.now() - started < 20_000);
  t.deepEqual(stopped, ['d', 'c', 'b', 'a']);
});

test('a part without a reserve does not use all the time there is up', async (t) => {
  const lifecycle = new Lifecycle(log);
  lifecycle.add('hangs', () => new Promise<void>(() => {}));
  const started = Date.now();
  t.false(await lifecycle.stop(60_000));
  t.true(Date.now() - started < 30_000);
});
