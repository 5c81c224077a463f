// The third column: the open email with the actions on it, or how to open one.
import './message-pane.css';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { EmailDetail } from '../../../src/client/index.js';
import { NotFound } from '../../../src/client/index.js';
import { Avatar } from '../design/avatar.js';
import { Icon } from '../design/icon.js';
import { longDate } from '../i18n/format.js';
import { t } from '../i18n/t.js';
import { ActionButtons } from '../list/action-buttons.js';
import { reasonOf } from './reason.js';
import { withEmail } from './route.js';
import { go } from './router.js';
import { useStore } from './store.js';

export function MessagePane() {
  const store = useStore();
  const id = store.openId.value;
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
        <ActionButtons ids={[id]} place="message" />
      </header>
      <OpenEmail key={id} id={id} />
    </section>
  );
}

function OpenEmail({ id }: { readonly id: string }) {
  const { client } = useStore();
  const email = useSignal<EmailDetail | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  useEffect(() => {
    let isMarked = false;
    const subscription = client.email(id).subscribe({
      next(detail) {
        email.value = detail;
        // Reading it once marks it: whoever marks it unread again means it.
        if (!isMarked && !detail.isRead) client.act.markRead([id], true).done.catch(() => undefined);
        isMarked = true;
      },
      error(error: unknown) {
        problem.value = error instanceof NotFound ? t('app.messageGone') : reasonOf(error);
      },
    });
    return () => subscription.unsubscribe();
  }, [id]);
  if (problem.value !== undefined) return <p class="message-problem">{problem}</p>;
  return email.value && <Message email={email.value} />;
}

function Message({ email }: { readonly email: EmailDetail }) {
  const then = new Date(email.receivedAt);
  return (
    <article class="message">
      <h2>{email.subject || t('list.noSubject')}</h2>
      <div class="message-from">
        <Avatar name={email.fromDisplayName} address={email.fromAddress} />
        <div>
          <strong>{email.fromDisplayName || email.fromAddress}</strong> <span class="hint">{email.fromAddress}</span>
          <p class="hint">{t('list.to', { names: email.toAddresses.join(', ') })}</p>
        </div>
        <time class="hint" dateTime={email.receivedAt}>
          {longDate(then)}
        </time>
      </div>
      <div class="message-text" dir="auto">
        {email.textBody}
      </div>
    </article>
  );
}
