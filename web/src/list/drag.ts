// Rows are dragged to folders and labels: what is selected, or the one row.
import type { Folder } from '../../../src/client/index.js';
import { moveTo, toggleLabel } from '../app/mail-actions.js';
import type { Store } from '../app/store.js';
import { rowOf } from './row.js';

let dragged: readonly string[] = [];

export function startDrag({ list }: Store, event: DragEvent): void {
  const id = rowOf(event)?.dataset['id'];
  if (id === undefined || event.dataTransfer === null) return;
  const selected = list.selected.peek();
  const row = list.row(id);
  dragged = row !== undefined && list.isSelected(row) ? [...selected] : [id];
  event.dataTransfer.effectAllowed = 'move';
  event.dataTransfer.setData('text/plain', list.item(id)?.subject ?? '');
}

export function endDrag(): void {
  dragged = [];
}

/** Whether the rows that are dragged can be dropped on a folder. */
export function accepts(folder: Folder | undefined): folder is Folder {
  return dragged.length > 0 && folder !== undefined && folder.role !== 'drafts' && folder.role !== 'sent';
}

export function drop(store: Store, folder: Folder): void {
  const ids = dragged;
  endDrag();
  if (folder.role !== 'label') moveTo(store, folder.id, ids);
  else {
    const without = store.list.emailsOfRows(ids).filter((id) => !store.list.known(id)?.folderIds.includes(folder.id));
    toggleLabel(store, folder, without);
  }
}
