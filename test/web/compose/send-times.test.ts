// Tests the times that Send later offers and reads.
import { fieldValue, readSendTime, sendTimes } from '../../../web/src/compose/send-times.js';
import test from '../../support/test.js';

test('the times that are offered are ahead, each once', (t) => {
  // A Thursday, a Friday, a Sunday and a late evening, by the clock of this machine.
  for (const [now, ...expected] of [
    ['2026-12-03T09:30', '2026-12-03T18:00', '2026-12-04T08:00', '2026-12-04T13:00', '2026-12-07T08:00'],
    ['2026-12-04T17:00', '2026-12-04T18:00', '2026-12-05T08:00', '2026-12-05T13:00', '2026-12-07T08:00'],
    ['2026-12-06T17:01', '2026-12-07T08:00', '2026-12-07T13:00'],
    ['2026-12-07T23:59', '2026-12-08T08:00', '2026-12-08T13:00', '2026-12-14T08:00'],
  ] as const) {
    t.deepEqual(
      sendTimes(new Date(now)).map(({ at }) => fieldValue(at)),
      expected,
      now,
    );
  }
});

test('a date field is read by the clock of the reader', (t) => {
  const now = new Date('2026-12-03T09:30');
  t.deepEqual(readSendTime('2026-12-03T09:31', now), { at: new Date('2026-12-03T09:31') });
  for (const [value, problem] of [
    ['', 'missing'],
    ['soon', 'missing'],
    ['2026-12-03T09:30', 'past'],
    ['2028-01-01T00:00', 'far'],
  ] as const) {
    t.deepEqual(readSendTime(value, now), { problem }, value);
  }
});
