// Where folders stand below each other. Pure.
import type { Folder } from '../../../src/client/index.js';

/** How many of `all` are above a folder. */
export function depthOf(folder: Folder, all: readonly Folder[]): number {
  return above(folder, all).length;
}

/** The folders above one, the nearest first. */
export function above(folder: Folder, all: readonly Folder[]): readonly Folder[] {
  const found: Folder[] = [];
  let parent = all.find(({ id }) => id === folder.parentId);
  while (parent !== undefined && !found.includes(parent)) {
    found.push(parent);
    const { parentId } = parent;
    parent = all.find(({ id }) => id === parentId);
  }
  return found;
}

/** The folders of the user in which this one can stand, and the one in which it stands; undefined is one that is to be made. */
export function possibleParents(folder: Folder | undefined, all: readonly Folder[]): readonly Folder[] {
  return all.filter(
    (one) =>
      one.id === folder?.parentId ||
      (one.role === 'folder' &&
        (folder === undefined || (one.id !== folder.id && !above(one, all).some(({ id }) => id === folder.id)))),
  );
}

/** What becomes of the emails of a folder that is deleted: below Trash and Junk they are deleted with it. */
export function isInBin(folder: Folder, all: readonly Folder[]): boolean {
  return above(folder, all).some(({ role }) => role === 'trash' || role === 'junk');
}

export function hasBelow({ id }: Folder, all: readonly Folder[]): boolean {
  return all.some(({ parentId }) => parentId === id);
}
