import fc from 'fast-check';
import { CacheBudget } from '../../src/concurrency/cache-budget.js';
import test from '../support/test.js';

class Cache {
  readonly name: string;
  octets = 0;

  constructor(name: string) {
    this.name = name;
  }

  clear(): void {
    this.octets = 0;
  }
}

test('all caches together keep no more than the room, or what the one in use has alone', (t) => {
  const use = fc.record({ who: fc.nat(5), more: fc.nat(40) });
  fc.assert(
    fc.property(fc.array(use), (uses) => {
      const room = new CacheBudget(100);
      const caches = Array.from({ length: 6 }, (_, i) => new Cache(`${i}`));
      for (const { who, more } of uses) {
        caches[who]!.octets += more;
        room.use(caches[who]!);
        const sum = caches.reduce((octets, each) => octets + each.octets, 0);
        t.is(room.octets, sum);
        t.true(sum <= Math.max(100, caches[who]!.octets));
      }
    }),
  );
});

test('the cache that was used least recently gives up all of its own', (t) => {
  const room = new CacheBudget(100);
  const [a, b, c] = ['a', 'b', 'c'].map((name) => new Cache(name));
  for (const cache of [a!, b!]) {
    cache.octets = 40;
    room.use(cache);
  }
  room.use(a!);
  c!.octets = 40;
  room.use(c!);
  t.deepEqual([a!.octets, b!.octets, c!.octets], [40, 0, 40]);
  t.deepEqual([room.cache('a'), room.cache('b'), room.cache('c')], [a, undefined, c]);
});

test('a cache that is made again takes the place of the one before it', (t) => {
  const room = new CacheBudget(100);
  const [before, after] = [new Cache('a'), new Cache('a')];
  before.octets = 90;
  room.use(before);
  after.octets = 20;
  room.use(after);
  t.is(room.octets, 20);
});

test('caches that keep nothing are not remembered: mailboxes come and go', (t) => {
  const room = new CacheBudget(100);
  const caches = Array.from({ length: 1_000 }, (_, i) => new Cache(`${i}`));
  for (const cache of caches) room.use(cache);
  t.is(room.size, 0);
  caches[0]!.octets = 10;
  room.use(caches[0]!);
  t.deepEqual([room.size, room.octets], [1, 10]);
  caches[0]!.clear();
  room.use(caches[0]!);
  t.deepEqual([room.size, room.octets], [0, 0]);
});
