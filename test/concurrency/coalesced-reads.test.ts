// Tests reads that are shared by all who ask while one is under way.

import { CoalescedReads } from '../../src/concurrency/coalesced-reads.js';
import test from '../support/test.js';

function startReads() {
  const begun: { readonly key: string; readonly end: (value: number) => void; readonly fail: (why: Error) => void }[] =
    [];
  const reads = new CoalescedReads<number>((key) => new Promise((end, fail) => begun.push({ key, end, fail })));
  /** Resolves when everything that can run has run. */
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { begun, reads, settled };
}

test('who asks while a read is under way shares the next one', async (t) => {
  const { begun, reads, settled } = startReads();
  const first = reads.of('a');
  await settled();
  const [second, third] = [reads.of('a'), reads.of('a')];
  const other = reads.of('b');
  await settled();
  t.deepEqual(
    begun.map(({ key }) => key),
    ['a', 'b'],
  );
  begun[0]!.end(1);
  begun[1]!.end(7);
  await settled();
  t.deepEqual(
    begun.map(({ key }) => key),
    ['a', 'b', 'a'],
  );
  begun[2]!.end(2);
  t.deepEqual(await Promise.all([first, second, third, other]), [1, 2, 2, 7]);
  void reads.of('a');
  await settled();
  t.is(begun.length, 4, 'nothing is remembered');
});

test('a read that fails fails for those who share it, and the next one begins', async (t) => {
  const { begun, reads, settled } = startReads();
  const [first, second] = [reads.of('a'), reads.of('a')];
  await settled();
  const third = reads.of('a');
  begun[0]!.fail(new Error('no answer'));
  await t.throwsAsync(first, { message: 'no answer' });
  await t.throwsAsync(second, { message: 'no answer' });
  await settled();
  begun[1]!.end(3);
  t.is(await third, 3);
});
