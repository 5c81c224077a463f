// Where a filter puts an email: a label and a folder, each of which can be made with the filter.
import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { type Store, useStore } from '../app/store.js';
import { makeFolder, makeLabel } from '../folders/folder-changes.js';
import { folderName } from '../folders/folder-name.js';
import { depthOf } from '../folders/folder-tree.js';
import { nextColor } from '../folders/label-colors.js';
import { t } from '../i18n/t.js';
import { type FilterDraft, NEW } from './filter-draft.js';

/** A folder and a label of the server has at most this many characters. */
const LONGEST_NAME = 100;

type DraftSignal = Signal<FilterDraft>;

export function LabelTarget({ draft }: { readonly draft: DraftSignal }) {
  const { labels } = useStore();
  return (
    <Target
      label={t('filters.label')}
      value={draft.value.labelId}
      onChoose={(labelId) => change(draft, { labelId })}
      newName={{
        label: t('filters.newLabelName'),
        value: draft.value.newLabel,
        onInput: (newLabel) => change(draft, { newLabel }),
      }}
    >
      <Choice value="" chosen={draft.value.labelId} text={t('filters.noLabel')} />
      {labels.value.map(({ id, name }) => (
        <Choice key={id} value={id} chosen={draft.value.labelId} text={name} />
      ))}
      <Choice value={NEW} chosen={draft.value.labelId} text={t('filters.newLabel')} />
    </Target>
  );
}

export function FolderTarget({ draft }: { readonly draft: DraftSignal }) {
  const { folders } = useStore();
  // What arrives is no mail that was sent; a filter of another client may name that folder.
  const targets = folders.value.filter(
    (folder) => !['label', 'drafts', 'inbox', 'sent'].includes(folder.role) || folder.id === draft.value.folderId,
  );
  return (
    <Target
      label={t('filters.folder')}
      value={draft.value.folderId}
      onChoose={(folderId) => change(draft, { folderId })}
      newName={{
        label: t('filters.newFolderName'),
        value: draft.value.newFolder,
        onInput: (newFolder) => change(draft, { newFolder }),
      }}
    >
      <Choice value="" chosen={draft.value.folderId} text={t('filters.noFolder')} />
      {targets.map((folder) => (
        <Choice
          key={folder.id}
          value={folder.id}
          chosen={draft.value.folderId}
          text={'\u2003'.repeat(depthOf(folder, folders.value)) + folderName(folder)}
        />
      ))}
      <Choice value={NEW} chosen={draft.value.folderId} text={t('filters.newFolder')} />
    </Target>
  );
}

/** Makes what is new, so that the draft names what exists. One of that name is taken. @throws Refusal, NetworkFault */
export async function makeTargets(store: Store, draft: DraftSignal): Promise<void> {
  const { labelId, newLabel, folderId, newFolder } = draft.peek();
  const isNamed = (wanted: string) => (one: { readonly name: string }) =>
    one.name.toLocaleLowerCase() === wanted.toLocaleLowerCase();
  if (labelId === NEW) {
    const name = newLabel.trim();
    const color = nextColor(store.labels.peek());
    const label = store.labels.peek().find(isNamed(name)) ?? (await makeLabel(store, { name, color }));
    change(draft, { labelId: label.id, newLabel: '' });
  }
  if (folderId === NEW) {
    const name = newFolder.trim();
    const roots = store.folders.peek().filter(({ role, parentId }) => role === 'folder' && parentId === null);
    const folder = roots.find(isNamed(name)) ?? (await makeFolder(store, { name, parentId: null }));
    change(draft, { folderId: folder.id, newFolder: '' });
  }
}

function change(draft: DraftSignal, changed: Partial<FilterDraft>): void {
  draft.value = { ...draft.peek(), ...changed };
}

interface TargetProps {
  readonly label: string;
  readonly value: string;
  readonly onChoose: (value: string) => void;
  /** The field for the name of what is made. */
  readonly newName: { readonly label: string; readonly value: string; readonly onInput: (name: string) => void };
  readonly children: ComponentChildren;
}

function Target({ label, value, onChoose, newName, children }: TargetProps) {
  const id = useId();
  const name = useRef<HTMLInputElement>(null);
  const isChosen = useSignal(false);
  const isNew = value === NEW;
  useLayoutEffect(() => {
    if (isNew && isChosen.peek()) name.current?.focus();
  }, [isNew]);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        class="input"
        onChange={({ currentTarget }) => {
          isChosen.value = true;
          onChoose(currentTarget.value);
        }}
      >
        {children}
      </select>
      {isNew && (
        <>
          <label for={`${id}-name`}>{newName.label}</label>
          <input
            ref={name}
            id={`${id}-name`}
            class="input"
            autocomplete="off"
            maxLength={LONGEST_NAME}
            value={newName.value}
            onInput={({ currentTarget }) => newName.onInput(currentTarget.value)}
          />
        </>
      )}
    </div>
  );
}

interface ChoiceProps {
  readonly value: string;
  readonly chosen: string;
  readonly text: string;
}

function Choice({ value, chosen, text }: ChoiceProps) {
  return (
    <option value={value} selected={value === chosen}>
      {text}
    </option>
  );
}
