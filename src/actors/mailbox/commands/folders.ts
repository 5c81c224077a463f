// Folders that users create: created, renamed with all folders below them, subscribed and deleted. Labels are folders too, so the rules of
// paths are here for both. folder-deletion.ts handles the emails of a deleted folder.

import {
  belowLevels,
  isBelow,
  isPathWithinBounds,
  isSystemName,
  levelsOf,
  MOST_FOLDERS_OF_ROLE,
  superiorsOf,
} from '../../../mail-format/folder-name.js';
import { caseFolded } from '../../../mail-format/words/case-fold.js';
import { type FolderRow, SYSTEM_ROLES } from '../../../store/mailbox-rows.js';
import type { Outcome, Payload } from '../../runtime/protocol.js';
import type { Folder } from '../folder-operations.js';
import type { MailboxProtocol } from '../protocol.js';
import type { MailboxTransaction } from '../state/transaction.js';
import { deleteFolders } from './folder-deletion.js';
import { forgetSubscription, keepSubscriptions } from './kept-subscriptions.js';
import { folderNamed } from './selection.js';

/** The colour of labels that are created as folders. */
export const LABEL_COLOR = '#808080';

const isSystemFolder = ({ role }: FolderRow): boolean => SYSTEM_ROLES.some((system) => system === role);

export function createFolder(
  tx: MailboxTransaction,
  { name, parentId = null, role }: Payload<MailboxProtocol, 'createFolder'>,
): Outcome<MailboxProtocol, 'createFolder'> {
  const parent = parentId === null ? undefined : folderNamed(tx, parentId);
  if (parentId !== null && parent === undefined) return { refusal: 'noSuchParent' };
  const color = role === 'label' ? LABEL_COLOR : null;
  const made = addFolder(tx, { role, name: pathIn(parent, name), color, sortOrder: 0 });
  return 'refusal' in made ? made : { reply: shownFolders(tx.folders.rows()).find(({ id }) => id === made.id)! };
}

/** Adds an empty folder with this path. */
export function addFolder(
  tx: MailboxTransaction,
  folder: Pick<FolderRow, 'role' | 'name' | 'color' | 'sortOrder'>,
): FolderRow | { readonly refusal: 'nameTaken' | 'nameTooLong' | 'tooMany' } {
  if (!isPathWithinBounds(folder.name)) return { refusal: 'nameTooLong' };
  const rows = tx.folders.rows();
  const taken = new Set(rows.map(({ name }) => caseFolded(name)));
  if (isSystemName(folder.name) || taken.has(caseFolded(folder.name))) return { refusal: 'nameTaken' };
  if (rows.filter(({ role }) => role === folder.role).length >= MOST_FOLDERS_OF_ROLE) return { refusal: 'tooMany' };
  const modseq = tx.begin();
  const id = tx.otherId();
  // Differs for every folder that an account ever had (RFC 9051 §2.3.1.1), even if the clock goes back.
  const uidValidity = tx.folders.rowOf('inbox').uidValidity + modseq;
  tx.createFolder({ ...folder, id, uidValidity, isSubscribed: true, createdAt: tx.now });
  return tx.folders.row(id)!;
}

export function renameFolder(
  tx: MailboxTransaction,
  { folderId, name, parentId, isPath = false, isSubscribed }: Payload<MailboxProtocol, 'renameFolder'>,
): Outcome<MailboxProtocol, 'renameFolder'> {
  const folder = folderNamed(tx, folderId);
  if (folder === undefined) return { refusal: 'noSuchFolder' };
  if (isSystemFolder(folder)) return { refusal: 'systemFolder' };
  const superior = superiorOf(folder.name, byPath(tx.folders.rows()));
  if (name.includes('/') && !isPath && name !== nameBelow(superior, folder.name)) return { refusal: 'nameHasSlash' };
  let parent: FolderRow | undefined;
  if (parentId === undefined) parent = superior;
  else if (parentId !== null) {
    parent = folderNamed(tx, parentId);
    if (parent === undefined) return { refusal: 'noSuchParent' };
    if (parent.id === folder.id || isBelow(parent.name, folder.name)) return { refusal: 'intoItself' };
  }
  const changed = isSubscribed === undefined ? {} : { isSubscribed };
  return renameTree(tx, folder, pathIn(parent, name), changed) ?? { reply: {} };
}

/** Changes the path of a folder and of all folders below it; `changed`: other properties of the folder that change. */
export function renameTree(
  tx: MailboxTransaction,
  folder: FolderRow,
  path: string,
  changed: Partial<Pick<FolderRow, 'color' | 'sortOrder' | 'isSubscribed'>> = {},
): { readonly refusal: 'nameTaken' | 'nameTooLong' } | undefined {
  const rows = tx.folders.rows();
  const depth = levelsOf(folder.name).length;
  const moving = rows.filter(({ name }) => isBelow(name, folder.name));
  const paths = new Map(moving.map(({ id, name }) => [id, `${path}/${belowLevels(name, depth)}`]));
  paths.set(folder.id, path);
  const taken = new Set(rows.filter(({ id }) => !paths.has(id)).map(({ name }) => caseFolded(name)));
  const all = [...paths.values()];
  if (isSystemName(path) || all.some((name) => taken.has(caseFolded(name)))) return { refusal: 'nameTaken' };
  if (!all.every(isPathWithinBounds)) return { refusal: 'nameTooLong' };
  const isSame = Object.entries(changed).every(([key, value]) => folder[key as keyof FolderRow] === value);
  if (folder.name === path && isSame) return undefined;
  tx.begin();
  tx.changeFolder(folder.id, { ...changed, name: path });
  if (folder.name === path) return undefined;
  for (const { id } of moving) tx.changeFolder(id, { name: paths.get(id)! });
  return undefined;
}

export function deleteFolder(
  tx: MailboxTransaction,
  { folderId, withInferiors, keepsSubscription = false }: Payload<MailboxProtocol, 'deleteFolder'>,
): Outcome<MailboxProtocol, 'deleteFolder'> {
  const folder = folderNamed(tx, folderId);
  if (folder === undefined) return { refusal: 'noSuchFolder' };
  if (isSystemFolder(folder)) return { refusal: 'systemFolder' };
  const below = withInferiors ? tx.folders.rows().filter(({ name }) => isBelow(name, folder.name)) : [];
  const folders = [folder, ...below];
  if (!deleteFolders(tx, folders)) return { reply: { isComplete: false } };
  if (keepsSubscription)
    keepSubscriptions(
      tx,
      folders.flatMap(({ name, isSubscribed }) => (isSubscribed ? [name] : [])),
    );
  return { reply: {} };
}

export function subscribeFolder(
  tx: MailboxTransaction,
  { folderId, isSubscribed }: Payload<MailboxProtocol, 'subscribeFolder'>,
): Outcome<MailboxProtocol, 'subscribeFolder'> {
  const folder = folderNamed(tx, folderId);
  if (folder === undefined) return { refusal: 'noSuchFolder' };
  if (!isSubscribed) forgetSubscription(tx, folder.name);
  if (folder.isSubscribed === isSubscribed) return { reply: {} };
  tx.begin();
  tx.changeFolder(folder.id, { isSubscribed });
  return { reply: {} };
}

/** Returns system folders first, the others by path. */
export function shownFolders(rows: readonly FolderRow[]): Folder[] {
  const paths = byPath(rows);
  const rank = (row: FolderRow) => (isSystemFolder(row) ? (SYSTEM_ROLES as readonly string[]).indexOf(row.role) : 9);
  return rows
    .map((row) => ({ row, rank: rank(row), levels: levelsOf(caseFolded(row.name)) }))
    .sort((a, b) => a.rank - b.rank || comparePaths(a.levels, b.levels))
    .map(({ row }) => {
      const { id, name: path, role, total, unread, color, isSubscribed } = row;
      const superior = superiorOf(path, paths);
      const name = nameBelow(superior, path);
      return { id, path, name, role, parentId: superior?.id ?? null, total, unread, color, isSubscribed };
    });
}

/** Sorts a folder before the folders below it. */
function comparePaths(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((level, i) => level !== b[i]);
  if (at < 0) return a.length - b.length;
  return at >= b.length || a[at]! > b[at]! ? 1 : -1;
}

const byPath = (rows: readonly FolderRow[]): ReadonlyMap<string, FolderRow> =>
  new Map(rows.map((row) => [caseFolded(row.name), row]));

/** The folder with the longest path above this one; undefined at the top level. */
function superiorOf(path: string, folders: ReadonlyMap<string, FolderRow>): FolderRow | undefined {
  for (const superior of superiorsOf(path)) {
    const folder = folders.get(superior);
    if (folder !== undefined) return folder;
  }
  return undefined;
}

const pathIn = (parent: FolderRow | undefined, name: string): string =>
  parent === undefined ? name : `${parent.name}/${name}`;

/** The name by which a folder is shown below its superior. */
function nameBelow(superior: FolderRow | undefined, path: string): string {
  return superior === undefined ? path : belowLevels(path, levelsOf(superior.name).length);
}
