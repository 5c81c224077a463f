// Tests the delays of sending that are offered.
import { undoDelays } from '../../../web/src/settings/undo-delays.js';
import test from '../../support/test.js';

test('the present delay is among those that are offered, in order and once', (t) => {
  t.deepEqual(undoDelays(10), [0, 5, 10, 20, 30, 60]);
  t.deepEqual(undoDelays(45), [0, 5, 10, 20, 30, 45, 60]);
});
