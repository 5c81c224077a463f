// The search: a field that suggests operators, folders and searches of before. The address of the page has the search, so that Back, reload
// and a second window show it too.
import './search-field.css';
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { go } from '../app/router.js';
import { type Store, useStore } from '../app/store.js';
import { Icon } from '../design/icon.js';
import { folderName } from '../folders/folder-name.js';
import { formatSize } from '../i18n/format.js';
import { t } from '../i18n/t.js';
import { recentSearches, rememberSearch } from './recent-searches.js';
import {
  type Known,
  knownDays,
  type OperatorValue,
  personPart,
  type Suggestion,
  suggestionsFor,
} from './suggestions.js';

export function SearchField() {
  const store = useStore();
  const search = useSearch(store);
  const { text, isOpen, active, input, suggestions } = search;
  return (
    <search class="search">
      <Icon name="search" />
      <input
        ref={input}
        id="search"
        role="combobox"
        aria-label={t('search.label')}
        aria-expanded={suggestions.length > 0}
        aria-controls={suggestions.length > 0 ? 'search-suggestions' : undefined}
        aria-autocomplete="list"
        aria-activedescendant={suggestions[active.value] && `suggestion-${active.value}`}
        placeholder={t('search.label')}
        autocomplete="off"
        enterkeyhint="search"
        value={text}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          active.value = -1;
          isOpen.value = true;
        }}
        onFocus={() => {
          isOpen.value = true;
        }}
        onBlur={() => {
          isOpen.value = false;
        }}
        onKeyDown={search.onKeyDown}
      />
      {text.value === '' ? (
        <span class="key" aria-hidden="true">
          /
        </span>
      ) : (
        <button type="button" class="icon-button" aria-label={t('search.clear')} onClick={search.clear}>
          <Icon name="x" />
        </button>
      )}
      <Suggestions suggestions={suggestions} active={active.value} take={search.take} />
    </search>
  );
}

function useSearch(store: Store) {
  const { route } = store.list;
  const shown = route.value.view === 'search' ? route.value.q : '';
  const text = useSignal(shown);
  const isOpen = useSignal(false);
  const active = useSignal(-1);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    text.value = shown;
  }, [shown]);
  const people = usePeople(store, text.value);
  const suggestions = isOpen.value ? suggestionsFor(text.value, knownTo(store, people.value)) : [];
  const search = () => {
    const q = text.value.trim();
    isOpen.value = false;
    if (q === '') return;
    rememberSearch(localStorage, store.profile.peek()?.id, q);
    go({ view: 'search', q });
    input.current?.blur();
  };
  const take = (suggestion: Suggestion) => {
    text.value = suggestion.text;
    active.value = -1;
    input.current?.focus();
    if (suggestion.isComplete) search();
  };
  const clear = () => {
    text.value = '';
    isOpen.value = false;
    if (shown !== '') go({ view: 'place', place: 'inbox' });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const last = suggestions.length - 1;
    const chosen = suggestions[active.value];
    if (event.key === 'ArrowDown') active.value = active.value >= last ? -1 : active.value + 1;
    else if (event.key === 'ArrowUp') active.value = active.value < 0 ? last : active.value - 1;
    else if (event.key === 'Enter') chosen ? take(chosen) : search();
    else if (event.key === 'Escape' && isOpen.value) isOpen.value = false;
    else if (event.key === 'Escape') input.current?.blur();
    else return;
    event.preventDefault();
  };
  return { text, isOpen, active, input, suggestions, take, clear, onKeyDown };
}

interface SuggestionsProps {
  readonly suggestions: readonly Suggestion[];
  readonly active: number;
  readonly take: (suggestion: Suggestion) => void;
}

function Suggestions({ suggestions, active, take }: SuggestionsProps) {
  if (suggestions.length === 0) return null;
  return (
    <div role="listbox" id="search-suggestions" class="suggestions" aria-label={t('search.suggestions')}>
      {suggestions.map((suggestion, i) => (
        <div
          key={suggestion.label}
          id={`suggestion-${i}`}
          role="option"
          class={i === active ? 'suggestion is-active' : 'suggestion'}
          aria-selected={i === active}
          // The field keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => take(suggestion)}
        >
          <span>{suggestion.label}</span>
          <span class="hint">{suggestion.hint}</span>
        </div>
      ))}
    </div>
  );
}

function knownTo(store: Store, people: Known['people']): Known {
  return {
    operators: [
      { name: 'from:', hint: t('search.from'), isOpen: true },
      { name: 'to:', hint: t('search.to'), isOpen: true },
      { name: 'cc:', hint: t('search.cc'), isOpen: true },
      { name: 'subject:', hint: t('search.subject'), isOpen: true },
      { name: 'has:attachment', hint: t('search.attachment'), isOpen: false },
      { name: 'is:unread', hint: t('search.unread'), isOpen: false },
      { name: 'is:flagged', hint: t('search.flagged'), isOpen: false },
      { name: 'in:', hint: t('search.in'), isOpen: true },
      { name: 'label:', hint: t('search.inLabel'), isOpen: true },
      { name: 'before:', hint: t('search.before'), isOpen: true },
      { name: 'after:', hint: t('search.after'), isOpen: true },
      { name: 'larger:', hint: t('search.larger'), isOpen: true },
    ],
    values: valuesOf(store),
    people,
    recent: recentSearches(localStorage, store.profile.value?.id),
    recentHint: t('search.recent'),
  };
}

function valuesOf({ folders, now }: Store): Known['values'] {
  const places = folders.value.map((folder) => {
    const name = folderName(folder);
    const value = folder.role === 'label' || folder.role === 'folder' ? name : folder.role;
    return { name, value, role: folder.role };
  });
  const days = knownDays(now.value);
  const ofDays: readonly OperatorValue[] = [
    { value: days.today, name: t('list.today') },
    { value: days.yesterday, name: t('list.yesterday') },
    { value: days.week, name: t('search.week') },
    { value: days.month, name: t('search.month') },
    { value: days.year, name: t('search.year') },
  ];
  return {
    'in:': [...places, { value: 'anywhere', name: t('search.everywhere') }],
    'label:': places.filter(({ role }) => role === 'label'),
    'before:': ofDays,
    'after:': ofDays,
    'larger:': [1, 5, 10, 25].map((size) => ({ value: `${size}M`, name: formatSize(size * 1e6) })),
    'is:': [
      { value: 'unread', name: t('search.unread') },
      { value: 'read', name: t('search.read') },
      { value: 'flagged', name: t('search.flagged') },
    ],
    'has:': [{ value: 'attachment', name: t('search.attachment') }],
  };
}

/** People to whom one has written, while from:, to: or cc: is typed. */
function usePeople({ client }: Store, text: string): Signal<Known['people']> {
  const people = useSignal<Known['people']>([]);
  const q = personPart(text);
  useEffect(() => {
    people.value = [];
    if (q === undefined) return;
    let isCurrent = true;
    client.request('GET', '/api/contacts', { query: { q } }).then(
      (found) => {
        if (isCurrent) people.value = found;
      },
      // Without suggestions one types on.
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [q]);
  return people;
}
