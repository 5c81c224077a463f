import test from 'ava';
import { pino } from 'pino';
import { Lifecycle } from '../src/lifecycle.js';

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
