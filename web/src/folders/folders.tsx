// The first column: who is signed in, the folders with what is unread in them, and the labels with their colours. On narrow windows it is a
// drawer.
import './folders.css';
import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { PLACES, type Place } from '../app/route.js';
import { route } from '../app/router.js';
import { type Store, useStore } from '../app/store.js';
import { ComposeButton } from '../app/writing.js';
import { Avatar } from '../design/avatar.js';
import { Icon } from '../design/icon.js';
import { t } from '../i18n/t.js';
import { FolderLink } from './folder-link.js';
import { PLACE_ICONS, placeName } from './folder-name.js';
import { OwnFolders, OwnLabels } from './own-folders.js';

/** Whether the drawer is open; wide windows show the column always. */
const isDrawerOpen = signal(false);

export function Folders() {
  const store = useStore();
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
          </ul>
          <OwnFolders store={store} onOpen={closeDrawer} />
          <OwnLabels store={store} onOpen={closeDrawer} />
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

/** Opens the drawer; it is not shown where the column always is. */
export function DrawerButton() {
  return (
    <button
      type="button"
      class="icon-button drawer-button"
      aria-label={t('app.menu')}
      aria-expanded={isDrawerOpen}
      onClick={() => {
        isDrawerOpen.value = true;
      }}
    >
      <Icon name="menu" />
    </button>
  );
}

function closeDrawer(): void {
  isDrawerOpen.value = false;
}

/** The drawer takes the focus, gives it back, and closes with Escape. */
function useDrawer() {
  const drawer = useRef<HTMLElement>(null);
  const isOpen = isDrawerOpen.value;
  useLayoutEffect(() => {
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
    <li>
      <FolderLink
        to={{ view: 'place', place }}
        name={placeName(place)}
        icon={PLACE_ICONS[place]}
        count={count}
        folder={folder}
        store={store}
        onOpen={closeDrawer}
      />
    </li>
  );
}
