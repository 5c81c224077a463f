// Tests slots for emails under random histories of emails that arrive, wait, continue and end.

import fc from 'fast-check';
import {
  DeliveryConcurrency,
  type DeliverySlot,
} from '../../../../src/actors/delivery/scheduler/delivery-concurrency.js';
import test from '../../../support/test.js';

test('an account may take slots while it has less than twice what is free, and a newcomer always finds one', (t) => {
  const step = fc.record({ account: fc.nat({ max: 5 }), ends: fc.boolean() });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.array(step, { maxLength: 200 }), (total, steps) => {
      const slots = new DeliveryConcurrency({ total, mostWaiting: 10, freed() {} });
      const taken: DeliverySlot[] = [];
      for (const { account, ends } of steps) {
        const accountId = `a${account}`;
        const own = taken.filter((slot) => slot.accountId === accountId);
        if (ends) {
          own[0]?.release();
          if (own.length > 0) taken.splice(taken.indexOf(own[0]!), 1);
        } else {
          const isAtShare = slots.accountsAtShare.includes(accountId);
          const slot = slots.take(accountId);
          t.is(slot !== undefined, own.length < 2 * (total - taken.length));
          if (own.length > 0) t.is(isAtShare, slot === undefined);
          if (slot !== undefined) taken.push(slot);
        }
        t.is(slots.free, total - taken.length);
        t.true(slots.free >= 0);
        if (slots.free > 0) t.false(slots.accountsAtShare.includes('newcomer'));
      }
    }),
  );
});

test('an email whose domains all wait leaves its slot, up to a bound, and goes on without a free one', (t) => {
  let freed = 0;
  const slots = new DeliveryConcurrency({ total: 3, mostWaiting: 2, freed: () => freed++ });
  const take = (accountId: string) => {
    const slot = slots.take(accountId)!;
    slot.count(1, 0);
    slot.count(1, 0);
    return slot;
  };
  const [a, b, c] = [take('a'), take('b'), take('c')];
  t.is(slots.take('d'), undefined);
  a.count(0, 1);
  t.is(slots.free, 0, 'one of two domains waits');
  a.count(0, 1);
  t.is(slots.free, 1);
  t.is(freed, 1);
  const d = take('d');
  for (const slot of [b, c]) {
    slot.count(0, 1);
    slot.count(0, 1);
  }
  t.is(slots.free, 1, 'the third keeps its slot');
  a.count(0, -1);
  b.count(-1, -1);
  b.count(0, -1);
  t.is(slots.free, -1);
  t.is(slots.take('z'), undefined);
  t.deepEqual(slots.accountsAtShare.toSorted(), ['a', 'b', 'c', 'd']);
  for (const slot of [a, b, c, d, d]) slot.release();
  t.is(slots.free, 3);
  t.deepEqual(slots.accountsAtShare, []);
});
