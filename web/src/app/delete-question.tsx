// The question before emails in Trash are deleted for good.
import './delete-question.css';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../i18n/t.js';
import { deleteForGood, inQuestion } from './mail-actions.js';
import { useStore } from './store.js';

export function DeleteQuestion() {
  const store = useStore();
  const dialog = useRef<HTMLDialogElement>(null);
  const ids = inQuestion.value;
  useEffect(() => {
    if (ids.length > 0) dialog.current?.showModal();
  }, [ids]);
  if (ids.length === 0) return null;
  const count = store.list.countOf(ids);
  const close = () => {
    inQuestion.value = [];
  };
  const confirm = () => {
    dialog.current?.close();
    deleteForGood(store, ids);
  };
  return (
    <dialog ref={dialog} class="delete-question" aria-labelledby="delete-title" onClose={close}>
      <h2 id="delete-title">{t('list.deleteTitle', { count })}</h2>
      <p>{t('list.deleteText')}</p>
      <footer>
        <button type="button" class="button" onClick={() => dialog.current?.close()}>
          {t('app.cancel')}
        </button>
        <button type="button" class="button is-danger" onClick={confirm}>
          {t('list.delete')}
        </button>
      </footer>
    </dialog>
  );
}
