// The fields of a filter, and a test of it on recent emails before it is saved. Enter saves, Escape ends it.
import { type Signal, useSignal } from '@preact/signals';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { Filter } from '../../../src/client/index.js';
import { reasonOf } from '../app/reason.js';
import { type Store, useStore } from '../app/store.js';
import { t } from '../i18n/t.js';
import { Switch } from '../settings/controls.js';
import { ChangedElsewhere } from '../settings/following/changed-elsewhere.js';
import {
  draftOf,
  type FilterDraft,
  faultOf,
  hasCondition,
  inputOf,
  lastPriority,
  NO_FILTER,
  type WordsPart,
} from './filter-draft.js';
import type { FilterList } from './filter-list.js';
import { FolderTarget, LabelTarget, makeTargets } from './filter-targets.js';
import { FilterTest } from './filter-test.js';

interface FilterFormProps {
  /** As it is stored now; absent for a new one. */
  readonly filter?: Filter;
  readonly draft: DraftSignal;
  /** The filter that was to be changed is deleted. */
  readonly isGone?: boolean;
  readonly list: FilterList;
  readonly onEnd: () => void;
}

export function FilterForm({ filter, draft, isGone = false, list, onEnd }: FilterFormProps) {
  const store = useStore();
  const begun = useSignal(draft.peek());
  const problem = useSignal<string | undefined>(undefined);
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => form.current?.querySelector('input')?.focus(), []);
  const save = async () => {
    problem.value = await saved(store, list, filter, draft);
    if (problem.peek() === undefined) onEnd();
  };
  return (
    <form
      ref={form}
      class="filter-form card"
      aria-label={filter === undefined ? t('filters.new') : t('filters.change', { name: begun.value.name })}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onEnd();
        // Keys of the page have no meaning here.
        event.stopPropagation();
      }}
    >
      <Words draft={draft} part="from" label={t('filters.from')} />
      <Words draft={draft} part="subject" label={t('filters.subject')} />
      <Words draft={draft} part="body" label={t('filters.body')} />
      <details class="filter-more" open={hasMore(begun.value)}>
        <summary>{t('filters.more')}</summary>
        <Words draft={draft} part="to" label={t('filters.to')} />
        <Words draft={draft} part="cc" label={t('filters.cc')} />
        <Words draft={draft} part="list" label={t('filters.list')} />
        <Words draft={draft} part="fieldName" label={t('filters.fieldName')} hint={t('filters.fieldNameHint')} />
        <Words draft={draft} part="field" label={t('filters.field')} />
        <Words draft={draft} part="atLeast" label={t('filters.atLeast')} />
        <Words draft={draft} part="atMost" label={t('filters.atMost')} />
        <Words draft={draft} part="matches" label={t('filters.pattern')} hint={t('filters.patternHint')} />
        <Choices draft={draft} />
      </details>
      <Actions draft={draft} />
      <Words draft={draft} part="name" label={t('filters.name')} hint={t('filters.nameHint')} />
      <div role="alert">{problem.value !== undefined && <p class="problem">{problem}</p>}</div>
      {isGone && <p role="status">{t('filters.goneElsewhere')}</p>}
      <ChangedElsewhere
        isShown={filter !== undefined && isOther(filter, begun.value) && isOther(filter, draft.value)}
        onShow={() => {
          begun.value = draft.value = draftOf(filter!);
        }}
      />
      <FilterTest draft={draft} />
      <div class="filter-buttons">
        <button type="submit" class="button is-main">
          {t('organise.save')}
        </button>
        <button type="button" class="button is-plain" onClick={onEnd}>
          {t('app.cancel')}
        </button>
      </div>
    </form>
  );
}

/** Whether it has a condition that is not shown at first. */
const hasMore = ({ from: _from, subject: _subject, body: _body, ...more }: FilterDraft): boolean =>
  hasCondition({ ...NO_FILTER, ...more });

/** Whether the form would show something else of the filter: it does not show whether the filter is on. */
const isOther = (filter: Filter, draft: FilterDraft): boolean =>
  JSON.stringify({ ...draftOf(filter), isEnabled: true }) !== JSON.stringify({ ...draft, isEnabled: true });

/** Saves it, and returns why that has failed. */
async function saved(
  store: Store,
  list: FilterList,
  filter: Filter | undefined,
  draft: DraftSignal,
): Promise<string | undefined> {
  const fault = faultOf(draft.peek());
  if (fault !== undefined) return t(`filters.${fault}`);
  const priority = filter?.priority ?? lastPriority(list.filters.peek() ?? []);
  try {
    await makeTargets(store, draft);
    const isEnabled = filter?.isEnabled ?? draft.peek().isEnabled;
    await list.save(filter?.id, inputOf({ ...draft.peek(), isEnabled }, priority, t('filters.unnamed')));
    return undefined;
  } catch (error) {
    return t('app.failed', { reason: reasonOf(error) });
  }
}

type DraftSignal = Signal<FilterDraft>;

function change(draft: DraftSignal, changed: Partial<FilterDraft>): void {
  draft.value = { ...draft.peek(), ...changed };
}

interface WordsProps {
  readonly draft: DraftSignal;
  readonly part: 'name' | 'atLeast' | 'atMost' | 'forwardTo' | WordsPart;
  readonly label: string;
  readonly hint?: string;
}

const LONGEST: Partial<Record<WordsProps['part'], number>> = {
  name: 200,
  matches: 300,
  fieldName: 100,
  forwardTo: 254,
};

function Words({ draft, part, label, hint }: WordsProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        class="input"
        autocomplete="off"
        maxLength={LONGEST[part] ?? 500}
        dir={part === 'matches' || part === 'fieldName' || part === 'forwardTo' ? 'ltr' : undefined}
        aria-describedby={hint && `${id}-hint`}
        value={draft.value[part]}
        onInput={({ currentTarget }) => change(draft, { [part]: currentTarget.value })}
      />
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

function Choices({ draft }: { readonly draft: DraftSignal }) {
  const id = useId();
  const all = [
    ['any', t('filters.any')],
    ['with', t('filters.with')],
    ['without', t('filters.without')],
  ] as const;
  return (
    <div class="field">
      <label for={id}>{t('filters.attachments')}</label>
      <select
        id={id}
        class="input"
        onChange={({ currentTarget }) => change(draft, { attachments: all[currentTarget.selectedIndex]![0] })}
      >
        {all.map(([value, text]) => (
          <option key={value} value={value} selected={draft.value.attachments === value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

function Actions({ draft }: { readonly draft: DraftSignal }) {
  return (
    <fieldset class="filter-actions">
      <legend>{t('filters.actions')}</legend>
      <LabelTarget draft={draft} />
      <FolderTarget draft={draft} />
      <Words draft={draft} part="forwardTo" label={t('filters.forwardTo')} hint={t('filters.forwardToHint')} />
      <Switch
        label={t('filters.flag')}
        value={draft.value.flag === true}
        onChoose={(value) => change(draft, { flag: value || '' })}
      />
      <Switch
        label={t('filters.markAsRead')}
        value={draft.value.markAsRead}
        onChoose={(markAsRead) => change(draft, { markAsRead })}
      />
      <Switch
        label={t('filters.deletes')}
        value={draft.value.delete}
        onChoose={(value) => change(draft, { delete: value })}
      />
      <Switch
        label={t('filters.stops')}
        value={draft.value.stop}
        onChoose={(value) => change(draft, { stop: value })}
      />
    </fieldset>
  );
}
