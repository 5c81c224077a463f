// The fields of a folder or label that is made or changed, where it stands in the first column. Enter saves, Escape ends it.
import './folder-form.css';
import { type Signal, useSignal } from '@preact/signals';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { Folder } from '../../../src/client/index.js';
import { reasonOf } from '../app/reason.js';
import { type Store, useStore } from '../app/store.js';
import { t } from '../i18n/t.js';
import { type Editing, editing } from './editing.js';
import { changeFolder, changeLabel, makeFolder, makeLabel } from './folder-changes.js';
import { folderName } from './folder-name.js';
import { depthOf, possibleParents } from './folder-tree.js';
import { LABEL_COLORS, nextColor } from './label-colors.js';

export function FolderForm({ edited }: { readonly edited: Editing }) {
  const { what, folder } = edited;
  const store = useStore();
  const input = useFirstFocus();
  const id = useId();
  const begun = beginningOf(edited, store);
  const name = useSignal(begun.name);
  const color = useSignal(begun.color);
  const parentId = useSignal(begun.parentId);
  const problem = useSignal<string | undefined>(undefined);
  const isSaving = useSignal(false);
  const save = async () => {
    if (isSaving.peek()) return;
    isSaving.value = true;
    problem.value = await saved(store, edited, { name: name.peek(), color: color.peek(), parentId: parentId.peek() });
    isSaving.value = false;
    if (problem.peek() === undefined) editing.value = undefined;
    else input.current?.focus();
  };
  return (
    <form
      class="folder-form"
      aria-label={titleOf(edited)}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') editing.value = undefined;
        // Keys of the list have no meaning here.
        event.stopPropagation();
      }}
    >
      <div class="field">
        <label for={id}>{what === 'label' ? t('organise.labelName') : t('organise.folderName')}</label>
        <input
          id={id}
          ref={input}
          class="input"
          autocomplete="off"
          required
          aria-invalid={problem.value !== undefined}
          aria-describedby={problem.value && `${id}-problem`}
          value={name}
          onInput={({ currentTarget }) => {
            name.value = currentTarget.value;
          }}
        />
      </div>
      <div role="alert">
        {problem.value !== undefined && (
          <p class="problem" id={`${id}-problem`}>
            {problem}
          </p>
        )}
      </div>
      {what === 'label' ? <Colors color={color} /> : <Parents folder={folder} parentId={parentId} />}
      <div class="folder-form-buttons">
        <button type="submit" class="button" disabled={isSaving}>
          {folder === undefined ? t('organise.make') : t('organise.save')}
        </button>
        <button
          type="button"
          class="button is-plain"
          onClick={() => {
            editing.value = undefined;
          }}
        >
          {t('app.cancel')}
        </button>
      </div>
    </form>
  );
}

interface Draft {
  readonly name: string;
  readonly color: string;
  readonly parentId: string | null;
}

function beginningOf({ folder, parent }: Editing, { folders, labels }: Store): Draft {
  return {
    name: labels.peek().find(({ id }) => id === folder?.id)?.name ?? folder?.name ?? '',
    color: folder?.color ?? nextColor(folders.peek().filter(({ role }) => role === 'label')),
    parentId: (folder === undefined ? parent?.id : folder.parentId) ?? null,
  };
}

/** Saves it, and returns why that has failed. */
async function saved(store: Store, { what, folder }: Editing, draft: Draft): Promise<string | undefined> {
  const { color, parentId } = draft;
  const name = draft.name.trim();
  try {
    if (what === 'folder') {
      await (folder === undefined
        ? makeFolder(store, { name, parentId })
        : changeFolder(store, folder, { name, parentId }));
      return undefined;
    }
    const label = store.labels.peek().find(({ id }) => id === folder?.id);
    if (folder === undefined) await makeLabel(store, { name, color });
    else if (label === undefined) return t('organise.gone');
    else await changeLabel(store, label, { name, color });
    return undefined;
  } catch (error) {
    return problemOf(error);
  }
}

function problemOf(error: unknown): string {
  const { name } = (error as { readonly errors?: Readonly<Record<string, readonly string[]>> }).errors ?? {};
  if (name !== undefined) return t('organise.nameRefused', { reason: name.join(', ') });
  return t('app.failed', { reason: reasonOf(error) });
}

function titleOf({ what, folder }: Editing): string {
  if (what === 'label') return folder === undefined ? t('organise.newLabel') : t('organise.changeLabel');
  return folder === undefined ? t('organise.newFolder') : t('organise.changeFolder');
}

/** A colour that another program has chosen stands behind those of the page. */
function Colors({ color }: { readonly color: Signal<string> }) {
  const name = useId();
  const present = useRef(color.peek()).current;
  const known: readonly { readonly color: string; readonly name: (typeof LABEL_COLORS)[number]['name'] | undefined }[] =
    LABEL_COLORS;
  const isKnown = known.some((one) => one.color === present.toLowerCase());
  const offered = isKnown ? known : [...known, { color: present, name: undefined }];
  return (
    <fieldset class="label-colors">
      <legend>{t('organise.color')}</legend>
      {offered.map((one) => (
        <label key={one.color} class="label-color" style={{ '--label': one.color }}>
          <input
            type="radio"
            name={name}
            checked={one.color === color.value.toLowerCase() || one.color === color.value}
            onChange={() => {
              color.value = one.color;
            }}
          />
          <span class="unseen">{one.name === undefined ? t('organise.otherColor') : t(one.name)}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Parents({
  folder,
  parentId,
}: {
  readonly folder: Folder | undefined;
  readonly parentId: Signal<string | null>;
}) {
  const id = useId();
  const { folders } = useStore();
  const parents = possibleParents(folder, folders.value);
  if (parents.length === 0) return null;
  return (
    <div class="field">
      <label for={id}>{t('organise.in')}</label>
      <select
        id={id}
        class="input"
        onChange={({ currentTarget }) => {
          parentId.value = currentTarget.value || null;
        }}
      >
        <option value="" selected={parentId.value === null}>
          {t('organise.top')}
        </option>
        {parents.map((one) => (
          <option key={one.id} value={one.id} selected={parentId.value === one.id}>
            {'\u2003'.repeat(depthOf(one, folders.value)) + folderName(one)}
          </option>
        ))}
      </select>
    </div>
  );
}

/** The first field has the focus, which goes back when the form ends. */
function useFirstFocus() {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    input.current?.select();
    input.current?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return input;
}
