// Chooses a folder to move emails to, or labels to put on them, by typing a part of the name.
import './picker.css';
import { signal, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Folder } from '../../../src/client/index.js';
import { makeAndUse, moveTo, toggleLabel, withTargets } from '../app/mail-actions.js';
import { type Store, useStore } from '../app/store.js';
import { Icon } from '../design/icon.js';
import { folderName, PLACE_ICONS } from '../folders/folder-name.js';
import { t } from '../i18n/t.js';

/** Where the picker opens: at the selection, the open email, or the list. */
export type PickerPlace = 'selection' | 'message' | 'list';

interface Picking {
  readonly what: 'label' | 'move';
  readonly ids: readonly string[];
  readonly place: PickerPlace;
}

const picking = signal<Picking | undefined>(undefined);

export function pick(picked: Picking): void {
  if (picked.ids.length > 0) picking.value = picked;
}

/** Picks for what the keys act on. */
export function pickForTargets(store: Store, what: 'label' | 'move'): void {
  const { selected } = store.list;
  const place = selected.peek().size > 0 ? 'selection' : store.openId.peek() === undefined ? 'list' : 'message';
  withTargets(store, (ids) => pick({ what, ids, place }));
}

export function Picker({ place }: { readonly place: PickerPlace }) {
  const picked = picking.value;
  return picked?.place === place ? <OpenPicker key={picked.what} {...picked} /> : null;
}

function close(): void {
  picking.value = undefined;
}

function OpenPicker({ what, ids }: Picking) {
  const store = useStore();
  const text = useSignal('');
  const active = useSignal(0);
  const place = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  useFocus(place, input);
  const wanted = text.value.trim();
  const all = choices(store, what);
  const found = all.filter((folder) => folderName(folder).toLocaleLowerCase().includes(wanted.toLocaleLowerCase()));
  const isKnown = all.some((folder) => folderName(folder).toLocaleLowerCase() === wanted.toLocaleLowerCase());
  const created = wanted === '' || isKnown ? undefined : wanted;
  const last = found.length - (created === undefined ? 1 : 0);
  const at = Math.min(active.value, last);
  const choose = (index: number) => {
    const folder = found[index];
    if (index < 0 || index > last) return;
    close();
    if (folder === undefined) void makeAndUse(store, what, wanted, ids);
    else if (what === 'label') toggleLabel(store, folder, ids);
    else moveTo(store, folder.id, ids);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' || event.key === 'Tab') close();
    else if (event.key === 'Enter') choose(at);
    else if (event.key === 'ArrowDown') active.value = Math.min(at + 1, last);
    else if (event.key === 'ArrowUp') active.value = Math.max(at - 1, 0);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="picker" ref={place}>
      <input
        ref={input}
        class="input"
        role="combobox"
        aria-label={what === 'label' ? t('act.label') : t('act.move')}
        aria-expanded={last >= 0}
        aria-controls={last >= 0 ? 'picker-list' : undefined}
        aria-autocomplete="list"
        aria-activedescendant={last < 0 ? undefined : `picker-${at}`}
        placeholder={t('act.find')}
        autocomplete="off"
        value={text}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          active.value = 0;
        }}
        onKeyDown={onKeyDown}
      />
      <Choices
        what={what}
        found={found}
        created={created}
        at={at}
        hasAll={(label) => hasAll(store, ids, label)}
        choose={choose}
      />
    </div>
  );
}

/** The field has the focus from the first key on until the picker closes, which a click elsewhere does. */
function useFocus(place: RefObject<HTMLElement | null>, input: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const before = document.activeElement;
    input.current?.focus();
    const onPointer = ({ target }: Event) => {
      if (target instanceof Node && !place.current?.contains(target)) close();
    };
    document.addEventListener('pointerdown', onPointer);
    return () => {
      document.removeEventListener('pointerdown', onPointer);
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
}

interface ChoicesProps {
  readonly what: 'label' | 'move';
  readonly found: readonly Folder[];
  /** The name of what would be made. */
  readonly created: string | undefined;
  readonly at: number;
  readonly hasAll: (label: Folder) => boolean;
  readonly choose: (index: number) => void;
}

function Choices({ what, found, created, at, hasAll, choose }: ChoicesProps) {
  const isActive = (i: number) => (i === at ? 'picker-item is-active' : 'picker-item');
  if (found.length === 0 && created === undefined) return <p class="hint picker-none">{t('act.noneFound')}</p>;
  return (
    <div role="listbox" id="picker-list" aria-label={what === 'label' ? t('folders.labels') : t('folders.title')}>
      {found.map((folder, i) => (
        <div
          key={folder.id}
          id={`picker-${i}`}
          role="option"
          class={isActive(i)}
          aria-selected={what === 'label' ? hasAll(folder) : i === at}
          onClick={() => choose(i)}
        >
          {folder.role === 'label' ? (
            <span class="folder-color" style={{ background: folder.color ?? 'var(--soft)' }} />
          ) : (
            <Icon name={folder.role === 'folder' ? 'folder' : PLACE_ICONS[folder.role]} />
          )}
          <span>{folderName(folder)}</span>
          {what === 'label' && hasAll(folder) && <Icon name="check" />}
        </div>
      ))}
      {created !== undefined && (
        <div
          id={`picker-${found.length}`}
          role="option"
          class={isActive(found.length)}
          aria-selected={at === found.length}
          onClick={() => choose(found.length)}
        >
          <Icon name="plus" />
          <span>
            {what === 'label' ? t('act.makeLabel', { name: created }) : t('act.makeFolder', { name: created })}
          </span>
        </div>
      )}
    </div>
  );
}

function choices({ folders }: Store, what: 'label' | 'move'): readonly Folder[] {
  if (what === 'label') return folders.value.filter(({ role }) => role === 'label');
  // Mail is not moved to where only the service puts it.
  return folders.value.filter(({ role }) => role !== 'label' && role !== 'sent' && role !== 'drafts');
}

function hasAll(store: Store, ids: readonly string[], label: Folder): boolean {
  return ids.every((id) => store.list.known(id)?.folderIds.includes(label.id) === true);
}
