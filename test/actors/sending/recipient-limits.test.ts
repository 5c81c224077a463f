// Tests the limits of recipients: which one a message exceeds, and when there is room again.
import fc from 'fast-check';
import {
  exceededLimit,
  firstMinuteOf,
  limitsOf,
  minuteOf,
  sentIn,
  waitFor,
} from '../../../src/actors/sending/recipient-limits.js';
import type { SendingMinute } from '../../../src/store/limits/sending.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

const HOUR_MS = 3_600_000;
const NOW = Date.UTC(2026, 10, 29, 12, 0, 30);

const counted = (minute: number, recipients: number): SendingMinute => ({
  ...{ minute, recipients, strangers: 0, refused: 0, forwarded: 0 },
});

test('a message is refused by the first limit that it exceeds, and by one that it exceeds alone before others', (t) => {
  const account = { limit: { hour: 10, day: 20 }, sent: { hour: 5, day: 18 } };
  t.is(exceededLimit({ account }, 2), undefined);
  t.deepEqual(exceededLimit({ account }, 3), { of: 'account', period: 'day', limit: 20, isAlone: false });
  t.deepEqual(exceededLimit({ account }, 6), { of: 'account', period: 'hour', limit: 10, isAlone: false });
  const domain = { limit: { hour: 5, day: null }, sent: { hour: 5, day: 0 } };
  t.deepEqual(exceededLimit({ account, domain }, 1), { of: 'domain', period: 'hour', limit: 5, isAlone: false });
  t.deepEqual(exceededLimit({ account, domain }, 6), { of: 'domain', period: 'hour', limit: 5, isAlone: true });
  t.is(exceededLimit({ account: { limit: { hour: null, day: null }, sent: account.sent } }, 1e9), undefined);
});

test('0 is no limit, and a setting comes before the default', (t) => {
  t.deepEqual(limitsOf({ hour: null, day: 0 }, { hour: 7, day: 8 }), { hour: 7, day: null });
  t.deepEqual(limitsOf({ hour: 3, day: null }, { hour: 0, day: 0 }), { hour: 3, day: null });
});

const sends = fc.array(fc.tuple(fc.integer({ min: 0, max: 3 * HOUR_MS }), fc.integer({ min: 1, max: 5 })), {
  maxLength: 60,
});

test('no hour has more recipients than the limit, whenever it begins', (t) => {
  const rule = fc.property(sends, fc.integer({ min: 5, max: 12 }), (all, limit) => {
    const minutes = new Map<number, SendingMinute>();
    const sent: { at: number; count: number }[] = [];
    for (const [after, count] of all.sort(([a], [b]) => a - b)) {
      const at = NOW + after;
      const level = { limit: { hour: limit, day: null }, sent: sentIn(minutes.values(), at) };
      if (exceededLimit({ account: level }, count) !== undefined) continue;
      const minute = minuteOf(at);
      minutes.set(minute, counted(minute, (minutes.get(minute)?.recipients ?? 0) + count));
      sent.push({ at, count });
    }
    return sent.every(({ at }) => {
      const hour = sent.filter((other) => other.at >= at && other.at < at + HOUR_MS);
      return hour.reduce((sum, { count }) => sum + count, 0) <= limit;
    });
  });
  t.notThrows(() => fc.assert(rule, { numRuns: runs(300) }));
});

test('after the wait, and not before, the message fits', (t) => {
  const minutes = fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 20 });
  const rule = fc.property(minutes, fc.integer({ min: 1, max: 6 }), (ages, recipients) => {
    const all = ages.map((age) => counted(minuteOf(NOW) - age, 2)).sort((a, b) => a.minute - b.minute);
    const limit = { period: 'hour' as const, limit: 6 };
    const wait = waitFor(all, limit, recipients, NOW);
    const fits = (now: number) => sentIn(all, now).hour + recipients <= limit.limit;
    return fits(NOW + wait) && (wait === 0 || !fits(NOW + wait - 1));
  });
  t.notThrows(() => fc.assert(rule, { numRuns: runs(300) }));
  t.is(firstMinuteOf('day', NOW), minuteOf(NOW) - 1440);
});
