// Tests back-off after failures.

import fc from 'fast-check';
import { Backoff } from '../../src/concurrency/backoff.js';
import test from '../support/test.js';

test('each further failure backs off twice as long; a success, or a long time without a failure, begins again', (t) => {
  let now = 0;
  const backoff = new Backoff({ firstMs: 500, longestMs: 30_000, most: 5_000, now: () => now });
  const fail = (id: string) => {
    backoff.failed(id);
    const began = now;
    while (backoff.has(id)) now += 100;
    return now - began;
  };
  t.deepEqual([fail('a'), fail('a'), fail('a')], [500, 1_000, 2_000]);
  for (let i = 0; i < 10; i++) fail('a');
  t.is(fail('a'), 30_000);
  backoff.succeeded('a');
  t.is(fail('a'), 500);
  backoff.failed('a');
  backoff.failed('a');
  t.deepEqual(backoff.ids, ['a']);
  now += 10_000;
  t.deepEqual(backoff.ids, []);
  t.is(fail('a'), 500);
});

test('the reason is kept, and no more ids than may be', (t) => {
  const backoff = new Backoff<string>({ firstMs: 500, longestMs: 500, most: 2, now: () => 0 });
  for (const id of ['a', 'b', 'c']) backoff.failed(id, `of ${id}`);
  t.deepEqual(backoff.ids.toSorted(), ['b', 'c']);
  t.deepEqual(backoff.of('c'), { ms: 500, reason: 'of c' });
  t.is(backoff.of('a'), undefined);
});

test('no id backs off for longer than the limit, whatever fails when', (t) => {
  const steps = fc.array(fc.record({ id: fc.constantFrom('a', 'b'), ms: fc.nat(2_000), fails: fc.boolean() }));
  fc.assert(
    fc.property(steps, (each) => {
      let now = 0;
      const backoff = new Backoff({ firstMs: 100, longestMs: 1_000, most: 10, now: () => now });
      for (const { id, ms, fails } of each) {
        now += ms;
        if (fails) backoff.failed(id);
        else backoff.succeeded(id);
        t.is(backoff.has(id), fails);
        t.true((backoff.of(id)?.ms ?? 0) <= 1_000);
        now += backoff.of(id)?.ms ?? 0;
        t.false(backoff.has(id));
      }
    }),
  );
});
