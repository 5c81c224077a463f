// What a list says when it has no rows. The empty inbox shows the line to paste that sends a mail to it.
import './empty-list.css';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { reasonOf } from '../app/reason.js';
import { type Store, useStore } from '../app/store.js';
import { CopyButton } from '../design/copy-button.js';
import { t } from '../i18n/t.js';
import { sendingLine } from './sending-line.js';

export function EmptyList() {
  const store = useStore();
  const { list } = store;
  const { error } = list.view.value;
  const { view, ...route } = list.route.value;
  if (error) return <Problem error={error} retry={() => list.again()} />;
  if (list.filter.value !== 'all') return <Filtered store={store} />;
  if (view === 'search') {
    return (
      <div class="empty-list">
        <p>{t('list.noneFound')}</p>
        <p class="hint">{t('list.noneFoundHint')}</p>
      </div>
    );
  }
  if ('place' in route && route.place === 'inbox') return <EmptyInbox store={store} />;
  return (
    <div class="empty-list">
      <p>{t('list.empty')}</p>
    </div>
  );
}

function Problem({ error, retry }: { readonly error: Error; readonly retry: () => void }) {
  return (
    <div class="empty-list" role="alert">
      <p>{t('list.error', { reason: reasonOf(error) })}</p>
      <button type="button" class="button" onClick={retry}>
        {t('list.again')}
      </button>
    </div>
  );
}

function Filtered({ store: { list } }: { readonly store: Store }) {
  return (
    <div class="empty-list">
      <p>{list.filter.value === 'unread' ? t('list.emptyUnread') : t('list.emptyFlagged')}</p>
      <button type="button" class="button" onClick={() => list.filterBy('all')}>
        {t('list.showAll')}
      </button>
    </div>
  );
}

function EmptyInbox({ store }: { readonly store: Store }) {
  const line = useSignal<string | undefined>(undefined);
  const email = store.profile.value?.email;
  // Whoever has filed all mail needs no first one.
  const isFirst = store.folders.value.every(({ role, total }) => total === 0 || role === 'sent' || role === 'drafts');
  useEffect(() => {
    if (email === undefined || !isFirst) return;
    store.client.request('GET', '/api/discovery').then(
      (discovery) => {
        line.value = sendingLine(discovery.mx, email, location.hostname);
      },
      // Without the line the inbox is as empty.
      () => undefined,
    );
  }, [email, isFirst]);
  return (
    <div class="empty-list">
      <p>{t(isFirst ? 'list.emptyInbox' : 'list.clearedInbox')}</p>
      {isFirst && line.value !== undefined && (
        <>
          <p class="hint">{t('list.sendOne')}</p>
          <div class="sending-line">
            <code tabIndex={0}>{line}</code>
            <CopyButton text={line.value} />
          </div>
        </>
      )}
    </div>
  );
}
