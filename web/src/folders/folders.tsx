// The first column: who is signed in, the folders with what is unread in them, and the labels with their colours. On narrow windows it is a
// drawer.
import './folders.css';
import { signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Folder } from '../../../src/client/index.js';
import { hrefOf, isListRoute, PLACES, type Place, type Route, withEmail } from '../app/route.js';
import { route } from '../app/router.js';
import { type Store, useStore } from '../app/store.js';
import { ComposeButton } from '../app/writing.js';
import { Avatar } from '../design/avatar.js';
import { Icon, type IconName } from '../design/icon.js';
import { formatNumber, t } from '../i18n/t.js';
import { accepts, drop } from '../list/drag.js';
import { folderName, PLACE_ICONS, placeName } from './folder-name.js';

/** Whether the drawer is open; wide windows show the column always. */
export const isDrawerOpen = signal(false);

export function Folders() {
  const store = useStore();
  const own = store.folders.value.filter(({ role }) => role === 'folder');
  const labels = store.folders.value.filter(({ role }) => role === 'label');
  const drawer = useDrawer();
  return (
    <>
      <nav class={isDrawerOpen.value ? 'folders is-open' : 'folders'} aria-label={t('folders.title')} ref={drawer}>
        <Account store={store} />
        <ComposeButton place="folders" />
        <div class="folders-lists">
          <ul>
            {PLACES.map((place) => (
              <PlaceLink key={place} place={place} store={store} />
            ))}
            {own.map((folder) => (
              <OwnLink key={folder.id} folder={folder} all={own} store={store} />
            ))}
          </ul>
          {labels.length > 0 && (
            <>
              <h2 class="folders-heading">{t('folders.labels')}</h2>
              <ul>
                {labels.map((label) => (
                  <OwnLink key={label.id} folder={label} all={labels} store={store} />
                ))}
              </ul>
            </>
          )}
        </div>
        <div>
          <a
            class="button is-plain folders-foot"
            href="/settings"
            aria-current={route.value.view === 'settings' ? 'page' : undefined}
            onClick={closeDrawer}
          >
            <Icon name="settings" />
            {t('settings.title')}
          </a>
          <button type="button" class="button is-plain folders-foot" onClick={() => void store.signOut()}>
            <Icon name="log-out" />
            {t('app.signOut')}
          </button>
        </div>
      </nav>
      {isDrawerOpen.value && <div class="folders-shade" aria-hidden="true" onClick={closeDrawer} />}
    </>
  );
}

function closeDrawer(): void {
  isDrawerOpen.value = false;
}

/** The drawer takes the focus, gives it back, and closes with Escape. */
function useDrawer() {
  const drawer = useRef<HTMLElement>(null);
  const isOpen = isDrawerOpen.value;
  useEffect(() => {
    if (!isOpen) return;
    const before = document.activeElement;
    drawer.current?.querySelector<HTMLElement>('[aria-current], a')?.focus();
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape') closeDrawer();
    };
    document.addEventListener('keydown', onKey);
    return () => {
      document.removeEventListener('keydown', onKey);
      if (before instanceof HTMLElement) before.focus();
    };
  }, [isOpen]);
  return drawer;
}

function Account({ store }: { readonly store: Store }) {
  const profile = store.profile.value;
  if (profile === undefined) return <div class="account" />;
  return (
    <div class="account">
      <Avatar name={profile.displayName} address={profile.email} />
      <div>
        <strong>{profile.displayName}</strong>
        <span>{profile.email}</span>
      </div>
    </div>
  );
}

function PlaceLink({ place, store }: { readonly place: Place; readonly store: Store }) {
  const folder = store.folder(place);
  // Drafts wait for their author, read or not.
  const count = place === 'drafts' ? folder?.total : folder?.unread;
  return (
    <FolderLink
      to={{ view: 'place', place }}
      name={placeName(place)}
      icon={PLACE_ICONS[place]}
      count={count}
      folder={folder}
      store={store}
    />
  );
}

interface OwnLinkProps {
  readonly folder: Folder;
  readonly all: readonly Folder[];
  readonly store: Store;
}

function OwnLink({ folder, all, store }: OwnLinkProps) {
  const view = folder.role === 'label' ? 'label' : 'folder';
  return (
    <FolderLink
      to={{ view, id: folder.id }}
      name={folderName(folder)}
      icon={folder.role === 'label' ? undefined : 'folder'}
      color={folder.color ?? undefined}
      count={folder.unread}
      depth={depthOf(folder, all)}
      folder={folder}
      store={store}
    />
  );
}

function depthOf(folder: Folder, all: readonly Folder[]): number {
  let depth = 0;
  for (let above = folder.parentId; above !== null && depth < 5; depth++) {
    const parent = all.find(({ id }) => id === above);
    if (parent === undefined) break;
    above = parent.parentId;
  }
  return depth;
}

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
}

function FolderLink({ to, name, icon, color, count = 0, depth = 0, folder, store }: FolderLinkProps) {
  const isTarget = useSignal(false);
  const href = hrefOf(to);
  const isCurrent = isListRoute(route.value) && href === hrefOf(withEmail(store.list.route.value, undefined));
  return (
    <li>
      <a
        class={isTarget.value ? 'folder is-target' : 'folder'}
        href={href}
        aria-current={isCurrent ? 'page' : undefined}
        style={{ paddingInlineStart: `${12 + depth * 16}px` }}
        onClick={closeDrawer}
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
    </li>
  );
}
