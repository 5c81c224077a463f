// Tests what a quota allows.
import fc from 'fast-check';
import { hasRoom, isFull, isNearlyFull, type Quota, roomFor } from '../../../src/actors/quotas/room.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

const DAY = 86_400_000;
const NOW = 100 * DAY;

const quota = (bytes: number | null, messages: number | null, parts: Partial<Quota> = {}): Quota => ({
  used: { bytes: 1_000, messages: 10 },
  limit: { bytes, messages },
  fullSince: null,
  ...parts,
});

test('a message fits up to the limit, and one of unknown size while anything fits', (t) => {
  t.is(roomFor(quota(null, null), 1e12, NOW), 'room');
  t.is(roomFor(quota(1_500, null), 500, NOW), 'room');
  t.is(roomFor(quota(1_500, null), 501, NOW), 'full');
  t.is(roomFor(quota(1_001, null), 0, NOW), 'room');
  t.is(roomFor(quota(1_000, null), 0, NOW), 'full');
  t.is(roomFor(quota(null, 11), 500, NOW), 'room');
  t.is(roomFor(quota(null, 10), 500, NOW), 'full');
});

test('it is final only for a mailbox that has been full for three days', (t) => {
  const full = (since: number | null) => quota(1_000, null, { fullSince: since });
  t.is(roomFor(full(null), 5, NOW), 'full');
  t.is(roomFor(full(NOW - 3 * DAY + 1), 5, NOW), 'full');
  t.is(roomFor(full(NOW - 3 * DAY), 5, NOW), 'fullForLong');
  // The mailbox has room for smaller messages.
  t.is(roomFor(quota(1_001, null, { fullSince: NOW - 9 * DAY }), 5, NOW), 'full');
});

test('the limit of the domain holds beside that of the account', (t) => {
  const domain = { used: { bytes: 90, messages: 0 }, limit: { bytes: 100, messages: null }, fullSince: null };
  t.is(roomFor(quota(null, null, { domain }), 10, NOW), 'room');
  t.is(roomFor(quota(null, null, { domain }), 11, NOW), 'full');
  const long = { ...domain, used: { bytes: 100, messages: 0 }, fullSince: NOW - 4 * DAY };
  t.is(roomFor(quota(null, null, { domain: long }), 1, NOW), 'fullForLong');
});

test('what needs nothing more fits however full it is, and nothing fits beyond the limit', (t) => {
  const amount = fc.nat(2_000);
  const limit = fc.option(amount);
  fc.assert(
    fc.property(
      amount,
      amount,
      limit,
      limit,
      fc.integer({ min: -50, max: 50 }),
      (bytes, messages, most, many, more) => {
        const used = { used: { bytes, messages }, limit: { bytes: most, messages: many } };
        t.true(hasRoom(used, { bytes: 0, messages: 0 }));
        t.is(hasRoom(used, { bytes: more, messages: 0 }), more <= 0 || most === null || bytes + more <= most);
        t.is(isFull(used), (most !== null && bytes >= most) || (many !== null && messages >= many));
        if (isFull(used)) t.true(isNearlyFull(used));
      },
    ),
    { numRuns: runs(200) },
  );
});
