// The other messages of a thread, one line each; the first ones of many are folded. A line opens its message in place of this one.
import './thread.css';
import { useSignal } from '@preact/signals';
import type { EmailDetail } from '../../../src/client/index.js';
import { hrefOf, isListRoute, withEmail } from '../app/route.js';
import { route } from '../app/router.js';
import { useStore } from '../app/store.js';
import { Avatar } from '../design/avatar.js';
import { shortDate } from '../i18n/format.js';
import { t } from '../i18n/t.js';

/** More are folded to this many. */
const MOST_LINES = 3;
const LONGEST_PREVIEW = 160;

interface Props {
  readonly emails: readonly EmailDetail[];
  /** Than the open one. */
  readonly kind: 'earlier' | 'later';
}

export function OtherMessages({ emails, kind }: Props) {
  const { now } = useStore();
  const isWhole = useSignal(false);
  const shown = route.value;
  if (emails.length === 0 || !isListRoute(shown)) return null;
  const folded = isWhole.value || emails.length <= MOST_LINES ? 0 : emails.length - MOST_LINES + 1;
  return (
    <nav class="message-thread" aria-label={kind === 'earlier' ? t('message.earlier') : t('message.later')}>
      {folded > 0 && (
        <button
          type="button"
          class="message-thread-more"
          onClick={() => {
            isWhole.value = true;
          }}
        >
          {t('message.more', { count: folded })}
        </button>
      )}
      <ul>
        {emails
          .slice(kind === 'earlier' ? folded : 0, kind === 'earlier' ? undefined : emails.length - folded)
          .map((email) => (
            <li key={email.id}>
              <a class="message-thread-line" href={hrefOf(withEmail(shown, email.id))}>
                <Avatar name={email.fromDisplayName} address={email.fromAddress} />
                <bdi class="message-thread-from">{email.fromDisplayName || email.fromAddress}</bdi>
                <span class="message-thread-text" dir="auto">
                  {email.textBody.slice(0, LONGEST_PREVIEW)}
                </span>
                <time dateTime={email.receivedAt}>{shortDate(new Date(email.receivedAt), now.value)}</time>
              </a>
            </li>
          ))}
      </ul>
    </nav>
  );
}
