// Tests sorting in steps: the result equals that of sorting at once, whatever the length.

import { ascending, sortedStepwise } from '../../src/mail/stepwise-sort.js';
import test from '../support/test.js';

test('numbers are sorted as at once, equal ones in their order before, with a yield every few thousand', (t) => {
  for (const count of [0, 1, 1023, 1024, 1025, 5000, 20_000]) {
    const keys = Array.from({ length: count }, (_, i) => (Math.imul(i + 1, 2_654_435_761) >>> 0) % 997);
    const work = sortedStepwise(ascending(count), (a, b) => keys[a]! - keys[b]!);
    let yields = 0;
    let step = work.next();
    for (; step.done !== true; step = work.next()) yields++;
    t.deepEqual(
      [...step.value],
      [...ascending(count)].sort((a, b) => keys[a]! - keys[b]! || a - b),
      `${count}`,
    );
    t.true(yields >= count / 1024);
  }
});
