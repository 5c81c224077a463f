// Tests where rows are, and that the rows that are seen stay when others come and go.
import { anchorsAt, type Drawn, heldAt, ListGeometry } from '../../../web/src/list/geometry.js';
import test from '../../support/test.js';

const SIZES = { row: 77, header: 36 };

test('rows have one height, and groups a header above their first row', (t) => {
  const geometry = new ListGeometry(100_000, SIZES, [0, 3]);
  t.is(geometry.top(0), 36);
  t.is(geometry.top(2), 36 + 2 * 77);
  t.is(geometry.top(3), 2 * 36 + 3 * 77);
  t.is(geometry.height, 100_000 * 77 + 2 * 36);
  for (const index of [0, 1, 2, 3, 4, 50_000, 99_999]) {
    t.is(geometry.indexAt(geometry.top(index)), index);
    t.is(geometry.indexAt(geometry.top(index) + 76), index);
  }
  // The header belongs to the row below it.
  t.is(geometry.indexAt(36 + 3 * 77 + 10), 3);
  t.is(geometry.indexAt(1e9), 99_999);
});

test('an empty list has no rows at any height', (t) => {
  t.deepEqual(new ListGeometry(0, SIZES).between(0, 900), { start: 0, end: 0 });
  t.is(new ListGeometry(0, SIZES).height, 0);
});

function drawn(ids: readonly string[], start = 0, headers: readonly number[] = []): Drawn {
  return { start, items: ids.map((id) => ({ id })), geometry: new ListGeometry(start + ids.length, SIZES, headers) };
}

test('the first row that is seen stays where it is when rows come above it', (t) => {
  const anchors = anchorsAt(drawn(['c', 'd', 'e', 'f']), 100, 200);
  t.deepEqual(anchors[0], { id: 'd', offset: -23 });
  t.is(heldAt(drawn(['a', 'b', 'c', 'd', 'e', 'f']), anchors), 100 + 2 * 77);
  // A header that comes counts, too.
  t.is(heldAt(drawn(['b', 'c', 'd', 'e', 'f'], 0, [0]), anchors), 100 + 77 + 36);
});

test('when that row leaves, the next one that is seen stays', (t) => {
  const anchors = anchorsAt(drawn(['a', 'b', 'c', 'd']), 0, 200);
  t.deepEqual(
    anchors.map(({ id }) => id),
    ['a', 'b', 'c'],
  );
  t.is(heldAt(drawn(['n', 'b', 'c', 'd']), anchors), 0);
  t.is(heldAt(drawn(['c', 'd']), anchors), -154);
  t.is(heldAt(drawn(['x', 'y']), anchors), undefined);
});

test('only rows that are loaded are held', (t) => {
  t.deepEqual(anchorsAt({ ...drawn(['k', 'l'], 10), geometry: new ListGeometry(20, SIZES) }, 0, 300), []);
});
