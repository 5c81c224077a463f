// The filters in the settings: in their order, each in words, turned on and off, moved, changed, deleted.
import './filters.css';
import { type Signal, signal, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Filter } from '../../../src/client/index.js';
import { useStore } from '../app/store.js';
import { Icon, type IconName } from '../design/icon.js';
import { folderName } from '../folders/folder-name.js';
import { formatNumber, t } from '../i18n/t.js';
import { draftOf, type FilterDraft, NO_FILTER } from './filter-draft.js';
import { FilterForm } from './filter-form.js';
import { FilterList, type ShownRun } from './filter-list.js';
import { inWords } from './filter-words.js';
import { wantedSender } from './open.js';

interface Edited {
  readonly id?: string;
  /** What is written stays when the filter is deleted elsewhere. */
  readonly draft: Signal<FilterDraft>;
}

export function Filters() {
  const { client } = useStore();
  const list = useMemo(() => new FilterList(client), [client]);
  const edited = useSignal<Edited | undefined>(undefined);
  useEffect(() => {
    list.follow();
    void list.resume();
    const from = wantedSender.peek();
    wantedSender.value = undefined;
    if (from !== undefined) edited.value = { draft: signal({ ...NO_FILTER, from }) };
    return () => list.close();
  }, [list]);
  const rows = useRef<HTMLOListElement>(null);
  const close = () => {
    edited.value = undefined;
    // The form had the focus.
    rows.current?.focus();
  };
  const filters = list.filters.value;
  const form = edited.value;
  return (
    <>
      <p class="hint">{t('filters.about')}</p>
      <div role="alert">{list.problem.value !== undefined && <p class="problem">{list.problem}</p>}</div>
      {filters?.length === 0 && form === undefined && <p>{t('filters.none')}</p>}
      <ol ref={rows} class="filters" tabIndex={-1} aria-label={t('settings.section.filters')}>
        {filters?.map((filter, i) =>
          form?.id === filter.id ? (
            <li key={filter.id}>
              <FilterForm filter={filter} draft={form.draft} list={list} onEnd={close} />
            </li>
          ) : (
            <FilterRow
              key={filter.id}
              filter={filter}
              list={list}
              isFirst={i === 0}
              isLast={i === filters.length - 1}
              onEdit={() => {
                edited.value = { id: filter.id, draft: signal(draftOf(filter)) };
              }}
            />
          ),
        )}
      </ol>
      {form !== undefined && !filters?.some(({ id }) => id === form.id) ? (
        <FilterForm draft={form.draft} isGone={form.id !== undefined} list={list} onEnd={close} />
      ) : (
        <div>
          <button
            type="button"
            class="button"
            disabled={filters === undefined}
            onClick={() => {
              edited.value = { draft: signal(NO_FILTER) };
            }}
          >
            <Icon name="plus" />
            {t('filters.new')}
          </button>
        </div>
      )}
    </>
  );
}

interface FilterRowProps {
  readonly filter: Filter;
  readonly list: FilterList;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly onEdit: () => void;
}

function FilterRow({ filter, list, isFirst, isLast, onEdit }: FilterRowProps) {
  const { name, isEnabled } = filter;
  const { labels, folders } = useStore();
  const run = list.runs.value.get(filter.id);
  const label = labels.value.find(({ id }) => id === filter.assignLabelId)?.name ?? filter.assignLabelName ?? undefined;
  const target = folders.value.find(({ id }) => id === filter.moveToFolderId);
  const folder = target === undefined ? (filter.moveToFolderName ?? undefined) : folderName(target);
  return (
    <li class="filter">
      <label class="setting-switch">
        <input
          type="checkbox"
          checked={isEnabled}
          onChange={({ currentTarget }) => void list.turn(filter, currentTarget.checked)}
        />
        <span>
          <strong>{name}</strong>
          {!isEnabled && <span class="hint"> {t('filters.off')}</span>}
        </span>
      </label>
      <p class="hint">{inWords(draftOf(filter), label, folder)}</p>
      {filter.disabledReason === 'folderDeleted' && <p class="problem">{t('filters.folderGone')}</p>}
      <div class="filter-buttons">
        <RowButton icon="pencil" name={t('filters.change', { name })} run={onEdit} />
        <RowButton
          icon="chevron-up"
          name={t('filters.up', { name })}
          isDisabled={isFirst}
          run={() => void list.move(filter, -1)}
        />
        <RowButton
          icon="chevron-down"
          name={t('filters.down', { name })}
          isDisabled={isLast}
          run={() => void list.move(filter, 1)}
        />
        <RowButton icon="trash-2" name={t('filters.delete', { name })} run={() => void list.delete(filter)} />
        <button
          type="button"
          class="button is-plain"
          aria-label={t('filters.applyOne', { name })}
          aria-disabled={run?.isDone === false}
          onClick={() => {
            if (run?.isDone !== false) void list.apply(filter);
          }}
        >
          {t('filters.apply')}
        </button>
      </div>
      <div role="status">{run !== undefined && <RunState filter={filter} run={run} list={list} />}</div>
    </li>
  );
}

interface RunStateProps {
  readonly filter: Filter;
  readonly run: ShownRun;
  readonly list: FilterList;
}

/** How far a run over existing mail is, with what undoes it. */
function RunState({ filter, run, list }: RunStateProps) {
  const { isDone, isUndone, changed, total } = run;
  const state = isUndone ? (isDone ? 'undone' : 'undoing') : isDone ? 'applied' : 'applying';
  return (
    <p class="filter-run">
      <span>{t(`filters.${state}`, { count: changed, total: formatNumber(total) })}</span>{' '}
      {!isUndone && (changed > 0 || !isDone) && (
        <button type="button" class="button is-plain" onClick={() => void list.undoRun(filter, run.runId)}>
          {t('undo.undo')}
        </button>
      )}
    </p>
  );
}

interface RowButtonProps {
  readonly icon: IconName;
  readonly name: string;
  readonly isDisabled?: boolean;
  readonly run: () => void;
}

/** A button that cannot act keeps the focus. */
function RowButton({ icon, name, isDisabled = false, run }: RowButtonProps) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={name}
      title={name}
      aria-disabled={isDisabled}
      onClick={() => {
        if (!isDisabled) run();
      }}
    >
      <Icon name={icon} />
    </button>
  );
}
