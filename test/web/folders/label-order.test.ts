// Tests in which order labels are shown, and what changes when one is moved.
import type { Folder, Label } from '../../../src/client/index.js';
import { moved, shownLabels, siblingsOf } from '../../../web/src/folders/label-order.js';
import test from '../../support/test.js';

const label = (name: string, sortOrder: number): Label => ({
  id: name,
  name,
  color: '#3b78d8',
  sortOrder,
  emailCount: 0,
  createdAt: '2026-01-01T00:00:00.000Z',
});
const folder = (id: string, parentId: string | null = null, role: Folder['role'] = 'label'): Folder => ({
  id,
  name: id,
  role,
  parentId,
  total: 0,
  unread: 0,
  color: '#3b78d8',
  isSubscribed: true,
});

/** As the service sorts them. */
function inOrder(labels: readonly Label[]): readonly Label[] {
  return labels.toSorted((a, b) => a.sortOrder - b.sortOrder || (a.name < b.name ? -1 : 1));
}

test('labels are shown by their number, each followed by those below it', (t) => {
  const folders = [folder('inbox', null, 'inbox'), folder('a'), folder('a/x', 'a'), folder('b'), folder('c', 'mine')];
  const labels = [label('c', 0), label('b', 1), label('a', 2), label('a/x', 3)];
  t.deepEqual(
    shownLabels(folders, labels).map(({ folder: { id }, depth }) => [id, depth]),
    [
      ['c', 0],
      ['b', 0],
      ['a', 0],
      ['a/x', 1],
    ],
  );
  t.deepEqual(
    shownLabels(folders, []).map(({ folder: { id } }) => id),
    ['a', 'a/x', 'b', 'c'],
  );
});

test('labels move among those of the same parent', (t) => {
  const folders = [folder('a'), folder('a/x', 'a'), folder('a/y', 'a'), folder('b'), folder('b/z', 'b')];
  const shown = shownLabels(folders, ['a', 'a/x', 'a/y', 'b', 'b/z'].map(label));
  const names = (id: string) => siblingsOf(shown, id).map(({ name }) => name);
  t.deepEqual(names('b'), ['a', 'b']);
  t.deepEqual(names('a/x'), ['a/x', 'a/y']);
  t.deepEqual(names('b/z'), ['b/z']);
  t.deepEqual(names('gone'), []);
});

test('a label that moves stands where it was put, whatever the numbers were', (t) => {
  const numbers = [
    [0, 0, 0, 0, 0],
    [1, 2, 3, 4, 5],
    [0, 10, 20, 30, 40],
    [-3, -3, 0, 0, 7],
  ];
  for (const [i, from, to] of numbers.flatMap((_, i) =>
    [0, 1, 2, 3, 4].flatMap((a) => [0, 1, 2, 3, 4].map((b) => [i, a, b] as const)),
  )) {
    const labels = ['a', 'b', 'c', 'd', 'e'].map((name, at) => label(name, numbers[i]![at]!));
    const changes = moved(labels, labels[from]!.id, to);
    const after = labels.map((one) => ({ ...one, ...changes.find(({ id }) => id === one.id)?.after }));
    const expected = labels
      .map(({ id }) => id)
      .toSpliced(from, 1)
      .toSpliced(to, 0, labels[from]!.id);
    t.deepEqual(
      inOrder(after).map(({ id }) => id),
      expected,
      `${numbers[i]}: ${from} to ${to}`,
    );
    t.true(changes.every(({ before, after }) => before.sortOrder !== after.sortOrder && before.name === after.name));
  }
});

test('few numbers change', (t) => {
  const labels = ['a', 'b', 'c', 'd'].map((name, i) => label(name, i * 10));
  t.is(moved(labels, 'd', 1).length, 1);
  t.is(moved(labels, 'a', 3).length, 1);
  t.is(moved(labels, 'd', 0).length, 1);
  t.deepEqual(moved(labels, 'a', 0), []);
  t.deepEqual(moved(labels, 'a', -1), []);
  t.deepEqual(moved(labels, 'd', 4), []);
  t.deepEqual(moved(labels, 'gone', 1), []);
});
