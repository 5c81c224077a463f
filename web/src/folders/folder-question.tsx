// The question before a folder or label is deleted: it says what becomes of its emails.
import '../app/delete-question.css';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Folder } from '../../../src/client/index.js';
import { reasonOf } from '../app/reason.js';
import { useStore } from '../app/store.js';
import { t } from '../i18n/t.js';
import { inQuestion } from './editing.js';
import { deleteFolder } from './folder-changes.js';
import { hasBelow, isInBin } from './folder-tree.js';

export function FolderQuestion() {
  const folder = inQuestion.value;
  return folder === undefined ? null : <Question key={folder.id} folder={folder} />;
}

function Question({ folder }: { readonly folder: Folder }) {
  const store = useStore();
  const dialog = useRef<HTMLDialogElement>(null);
  const problem = useSignal<string | undefined>(undefined);
  const isDeleting = useSignal(false);
  useEffect(() => dialog.current?.showModal(), []);
  const confirm = async () => {
    if (isDeleting.peek()) return;
    isDeleting.value = true;
    try {
      await deleteFolder(store, folder);
      dialog.current?.close();
    } catch (error) {
      problem.value = t('app.failed', { reason: reasonOf(error) });
    }
    isDeleting.value = false;
  };
  return (
    <dialog
      ref={dialog}
      class="delete-question"
      aria-labelledby="folder-question-title"
      aria-describedby="folder-question-text"
      onClose={() => {
        inQuestion.value = undefined;
      }}
    >
      <h2 id="folder-question-title">
        {folder.role === 'label'
          ? t('organise.deleteLabel', { name: folder.name })
          : t('organise.deleteFolder', { name: folder.name })}
      </h2>
      <p id="folder-question-text">{consequences(folder, store.folders.value).join(' ')}</p>
      <div role="alert">{problem.value !== undefined && <p class="problem">{problem}</p>}</div>
      <footer>
        <button type="button" class="button" onClick={() => dialog.current?.close()}>
          {t('app.cancel')}
        </button>
        <button type="button" class="button is-danger" disabled={isDeleting} onClick={() => void confirm()}>
          {t('organise.delete')}
        </button>
      </footer>
    </dialog>
  );
}

function consequences(folder: Folder, all: readonly Folder[]): readonly string[] {
  const { total: count, role } = folder;
  const isLabel = role === 'label';
  const emails = isInBin(folder, all)
    ? t('organise.emailsDeleted', { count })
    : isLabel
      ? t('organise.emailsUnlabelled', { count })
      : t('organise.emailsArchived', { count });
  return [
    emails,
    ...(isLabel ? [t('organise.filtersStop')] : []),
    ...(!isLabel && hasBelow(folder, all) ? [t('organise.belowDeleted')] : []),
    t('list.deleteText'),
  ];
}
