// The third column: the open email with the actions on it, or how to open one.
import './message-pane.css';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../design/icon.js';
import { t } from '../i18n/t.js';
import { ActionButtons } from '../list/action-buttons.js';
import { focusRow } from '../list/row.js';
import { MessageView } from '../message/message-view.js';
import { withRows } from './mail-actions.js';
import { withEmail } from './route.js';
import { go } from './router.js';
import { useStore } from './store.js';
import { ReplyButtons, SentSteps } from './writing.js';

export function MessagePane() {
  const store = useStore();
  const id = store.openId.value;
  const wasOpen = useRef(false);
  useEffect(() => {
    if (wasOpen.current && id === undefined) focusRow();
    wasOpen.current = id !== undefined;
  }, [id]);
  if (id === undefined) {
    return (
      <section class="message-pane is-empty" aria-label={t('app.message')}>
        <p class="hint">{t('app.noMessage')}</p>
      </section>
    );
  }
  return (
    <section class="message-pane" aria-label={t('app.message')}>
      <header class="message-bar">
        <button
          type="button"
          class="icon-button message-back"
          aria-label={t('app.back')}
          onClick={() => go(withEmail(store.list.route.peek(), undefined))}
        >
          <Icon name="arrow-left" />
        </button>
        <ActionButtons ids={store.list.emailsOfRows([id])} act={(run) => withRows(store, [id], run)} place="message" />
        <ReplyButtons emailId={id} />
      </header>
      <SentSteps id={id} />
      <MessageView id={id} />
    </section>
  );
}
