// Tests the emails of a mailbox by time, and the slots of packed ids, against naive models.

import fc from 'fast-check';
import { EmailColumns } from '../../../src/actors/mailbox/email-columns.js';
import { TimeOrder } from '../../../src/actors/mailbox/time-order.js';
import { uuidOctets, uuidV7 } from '../../../src/mail/ids.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

const RANDOM = Buffer.from('0123456789abcdef', 'hex');
const START = Date.UTC(2026, 0, 1);
const id = (i: number): string => uuidV7(START + i, 0, RANDOM);
const append = (emails: EmailColumns, i: number, receivedAt: number) =>
  emails.append({
    id: id(i),
    flags: 0,
    keywords: [],
    receivedAt,
    size: 1_000,
    modseq: 1,
    hasAttachments: false,
  });

test('emails stand by time and slot, and what was given before they came stays as it is', (t) => {
  // Times mostly rise; some are equal, some are far back.
  const time = fc.oneof(
    { weight: 5, arbitrary: fc.nat(3) },
    { weight: 1, arbitrary: fc.integer({ min: -500, max: 0 }) },
  );
  fc.assert(
    fc.property(fc.array(fc.array(time, { maxLength: 40 }), { maxLength: 12 }), (batches) => {
      const emails = new EmailColumns();
      const order = new TimeOrder(emails);
      const times: number[] = [];
      const given: { readonly slots: Uint32Array; readonly copy: number[] }[] = [];
      let now = START;
      for (const batch of batches) {
        for (const step of batch) {
          now += Math.max(0, step);
          const receivedAt = step < 0 ? now + step : now;
          append(emails, times.length, receivedAt);
          times.push(receivedAt);
        }
        const expected = times.map((_, slot) => slot).sort((a, b) => times[a]! - times[b]! || a - b);
        t.deepEqual([...order.slots], expected);
        given.push({ slots: order.slots, copy: expected });
      }
      for (const { slots, copy } of given) t.deepEqual([...slots], copy);
    }),
    { numRuns: runs(200) },
  );
});

test('packed ids come out as their slots, in any order, without those that are not there', (t) => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.nat(300), { minLength: 1, maxLength: 120 }),
      fc.array(fc.nat(300), { maxLength: 150 }),
      fc.array(fc.nat(300), { maxLength: 10 }),
      fc.boolean(),
      (there, asked, killed, isSorted) => {
        const emails = new EmailColumns();
        const slots = new Map<number, number>();
        for (const i of there.toSorted((a, b) => a - b)) slots.set(i, append(emails, i, START));
        for (const i of killed) {
          if (slots.has(i)) emails.kill(slots.get(i)!);
          slots.delete(i);
        }
        const wanted = isSorted ? asked.toSorted((a, b) => a - b) : asked;
        const found: [slot: number, position: number][] = [];
        emails.eachSlot(Buffer.concat(wanted.map((i) => uuidOctets(id(i)))), (slot, at) => found.push([slot, at]));
        t.deepEqual(
          found,
          wanted.flatMap((i, at) => (slots.has(i) ? [[slots.get(i)!, at]] : [])),
        );
      },
    ),
    { numRuns: runs(500) },
  );
});

test('an email of an earlier time is put in its place; the others are not sorted anew', (t) => {
  const emails = new EmailColumns();
  let looks = 0;
  const receivedAt = emails.receivedAt.bind(emails);
  emails.receivedAt = (slot) => {
    looks++;
    return receivedAt(slot);
  };
  const order = new TimeOrder(emails);
  const count = 10_000;
  for (let i = 0; i < count; i++) append(emails, i, START + i * 10);
  const before = order.slots;
  append(emails, count, START + 55);
  looks = 0;
  const { slots } = order;
  t.true(looks < 100);
  t.deepEqual([...slots.subarray(4, 8)], [4, 5, count, 6]);
  t.deepEqual([slots.length, slots.at(-1), before.length, before[6]], [count + 1, count - 1, count, 6]);
});
