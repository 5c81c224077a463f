// How many emails are in flight and whose, with any history of comings and goings; and what rests after it failed.
import test from 'ava';
import fc from 'fast-check';
import { Backoff } from '../../../src/actors/delivery/backoff.js';
import { InFlight } from '../../../src/actors/delivery/in-flight.js';

test('never more than the limit, and always a place for a newcomer while there is one at all', (t) => {
  const step = fc.record({ account: fc.nat({ max: 5 }), leaves: fc.boolean() });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.array(step, { maxLength: 200 }), (limit, steps) => {
      const flights = new InFlight(limit);
      const model = new Map<string, string>();
      let number = 0;
      for (const { account, leaves } of steps) {
        const accountId = `a${account}`;
        if (leaves) {
          const [id] = [...model].find(([, owner]) => owner === accountId) ?? [];
          if (id === undefined) continue;
          flights.remove(id);
          model.delete(id);
        } else {
          const own = [...model.values()].filter((owner) => owner === accountId).length;
          const id = `e${++number}`;
          const isSated = flights.sated.includes(accountId);
          const added = flights.add(accountId, id);
          t.is(added, own < 2 * (limit - model.size));
          if (own > 0) t.is(isSated, !added);
          if (added) model.set(id, accountId);
        }
        t.is(flights.openings(accountId), openings(flights, accountId));
        t.is(flights.size, model.size);
        t.true(flights.size <= limit);
        if (flights.room > 0) t.false(flights.sated.includes('newcomer'));
      }
      t.deepEqual([...flights.ids].sort(), [...model.keys()].sort());
    }),
  );
});

/** By adding them. */
function openings(flights: InFlight, accountId: string): number {
  let count = 0;
  while (flights.add(accountId, `opening ${count}`)) count++;
  for (let i = 0; i < count; i++) flights.remove(`opening ${i}`);
  return count;
}

test('what is parked gives its place away, up to a bound, and comes back without one', (t) => {
  const flights = new InFlight(3, 2);
  t.true(flights.add('a', 'e1'));
  t.true(flights.add('b', 'e2'));
  t.true(flights.add('c', 'e3'));
  t.false(flights.add('d', 'e4'));
  t.true(flights.park('e1'));
  t.false(flights.park('e1'));
  t.false(flights.park('nobody'));
  t.true(flights.has('e1'));
  t.is(flights.room, 1);
  t.true(flights.add('d', 'e4'));
  t.true(flights.park('e2'));
  t.false(flights.park('e3'), 'as many as may be');
  flights.unpark('e1');
  t.is(flights.room, 0);
  flights.unpark('e2');
  flights.unpark('e2');
  t.is(flights.room, -1);
  t.is(flights.openings('z'), 0);
  t.deepEqual(flights.sated.toSorted(), ['a', 'b', 'c', 'd']);
  t.true(flights.park('e4'));
  for (const id of ['e1', 'e2', 'e3', 'e4']) flights.remove(id);
  t.is(flights.room, 3);
  t.is(flights.size, 0);
  t.deepEqual(flights.sated, []);
});

test('an email is in flight once', (t) => {
  const flights = new InFlight(5);
  t.true(flights.add('a', 'e'));
  t.false(flights.add('a', 'e'));
  flights.remove('e');
  flights.remove('e');
  t.is(flights.room, 5);
  t.true(flights.add('a', 'e'));
});

test('who fails rests, longer each time; who succeeds, or is not heard of for long, begins anew', (t) => {
  let now = 0;
  const rests = new Backoff(() => now);
  const restOf = (id: string) => {
    rests.failed(id);
    const began = now;
    while (rests.has(id)) now += 100;
    return now - began;
  };
  t.deepEqual([restOf('a'), restOf('a'), restOf('a')], [500, 1_000, 2_000]);
  for (let i = 0; i < 10; i++) restOf('a');
  t.is(restOf('a'), 30_000);
  rests.succeeded('a');
  t.is(restOf('a'), 500);
  rests.failed('a');
  rests.failed('a');
  t.deepEqual(rests.ids, ['a']);
  now += 10_000;
  t.deepEqual(rests.ids, []);
  t.is(restOf('a'), 500);
});
