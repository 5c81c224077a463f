// Tests that the order of a run has each file once, and clusters apart from each other.
import test from '../test.js';
import { spread } from './file-order.js';

test('heavy files are spread among the others, none of them at the end', (t) => {
  const light = Array.from({ length: 20 }, (_, i) => `light ${i}`);
  const order = spread(['a', 'b', 'c'], light);
  t.deepEqual(
    order.filter((file) => file.startsWith('light')),
    light,
  );
  t.deepEqual(
    ['a', 'b', 'c'].map((file) => order.indexOf(file)),
    [0, 6, 12],
  );
  t.is(order.length, 23);
});

test('many heavy files, or none, or nothing else', (t) => {
  t.deepEqual(spread(['a', 'b', 'c'], ['light']), ['a', 'b', 'c', 'light']);
  t.deepEqual(spread([], ['light']), ['light']);
  t.deepEqual(spread(['a'], []), ['a']);
});
