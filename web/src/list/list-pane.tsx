// The second column: the search, the name and the counts of the list, the actions on what is selected, and the rows, or why there are none.
import './list-pane.css';
import { useEffect } from 'preact/hooks';
import { sayFailed } from '../app/failure.js';
import type { ListRoute } from '../app/route.js';
import { type Store, useStore } from '../app/store.js';
import { Icon } from '../design/icon.js';
import { folderName, placeName } from '../folders/folder-name.js';
import { DrawerButton } from '../folders/folders.js';
import { formatNumber, t } from '../i18n/t.js';
import { PasskeyOffer } from '../sign-in/passkey-offer.js';
import { ActionButtons } from './action-buttons.js';
import { EmptyList } from './empty-list.js';
import { List } from './list.js';
import { ListOptions } from './list-options.js';
import { Picker } from './picker.js';
import { SearchField } from './search-field.js';
import { SearchNotes } from './search-notes.js';
import { SuspensionNote } from './suspension-note.js';

export function ListPane() {
  const store = useStore();
  const { list } = store;
  const view = list.view.value;
  const isEmpty = view.total === 0 && !view.isLoading;
  const isMissing = view.total === 0 && view.isLoading && store.isCutOff.value;
  return (
    <section class="list-pane" aria-label={t('list.title')}>
      <div class="list-search">
        <DrawerButton />
        <SearchField />
      </div>
      <SuspensionNote />
      {list.selected.value.size > 0 ? <SelectionHead store={store} /> : <ListHead store={store} />}
      <SearchNotes />
      {isEmpty || view.error ? <EmptyList /> : isMissing ? <NotKept /> : <List />}
      {/* Below the rows, which stay where they are when the first one is selected. */}
      {list.selected.value.size > 0 && <WholeList store={store} />}
      <PasskeyOffer />
    </section>
  );
}

function NotKept() {
  return (
    <div class="empty-list" role="status">
      <p>{t('list.notKept')}</p>
    </div>
  );
}

function ListHead({ store }: { readonly store: Store }) {
  const { list } = store;
  const title = titleOf(store, list.route.value);
  const { total, unread, isLoading } = list.view.value;
  const all = list.areThreads ? t('list.threadCounts', { count: total }) : t('list.counts', { count: total });
  const counts = unread > 0 ? t('list.unreadAndTotal', { unread, total }) : all;
  useEffect(() => {
    const { unread: inInbox = 0 } = store.folder('inbox') ?? {};
    document.title = inInbox > 0 ? `(${formatNumber(inInbox)}) ${title} · Mansio` : `${title} · Mansio`;
  }, [title, store.folders.value]);
  return (
    <header class="list-head">
      <div class="list-name">
        <h1>{title}</h1>
        {list.arrived.value > 0 ? (
          <Arrived count={list.arrived.value} />
        ) : (
          <span class="list-counts" aria-live="off" title={all}>
            {isLoading && total === 0 ? '' : counts}
          </span>
        )}
      </div>
      <ListOptions />
      <div class="picker-place">
        <Picker place="list" />
      </div>
    </header>
  );
}

/** What has come above the rows that are seen. It stands in place of the counts, so that it covers nothing. */
function Arrived({ count }: { readonly count: number }) {
  return (
    <button type="button" class="arrived" onClick={() => document.querySelector('.list-scroll')?.scrollTo({ top: 0 })}>
      <Icon name="arrow-up" />
      {t('list.new', { count })}
    </button>
  );
}

function SelectionHead({ store }: { readonly store: Store }) {
  const { list } = store;
  const ids = [...list.selected.value];
  const count = list.countOf(ids);
  return (
    <header class="list-head is-selection">
      <button type="button" class="icon-button" aria-label={t('list.clear')} onClick={() => list.clearSelection()}>
        <Icon name="x" />
      </button>
      <h1 class="unseen">{titleOf(store, list.route.value)}</h1>
      <strong class="list-selected">
        <span class="list-selected-number" aria-hidden="true">
          {formatNumber(count)}
        </span>
        <span class="list-selected-text" role="status">
          {t(list.areThreads ? 'list.emailsSelected' : 'list.selected', { count })}
        </span>
      </strong>
      <ActionButtons ids={ids} act={(run) => run(ids)} place="selection" />
    </header>
  );
}

/** Offers to select what is not loaded too. */
function WholeList({ store }: { readonly store: Store }) {
  const { list } = store;
  const { total } = list.view.value;
  const found = list.found.value;
  const finding = list.finding.value;
  if (finding !== undefined) return <Finding {...finding} stop={() => list.stopFinding()} />;
  if (found !== undefined) {
    if (found.total === found.ids.length) return null;
    return <p class="list-whole">{t('list.newestSelected', { selected: found.ids.length, total: found.total })}</p>;
  }
  if (list.isWholeSelected) return null;
  return (
    <p class="list-whole">
      <button type="button" class="button is-plain" onClick={() => list.selectAll().catch(sayFailed)}>
        {list.route.value.view === 'search'
          ? t('list.selectFound', { total })
          : t(list.areThreads ? 'list.selectThreadsIn' : 'list.selectIn', {
              total,
              folder: titleOf(store, list.route.value),
            })}
      </button>
    </p>
  );
}

interface FindingProps {
  readonly done: number;
  readonly total: number;
  readonly stop: () => void;
}

/** How far the reading of what is to be selected is. */
function Finding({ done, total, stop }: FindingProps) {
  return (
    <p class="list-whole">
      <progress value={done} max={Math.max(1, total)} aria-label={t('undo.progress')} />
      <span aria-hidden="true">{t('undo.of', { done, total })}</span>
      <button type="button" class="button is-plain" onClick={stop}>
        {t('undo.stop')}
      </button>
    </p>
  );
}

function titleOf(store: Store, shown: ListRoute): string {
  if (shown.view === 'place') return placeName(shown.place);
  if (shown.view === 'search') return t('search.results');
  const folder = store.folder(shown.id);
  return folder === undefined ? '' : folderName(folder);
}
