// Columns of a folder's messages: what a page of changes leaves behind.
import test from 'ava';
import { MirrorColumns } from '../../../../src/gateways/imap/view/mirror-columns.js';

const page = (uids: Uint32Array) => ({
  uids,
  flags: new Uint16Array(uids.length),
  modseqs: new Float64Array(uids.length),
  hasKeywords: false,
  keywordsOf: () => [],
  expunged: new Uint32Array(0),
});

test('messages that have changed are told without those that are new, and keep nothing of the page', (t) => {
  const columns = new MirrorColumns();
  t.is(columns.apply(page(Uint32Array.of(3, 5))).length, 0);
  const changed = columns.apply(page(Uint32Array.from({ length: 10_000 }, (_, i) => 5 + i)));
  t.deepEqual([...changed], [5]);
  t.is(changed.buffer.byteLength, 4);
  t.is(columns.count, 10_001);
});
