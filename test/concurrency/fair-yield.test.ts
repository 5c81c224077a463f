// Tests turns of the event loop that holders take in order.

import { FairYield } from '../../src/concurrency/fair-yield.js';
import test from '../support/test.js';
import { turn } from '../support/turns.js';

test('holders take loop, however much one of them has to do', async (t) => {
  const loop = new FairYield();
  const taken: string[] = [];
  const take = (holder: string) => loop.yield(holder).then(() => void taken.push(holder));
  await Promise.all([...Array.from({ length: 4 }, () => take('a')), take('b'), take('b'), take('c')]);
  t.deepEqual(taken, ['a', 'b', 'c', 'a', 'b', 'a', 'a']);
});

test('one piece of work goes on an iteration of the event loop', async (t) => {
  const loop = new FairYield();
  const seen: string[] = [];
  const work = Array.from({ length: 3 }, (_, i) => loop.yield('a').then(() => void seen.push(`turn ${i}`)));
  const iterations = async () => {
    for (let i = 0; i < 3; i++) await turn().then(() => seen.push('other'));
  };
  await Promise.all([...work, iterations()]);
  t.deepEqual(seen, ['turn 0', 'other', 'turn 1', 'other', 'turn 2', 'other']);
});
