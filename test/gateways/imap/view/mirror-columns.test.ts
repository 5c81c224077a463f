// Tests columns of a folder's messages: what they hold after a page of changes.

import fc from 'fast-check';
import { KEPT_KEYWORDS } from '../../../../src/gateways/imap/view/expected-flags.js';
import { MirrorColumns } from '../../../../src/gateways/imap/view/mirror-columns.js';
import test from '../../../support/test.js';

const page = (uids: Uint32Array) => ({
  uids,
  flags: new Uint16Array(uids.length),
  modseqs: new Float64Array(uids.length),
  hasKeywords: false,
  keywordsOf: () => [],
  expunged: new Uint32Array(0),
});

const BITS = [0x1, 0x8000];

/** Returns what a search for each flag finds. */
const indexesWith = (columns: MirrorColumns) => BITS.map((bit) => [...columns.withBit(bit).positions()]);

test('messages that have changed are told without those that are new, and keep nothing of the page', (t) => {
  const columns = new MirrorColumns();
  t.is(columns.apply(page(Uint32Array.of(3, 5))).length, 0);
  const changed = columns.apply(page(Uint32Array.from({ length: 10_000 }, (_, i) => 5 + i)));
  t.deepEqual([...changed], [5]);
  t.is(changed.buffer.byteLength, 4);
  t.is(columns.count, 10_001);
});

test('pages of messages that follow each other, and of some here and there, change those and no others', (t) => {
  const flags = fc.nat(0xffff);
  const changes = fc.array(fc.array(fc.record({ at: fc.nat(39), run: fc.nat(12), flags }), { minLength: 1 }));
  fc.assert(
    fc.property(changes, fc.nat(5), (pages, added) => {
      const columns = new MirrorColumns();
      const model = new Map<number, { flags: number; modseq: number }>();
      const apply = (modseq: number, changed: ReadonlyMap<number, number>) => {
        const uids = Uint32Array.from(changed.keys()).sort();
        const before = [...uids].filter((uid) => model.has(uid));
        const told = columns.apply({
          ...page(uids),
          flags: Uint16Array.from(uids, (uid) => changed.get(uid)!),
          modseqs: new Float64Array(uids.length).fill(modseq),
        });
        t.deepEqual([...told], before);
        // The flags are searched before the next page arrives.
        indexesWith(columns);
        for (const [uid, flags] of changed) model.set(uid, { flags, modseq });
      };
      // UIDs have gaps.
      const uidOf = (at: number) => 1 + at + Math.floor(at / 5);
      apply(1, new Map(Array.from({ length: 40 }, (_, at) => [uidOf(at), 0])));
      pages.forEach((runs, i) => {
        const changed = new Map<number, number>();
        for (const { at, run, flags } of runs)
          for (let next = at; next <= Math.min(39, at + run); next++) changed.set(uidOf(next), flags);
        for (let more = 0; more < added; more++) changed.set(uidOf(40 + i * 5 + more), more);
        apply(i + 2, changed);
      });
      const rows = [...model].sort(([a], [b]) => a - b);
      t.is(columns.count, rows.length);
      rows.forEach(([uid, { flags, modseq }], index) => {
        t.deepEqual([columns.uids[index], columns.bitsAt(index), columns.modseqAt(index)], [uid, flags, modseq]);
      });
      const withBit = (bit: number) => rows.flatMap(([, { flags }], index) => ((flags & bit) === 0 ? [] : [index]));
      t.deepEqual(indexesWith(columns), BITS.map(withBit));
      const changedAfter = rows.filter(([, { modseq }]) => modseq > 2).map(([uid]) => uid);
      t.deepEqual([...columns.uidsChangedAfter(2, columns.count)], changedAfter);
    }),
  );
});

test('bits of messages of any set change, and those that had others are told', (t) => {
  const sets = fc.array(
    fc.record({
      uids: fc.uniqueArray(fc.integer({ min: 1, max: 30 })),
      run: fc.tuple(fc.nat(30), fc.nat(30)),
      kept: fc.constantFrom(0, 0xfffe, 0xffff, 0x7fff),
      added: fc.constantFrom(0, 1, 0x8001),
    }),
  );
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 30 })), sets, (there, changes) => {
      const columns = new MirrorColumns();
      columns.apply(page(Uint32Array.from(there).sort()));
      const model = new Map(there.map((uid) => [uid, { bits: 0, modseq: 0 }]));
      changes.forEach(({ uids, run: [first, last], kept, added }, i) => {
        const named = new Set(uids);
        for (let uid = Math.max(1, first); uid <= last; uid++) named.add(uid);
        const changed: number[] = [];
        for (const uid of [...named].sort((a, b) => a - b)) {
          const before = model.get(uid)?.bits ?? -1;
          const bits = (before & kept) | added;
          if (before < 0 || bits === before) continue;
          model.set(uid, { bits, modseq: i + 1 });
          changed.push(uid);
        }
        const earlier = columns.withBit(1);
        const foundEarlier = [...earlier.positions()];
        const told = columns.changeFlags(Uint32Array.from(named).sort(), { kept, added }, KEPT_KEYWORDS, i + 1);
        t.deepEqual([...told], changed);
        for (const [uid, { bits, modseq }] of model) {
          const index = columns.indexOf(uid);
          t.deepEqual([columns.bitsAt(index), columns.modseqAt(index)], [bits, modseq]);
        }
        const rows = [...model].sort(([a], [b]) => a - b);
        const withBit = (bit: number) => rows.flatMap(([, { bits }], index) => ((bits & bit) === 0 ? [] : [index]));
        t.deepEqual(indexesWith(columns), BITS.map(withBit));
        t.deepEqual([...earlier.positions()], foundEarlier);
      });
    }),
  );
  t.pass();
});
