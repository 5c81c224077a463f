// Rows are dragged to folders and labels: what is selected, or the one row.
import type { Folder } from '../../../src/client/index.js';
import { moveTo, toggleLabel, withRows } from '../app/mail-actions.js';
import type { Store } from '../app/store.js';
import { rowOf } from './row.js';

/** Emails when they are selected; else the one row. */
let dragged: { readonly ids: readonly string[]; readonly areRows: boolean } | undefined;

export function startDrag({ list }: Store, event: DragEvent): void {
  const id = rowOf(event)?.dataset['id'];
  if (id === undefined || event.dataTransfer === null) return;
  const selected = list.selected.peek();
  const row = list.row(id);
  dragged =
    row !== undefined && list.isSelected(row) ? { ids: [...selected], areRows: false } : { ids: [id], areRows: true };
  event.dataTransfer.effectAllowed = 'move';
  event.dataTransfer.setData('text/plain', list.item(id)?.subject ?? '');
}

export function endDrag(): void {
  dragged = undefined;
}

/** Whether the rows that are dragged can be dropped on a folder. */
export function accepts(folder: Folder | undefined): folder is Folder {
  return dragged !== undefined && folder !== undefined && folder.role !== 'drafts' && folder.role !== 'sent';
}

export function drop(store: Store, folder: Folder): void {
  const what = dragged;
  endDrag();
  const act = (ids: readonly string[]) => {
    if (folder.role !== 'label') moveTo(store, folder.id, ids);
    else {
      const without = ids.filter((id) => !store.list.known(id)?.folderIds.includes(folder.id));
      toggleLabel(store, folder, without);
    }
  };
  if (what?.areRows) withRows(store, what.ids, act);
  else if (what !== undefined) act(what.ids);
}
