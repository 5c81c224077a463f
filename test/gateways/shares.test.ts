// Bounds that many share, and turns: nobody gets more than its share, and nobody waits for all of another's work.
import test from 'ava';
import fc from 'fast-check';
import { Shares } from '../../src/gateways/shares.js';
import { Slots, Turns } from '../../src/gateways/slots.js';

test('a holder gets its share, all together the total, and what is given back is there again', (t) => {
  const shares = new Shares({ total: 5, share: 3 });
  t.deepEqual(
    ['a', 'a', 'a', 'a', 'b', 'b', 'b'].map((holder) => shares.take(holder)),
    [undefined, undefined, undefined, 'share', undefined, undefined, 'total'],
  );
  shares.give('a', 2);
  t.is(shares.take('b', 2), 'share');
  t.is(shares.take('c', 2), undefined);
  t.deepEqual(
    ['a', 'b', 'c', 'd'].map((holder) => shares.heldBy(holder)),
    [1, 2, 2, 0],
  );
  t.is(shares.held, 5);
  t.throws(() => shares.give('a', 2), { instanceOf: RangeError });
});

test('whatever is taken and given back, the bounds hold', (t) => {
  const step = fc.record({ holder: fc.constantFrom('a', 'b', 'c'), amount: fc.integer({ min: -4, max: 4 }) });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const shares = new Shares({ total: 10, share: 5 });
      const held = new Map<string, number>();
      for (const { holder, amount } of steps) {
        const before = held.get(holder) ?? 0;
        if (amount < 0 && before + amount < 0) continue;
        if (amount < 0) shares.give(holder, -amount);
        else if (shares.take(holder, amount) !== undefined) continue;
        held.set(holder, before + amount);
      }
      const sum = [...held.values()].reduce((all, each) => all + each, 0);
      const isSame = [...held].every(([holder, amount]) => shares.heldBy(holder) === amount && amount <= 5);
      return isSame && shares.held === sum && sum <= 10;
    }),
  );
  t.pass();
});

test('slots: holders are served in turn, so that nobody waits for all of another', async (t) => {
  const slots = new Slots(1);
  const served: string[] = [];
  const leave = await slots.enter('a');
  const work = async (name: string): Promise<void> => {
    const done = await slots.enter(name[0]!);
    served.push(name);
    done();
    done();
  };
  const all = Promise.all(['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map(work));
  leave();
  await all;
  t.deepEqual(served, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  // A slot that was given back twice is one slot.
  await slots.enter('a');
  const waiting = slots.enter('a').then(() => 'entered');
  t.is(await Promise.race([waiting, new Promise((resolve) => setImmediate(resolve, 'waits'))]), 'waits');
});

test('turns: other events are served between two steps', async (t) => {
  const turns = new Turns();
  const events: string[] = [];
  const step = async (name: string): Promise<void> => {
    await turns.next();
    events.push(name);
    setImmediate(() => events.push(`after ${name}`));
  };
  await Promise.all(['1', '2', '3'].map(step));
  t.deepEqual(events.slice(0, 4), ['1', 'after 1', '2', 'after 2']);
});
