// Tests what a search keeps in memory: found ids, each once, and segments up to a limit.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { uuidOctets, uuidText } from '../../src/mail/ids.js';
import { IdSet } from '../../src/store/postgres/id-set.js';
import { SegmentCache } from '../../src/store/postgres/segment-cache.js';
import { runs } from '../support/amounts.js';
import test from '../support/test.js';

const MEGABYTE = 1024 * 1024;

test('a set of ids has each once, in the order in which they came, however much they are alike', (t) => {
  const alike = fc.nat(40).map((n) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`);
  const other = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((octets) => uuidText(octets));
  fc.assert(
    fc.property(fc.array(fc.oneof(alike, other), { maxLength: 400 }), fc.nat(3), (ids, start) => {
      const set = new IdSet();
      const known = new Set<string>();
      for (const id of ids) {
        const octets = Buffer.concat([Buffer.alloc(start), uuidOctets(id)]);
        t.is(set.add(octets, start), !known.has(id));
        known.add(id);
      }
      t.is(set.size, known.size);
      t.deepEqual(Buffer.from(set.octets()), Buffer.concat([...known].map(uuidOctets)));
    }),
    { numRuns: runs(200) },
  );
});

const segment = (id: number, octets: number) => ({ id, ids: new Uint8Array(octets), hasPositions: false });

test('segments are kept until there is no room, those of the account that was searched last the longest', (t) => {
  const kept = new SegmentCache();
  const accounts = Array.from({ length: 5 }, () => randomUUID());
  for (const [n, account] of accounts.slice(0, 4).entries()) kept.keep(account, segment(n, 7 * MEGABYTE));
  t.deepEqual([...kept.of(accounts[0]!).keys()], [0]);
  kept.keep(accounts[4]!, segment(4, 7 * MEGABYTE));
  t.deepEqual(
    accounts.map((account) => kept.of(account).size),
    [1, 0, 1, 1, 1],
  );
});

test('no account takes more than its share; a segment that comes again counts once, and one that is gone no more', (t) => {
  const kept = new SegmentCache();
  const [greedy, other] = [randomUUID(), randomUUID()];
  kept.keep(other, segment(1, 10 * MEGABYTE));
  for (let id = 10; id < 30; id++) kept.keep(greedy, segment(id, 3 * MEGABYTE));
  t.is(kept.of(greedy).size, 5);
  t.is(kept.of(other).size, 1);
  for (let i = 0; i < 20; i++) kept.keep(greedy, segment(10, 3 * MEGABYTE));
  t.is(kept.of(greedy).size, 5);
  kept.retain(greedy, new Set([11, 12]));
  t.deepEqual([...kept.of(greedy).keys()], [11, 12]);
  for (let id = 40; id < 43; id++) kept.keep(greedy, segment(id, 3 * MEGABYTE));
  t.is(kept.of(greedy).size, 5);
  kept.keep(greedy, segment(50, 17 * MEGABYTE));
  t.false(kept.of(greedy).has(50));
  t.is(kept.of(other).size, 1);
});
