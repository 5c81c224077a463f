// A lane lets a few through at a time, in the order in which they came, whatever becomes of them.
import test from 'ava';
import { Lane } from '../../../src/actors/runtime/lane.js';

test('a few at a time, first come first served', async (t) => {
  const lane = new Lane(2);
  const begun: number[] = [];
  const open: (() => void)[] = [];
  const passes = [0, 1, 2, 3].map((i) =>
    lane.pass(async () => {
      begun.push(i);
      await new Promise<void>((resolve) => open.push(resolve));
      return i;
    }),
  );
  await new Promise((resolve) => setImmediate(resolve));
  t.deepEqual(begun, [0, 1]);
  open.shift()!();
  t.is(await passes[0], 0);
  await new Promise((resolve) => setImmediate(resolve));
  t.deepEqual(begun, [0, 1, 2]);
  open.shift()!();
  open.shift()!();
  await passes[2];
  await new Promise((resolve) => setImmediate(resolve));
  open.shift()!();
  t.deepEqual(await Promise.all(passes), [0, 1, 2, 3]);
});

test('who fails makes room like everybody else', async (t) => {
  const lane = new Lane(1);
  const failing = lane.pass(() => Promise.reject(new Error('no')));
  const next = lane.pass(async () => 'passed');
  await t.throwsAsync(failing, { message: 'no' });
  t.is(await next, 'passed');
});
