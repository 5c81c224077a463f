import test from 'ava';
import fc from 'fast-check';
import { MemoryRoom } from '../../src/bounds/memory-room.js';

class Holder {
  readonly name: string;
  octets = 0;

  constructor(name: string) {
    this.name = name;
  }

  clear(): void {
    this.octets = 0;
  }
}

test('all holders together keep no more than the room, or what the one in use has alone', (t) => {
  const use = fc.record({ who: fc.nat(5), more: fc.nat(40) });
  fc.assert(
    fc.property(fc.array(use), (uses) => {
      const room = new MemoryRoom(100);
      const holders = Array.from({ length: 6 }, (_, i) => new Holder(`${i}`));
      for (const { who, more } of uses) {
        holders[who]!.octets += more;
        room.used(holders[who]!);
        const sum = holders.reduce((octets, each) => octets + each.octets, 0);
        t.is(room.octets, sum);
        t.true(sum <= Math.max(100, holders[who]!.octets));
      }
    }),
  );
});

test('the holder that was used least recently gives up all of its own', (t) => {
  const room = new MemoryRoom(100);
  const [a, b, c] = ['a', 'b', 'c'].map((name) => new Holder(name));
  for (const holder of [a!, b!]) {
    holder.octets = 40;
    room.used(holder);
  }
  room.used(a!);
  c!.octets = 40;
  room.used(c!);
  t.deepEqual([a!.octets, b!.octets, c!.octets], [40, 0, 40]);
  t.deepEqual([room.holder('a'), room.holder('b'), room.holder('c')], [a, undefined, c]);
});

test('a holder that is made anew takes the place of the one before it', (t) => {
  const room = new MemoryRoom(100);
  const [before, after] = [new Holder('a'), new Holder('a')];
  before.octets = 90;
  room.used(before);
  after.octets = 20;
  room.used(after);
  t.is(room.octets, 20);
});

test('holders that keep nothing are not remembered: mailboxes come and go', (t) => {
  const room = new MemoryRoom(100);
  const holders = Array.from({ length: 1_000 }, (_, i) => new Holder(`${i}`));
  for (const holder of holders) room.used(holder);
  t.is(room.size, 0);
  holders[0]!.octets = 10;
  room.used(holders[0]!);
  t.deepEqual([room.size, room.octets], [1, 10]);
  holders[0]!.clear();
  room.used(holders[0]!);
  t.deepEqual([room.size, room.octets], [0, 0]);
});
