// The search: a field that suggests operators, folders and searches of before. The address of the page has the search, so that Back, reload
// and a second window show it too.
import './search-field.css';
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { go } from '../app/router.js';
import { type Store, useStore } from '../app/store.js';
import { Icon } from '../design/icon.js';
import { folderName } from '../folders/folder-name.js';
import { t } from '../i18n/t.js';
import { type Known, lastPart, remembered, type Suggestion, suggestionsFor } from './suggestions.js';

const RECENT = 'mansio.searches';

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
    remember(q);
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

function knownTo({ folders }: Store, people: Known['people']): Known {
  return {
    operators: [
      { name: 'from:', hint: t('search.from'), isOpen: true },
      { name: 'to:', hint: t('search.to'), isOpen: true },
      { name: 'has:attachment', hint: t('search.attachment'), isOpen: false },
      { name: 'is:unread', hint: t('search.unread'), isOpen: false },
      { name: 'is:flagged', hint: t('search.flagged'), isOpen: false },
      { name: 'in:', hint: t('search.in'), isOpen: true },
      { name: 'before:', hint: t('search.before'), isOpen: true },
      { name: 'after:', hint: t('search.after'), isOpen: true },
    ],
    folders: folders.value.map((folder) => {
      const name = folderName(folder);
      return { name, value: folder.role === 'label' || folder.role === 'folder' ? name : folder.role };
    }),
    people,
    recent: recentSearches(),
    recentHint: t('search.recent'),
  };
}

/** People to whom one has written, while from: or to: is typed. */
function usePeople({ client }: Store, text: string): Signal<Known['people']> {
  const people = useSignal<Known['people']>([]);
  const { operator, value } = lastPart(text);
  const q = operator === 'from:' || operator === 'to:' ? value.replace(/^"/, '') : undefined;
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

function recentSearches(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(RECENT) ?? '[]');
    return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}

function remember(search: string): void {
  localStorage.setItem(RECENT, JSON.stringify(remembered(recentSearches(), search)));
}
