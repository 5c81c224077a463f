// The folders and labels of the user, each with its menu. A label is dragged to another place, or moved with Alt and an arrow.
import './own-folders.css';
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Folder } from '../../../src/client/index.js';
import type { Store } from '../app/store.js';
import { Icon } from '../design/icon.js';
import { t } from '../i18n/t.js';
import { type Editing, editing } from './editing.js';
import { moveLabelBy, moveLabelTo } from './folder-changes.js';
import { FolderForm } from './folder-form.js';
import { FolderLink } from './folder-link.js';
import { FolderMenu } from './folder-menu.js';
import { folderName } from './folder-name.js';
import { depthOf } from './folder-tree.js';
import { shownLabels, siblingsOf } from './label-order.js';

interface OwnProps {
  readonly store: Store;
  readonly onOpen: () => void;
}

export function OwnFolders({ store, onOpen }: OwnProps) {
  const own = store.folders.value.filter(({ role }) => role === 'folder');
  const edited = editing.value;
  return (
    <>
      <Heading what="folder">{t('folders.title')}</Heading>
      {edited?.what === 'folder' && edited.folder === undefined && (
        <FolderForm key={edited.parent?.id ?? ''} edited={edited} />
      )}
      <ul>
        {own.map((folder) => (
          <OwnRow key={folder.id} folder={folder} depth={depthOf(folder, own)} store={store} onOpen={onOpen} />
        ))}
      </ul>
    </>
  );
}

export function OwnLabels({ store, onOpen }: OwnProps) {
  const edited = editing.value;
  return (
    <>
      <Heading what="label">{t('folders.labels')}</Heading>
      {edited?.what === 'label' && edited.folder === undefined && <FolderForm edited={edited} />}
      <ul>
        {shownLabels(store.folders.value, store.labels.value).map(({ folder, depth }) => (
          <OwnRow key={folder.id} folder={folder} depth={depth} store={store} onOpen={onOpen} />
        ))}
      </ul>
    </>
  );
}

function Heading({ what, children }: { readonly what: Editing['what']; readonly children: ComponentChildren }) {
  const name = what === 'label' ? t('organise.newLabel') : t('organise.newFolder');
  return (
    <div class="folders-heading">
      <h2>{children}</h2>
      <button
        type="button"
        class="icon-button"
        aria-label={name}
        title={name}
        onClick={() => {
          editing.value = { what };
        }}
      >
        <Icon name="plus" />
      </button>
    </div>
  );
}

interface OwnRowProps extends OwnProps {
  readonly folder: Folder;
  readonly depth: number;
}

function OwnRow({ folder, depth, store, onOpen }: OwnRowProps) {
  const { id, role } = folder;
  const edited = editing.value;
  const sorting = useSorting(folder, store);
  const view = role === 'label' ? 'label' : 'folder';
  return (
    <li>
      <div class={`folder-row ${sorting.mark}`} {...sorting.handlers}>
        <FolderLink
          to={{ view, id }}
          name={folderName(folder)}
          icon={role === 'label' ? undefined : 'folder'}
          color={folder.color ?? undefined}
          count={folder.unread}
          depth={depth}
          folder={folder}
          store={store}
          onOpen={onOpen}
        />
        <FolderMenu folder={folder} store={store} />
      </div>
      {edited?.folder?.id === id && <FolderForm key={id} edited={edited} />}
    </li>
  );
}

/** The label that is dragged. */
let draggedId: string | undefined;

/** What sorts labels: dragging and keys. Folders stand in the order of their names. */
function useSorting({ id, role }: Folder, store: Store) {
  const mark = useSignal<'' | 'is-before' | 'is-after'>('');
  if (role !== 'label') return { mark: '', handlers: {} };
  const isSibling = () =>
    draggedId !== undefined &&
    draggedId !== id &&
    siblingsOf(shownLabels(store.folders.peek(), store.labels.peek()), id).some((label) => label.id === draggedId);
  const handlers = {
    onDragStart: (event: DragEvent) => {
      draggedId = id;
      if (event.dataTransfer !== null) event.dataTransfer.effectAllowed = 'move';
    },
    onDragEnd: () => {
      draggedId = undefined;
    },
    onDragOver: (event: DragEvent) => {
      if (!isSibling()) return;
      event.preventDefault();
      const { top, height } = (event.currentTarget as Element).getBoundingClientRect();
      mark.value = event.clientY > top + height / 2 ? 'is-after' : 'is-before';
    },
    onDragLeave: () => {
      mark.value = '';
    },
    onDrop: (event: DragEvent) => {
      event.preventDefault();
      if (isSibling()) moveLabelTo(store, draggedId!, id, mark.peek() === 'is-after');
      mark.value = '';
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
      event.preventDefault();
      moveLabelBy(store, id, event.key === 'ArrowUp' ? -1 : 1);
    },
  };
  return { mark: mark.value, handlers };
}
