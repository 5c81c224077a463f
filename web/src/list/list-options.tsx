// The menu of a list: which of its emails it shows, in which order, and how its rows look. The look is a preference, kept by the server.
import type { EmailSort, PreferenceChanges } from '../../../src/client/index.js';
import { sayFailed } from '../app/failure.js';
import { type Store, useStore } from '../app/store.js';
import { Icon } from '../design/icon.js';
import { Menu, MenuGroup, MenuItem } from '../design/menu.js';
import { type PlainKey, t } from '../i18n/t.js';
import { isSortable, type ListFilter } from './list-query.js';

const SORTS: readonly [sort: EmailSort, text: PlainKey][] = [
  ['-date', 'list.newestFirst'],
  ['date', 'list.oldestFirst'],
  ['from', 'list.bySender'],
  ['subject', 'list.bySubject'],
  ['-size', 'list.bySize'],
];
const FILTERS: readonly [filter: ListFilter, text: PlainKey][] = [
  ['all', 'list.all'],
  ['unread', 'list.unreadOnly'],
  ['flagged', 'list.flaggedOnly'],
];
const DENSITIES = [
  ['comfortable', 'list.comfortable'],
  ['compact', 'list.compact'],
  ['spacious', 'list.spacious'],
] as const;

export function ListOptions() {
  const store = useStore();
  const { list } = store;
  const order = SORTS.find(([sort]) => sort === list.sort.value) ?? SORTS[0]!;
  const filter = FILTERS.find(([one]) => one === list.filter.value)!;
  const shown = list.filter.value === 'all' ? t(order[1]) : t(filter[1]);
  return (
    <Menu
      class="button list-options"
      label={
        <>
          {shown}
          <Icon name="chevron-down" />
        </>
      }
      name={`${t('list.options')}: ${shown}`}
    >
      {(close) => (
        <>
          <MenuGroup label={t('list.show')}>
            {FILTERS.map(([one, text]) => (
              <MenuItem
                key={one}
                isChosen={one === list.filter.value}
                onChoose={chosen(close, () => list.filterBy(one))}
              >
                {t(text)}
              </MenuItem>
            ))}
          </MenuGroup>
          {isSortable(list.route.value) && (
            <MenuGroup label={t('list.order')}>
              {SORTS.map(([one, text]) => (
                <MenuItem key={one} isChosen={one === list.sort.value} onChoose={chosen(close, () => list.sortBy(one))}>
                  {t(text)}
                </MenuItem>
              ))}
            </MenuGroup>
          )}
          <Looks store={store} close={close} />
        </>
      )}
    </Menu>
  );
}

function Looks({ store, close }: { readonly store: Store; readonly close: () => void }) {
  const { displayDensity = 'comfortable', groupByDate = false, threads = true } = store.preferences.value ?? {};
  return (
    <MenuGroup label={t('list.density')}>
      {DENSITIES.map(([density, text]) => (
        <MenuItem
          key={density}
          isChosen={density === displayDensity}
          onChoose={chosen(close, () => void prefer(store, { displayDensity: density }))}
        >
          {t(text)}
        </MenuItem>
      ))}
      <MenuItem
        isCheckbox
        isChosen={groupByDate}
        onChoose={chosen(close, () => void prefer(store, { groupByDate: !groupByDate }))}
      >
        {t('list.groups')}
      </MenuItem>
      <MenuItem isCheckbox isChosen={threads} onChoose={chosen(close, () => void prefer(store, { threads: !threads }))}>
        {t('list.threads')}
      </MenuItem>
    </MenuGroup>
  );
}

function chosen(close: () => void, choose: () => void): () => void {
  return () => {
    choose();
    close();
  };
}

async function prefer(store: Store, choice: PreferenceChanges): Promise<void> {
  try {
    await store.prefer(choice);
  } catch (error) {
    sayFailed(error);
  }
}
