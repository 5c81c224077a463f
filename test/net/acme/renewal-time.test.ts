// Tests when certificates are renewed and failures are tried again, for any lifetime and any chance.
import fc from 'fast-check';
import { renewalTime, retryDelay, timeInWindow } from '../../../src/net/acme/renewal-time.js';
import test from '../../support/test.js';

const DAY_MS = 86_400_000;
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test('without advice, a certificate of 90 days is renewed about 30 days before its end, one of six days two before', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2000 }), chance, (days, random) => {
      const at = renewalTime({ notBefore: 0, notAfter: days * DAY_MS }, random) / DAY_MS;
      t.true(at <= (days * 2) / 3 + 1e-6 && at >= days * 0.63);
    }),
  );
  t.is(renewalTime({ notBefore: 0, notAfter: 90 * DAY_MS }, 0), 60 * DAY_MS);
});

test('a time is in the window of the authority, and a chosen one stays while it is', (t) => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.nat(),
      fc.option(fc.nat(), { nil: undefined }),
      chance,
      (start, length, chosen, random) => {
        const window = { start, end: start + length };
        const at = timeInWindow(window, chosen, random);
        t.true(at >= window.start && at <= window.end);
        t.is(timeInWindow(window, at, 0.5), at);
      },
    ),
  );
});

test('failures wait four times as long each, at most a day, or as long as the authority says', (t) => {
  const minutes = (failures: number) => retryDelay(failures, undefined, 0.5) / 60_000;
  t.deepEqual([1, 2, 3, 4, 5, 6, 7, 1000].map(minutes), [1, 4, 16, 64, 256, 1024, 1440, 1440]);
  // Let's Encrypt takes five failures in an hour.
  t.true([1, 2, 3, 4].map(minutes).reduce((sum, each) => sum + each, 0) > 60);
  t.is(retryDelay(1, 3_600_000, 0.5), 3_600_000);
  t.is(retryDelay(1, 365 * DAY_MS, 0.5), 7 * DAY_MS);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), chance, (failures, random) => {
      const usual = retryDelay(failures, undefined, 0.5);
      const ms = retryDelay(failures, undefined, random);
      t.true(ms >= usual * 0.899 && ms <= usual * 1.101);
    }),
  );
});
