// The emails over which a filter runs: those of one folder, or of all folders but Trash, Junk, Sent and Drafts.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FolderColumns } from '../state/folder-columns.js';
import type { MailboxState } from '../state/state.js';

const OUT_OF_SCOPE: ReadonlySet<string> = new Set(['trash', 'junk', 'sent', 'drafts']);
/** Placements that are counted in one turn of the event loop. */
const STRETCH = 10_000;

/** `folderId`: null for all folders. */
export function foldersInScope(
  { folders }: Pick<MailboxState, 'folders'>,
  folderId: string | null,
): readonly FolderColumns[] {
  const inScope = (id: string, { row }: FolderColumns) =>
    folderId === null ? !OUT_OF_SCOPE.has(row.role) : id === folderId;
  return [...folders].flatMap(([id, folder]) => (inScope(id, folder) ? [folder] : []));
}

export const mayBeChanged = ({ emails }: Pick<MailboxState, 'emails'>, drafts: FolderColumns, slot: number): boolean =>
  emails.isAlive(slot) && drafts.uidOf(slot) === 0;

type Scope = Pick<MailboxState, 'emails' | 'folders' | 'folderOf'>;

/** Counts the emails in turns of the event loop; the state must not change meanwhile. */
export async function countInTurns(state: Scope, folderId: string | null): Promise<number> {
  const counting = count(state, folderId);
  let next = counting.next();
  for (; next.done !== true; next = counting.next()) await nextTurn();
  return next.value;
}

/** Counts the emails in this turn. */
export function countAtOnce(state: Scope, folderId: string | null): number {
  const counting = count(state, folderId);
  let next = counting.next();
  while (next.done !== true) next = counting.next();
  return next.value;
}

/** Yields after each stretch. It looks at each placement once: there are more pairs of emails and folders than placements. */
function* count(state: Scope, folderId: string | null): Generator<undefined, number> {
  const isCounted = new Uint8Array(state.emails.size);
  const drafts = state.folderOf('drafts');
  let [total, looked] = [0, 0];
  for (const folder of foldersInScope(state, folderId)) {
    for (const slot of folder.slots()) {
      if (++looked % STRETCH === 0) yield;
      if (isCounted[slot] === 1 || !folder.shows(slot) || !mayBeChanged(state, drafts, slot)) continue;
      isCounted[slot] = 1;
      total++;
    }
  }
  return total;
}
