// The link to a folder or label, with how many unread emails it has. Rows of the list are dropped on it.
import { useSignal } from '@preact/signals';
import type { Folder } from '../../../src/client/index.js';
import { hrefOf, isListRoute, type Route, withEmail } from '../app/route.js';
import { route } from '../app/router.js';
import type { Store } from '../app/store.js';
import { Icon, type IconName } from '../design/icon.js';
import { formatNumber, t } from '../i18n/t.js';
import { accepts, drop } from '../list/drag.js';

interface FolderLinkProps {
  readonly to: Extract<Route, { readonly view: 'place' | 'folder' | 'label' }>;
  readonly name: string;
  readonly icon?: IconName | undefined;
  readonly color?: string | undefined;
  readonly count: number | undefined;
  readonly depth?: number;
  /** Where rows can be dropped; flagged emails have no folder. */
  readonly folder: Folder | undefined;
  readonly store: Store;
  readonly onOpen: () => void;
}

export function FolderLink({ to, name, icon, color, count = 0, depth = 0, folder, store, onOpen }: FolderLinkProps) {
  const isTarget = useSignal(false);
  const href = hrefOf(to);
  const isCurrent = isListRoute(route.value) && href === hrefOf(withEmail(store.list.route.value, undefined));
  return (
    <a
      class={isTarget.value ? 'folder is-target' : 'folder'}
      href={href}
      aria-current={isCurrent ? 'page' : undefined}
      style={{ paddingInlineStart: `${12 + depth * 16}px` }}
      onClick={onOpen}
      onDragOver={(event) => {
        if (!accepts(folder)) return;
        event.preventDefault();
        isTarget.value = true;
      }}
      onDragLeave={() => {
        isTarget.value = false;
      }}
      onDrop={(event) => {
        event.preventDefault();
        isTarget.value = false;
        if (accepts(folder)) drop(store, folder);
      }}
    >
      {icon ? <Icon name={icon} /> : <span class="folder-color" style={{ background: color ?? 'var(--soft)' }} />}
      <span class="folder-name">{name}</span>
      {count > 0 && (
        <span class="folder-count">
          <span aria-hidden="true">{formatNumber(count)}</span>
          <span class="unseen">
            {to.view === 'place' && to.place === 'drafts'
              ? t('list.counts', { count })
              : t('folders.unread', { count })}
          </span>
        </span>
      )}
    </a>
  );
}
