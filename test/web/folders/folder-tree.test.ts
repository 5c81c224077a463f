// Tests where folders stand below each other, and where they can go.
import type { Folder } from '../../../src/client/index.js';
import { above, depthOf, hasBelow, isInBin, possibleParents } from '../../../web/src/folders/folder-tree.js';
import test from '../../support/test.js';

const folder = (id: string, parentId: string | null = null, role: Folder['role'] = 'folder'): Folder => ({
  id,
  name: id,
  role,
  parentId,
  total: 0,
  unread: 0,
  color: null,
  isSubscribed: true,
});

const TRASH = folder('trash', null, 'trash');
const [A, B, C, D] = [folder('a'), folder('b', 'a'), folder('c', 'b'), folder('d')];
const OLD = folder('old', 'trash');
const LABEL = folder('label', null, 'label');
const ALL = [TRASH, A, B, C, D, OLD, LABEL];
const ids = (folders: readonly Folder[]) => folders.map(({ id }) => id);

test('a folder knows what is above it, and a circle ends', (t) => {
  t.deepEqual(ids(above(C, ALL)), ['b', 'a']);
  t.is(depthOf(C, ALL), 2);
  t.is(depthOf(C, [A, C]), 0);
  const circle = [folder('x', 'y'), folder('y', 'x')];
  t.is(depthOf(circle[0]!, circle), 2);
});

test('a folder can go below any other of the user that is not below itself', (t) => {
  t.deepEqual(ids(possibleParents(undefined, ALL)), ['a', 'b', 'c', 'd', 'old']);
  t.deepEqual(ids(possibleParents(B, ALL)), ['a', 'd', 'old']);
  t.deepEqual(ids(possibleParents(OLD, ALL)), ['trash', 'a', 'b', 'c', 'd']);
});

test('the emails of folders below Trash are deleted with them', (t) => {
  t.deepEqual(ids(ALL.filter((one) => isInBin(one, ALL))), ['old']);
  t.deepEqual(ids(ALL.filter((one) => hasBelow(one, ALL))), ['trash', 'a', 'b']);
});
