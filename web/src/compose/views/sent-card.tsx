// What becomes of an email after Send: it can be taken back while it waits, and then each recipient's steps are seen as they happen.
import { useEffect } from 'preact/hooks';
import { Icon } from '../../design/icon.js';
import { t } from '../../i18n/t.js';
import type { CardProps } from './compose-card.js';
import { Timeline } from './timeline.js';

export function SentCard({ windows, one }: CardProps) {
  const { window, saver } = one;
  const { sent } = saver.state.value;
  useEffect(() => windows.returnFocus(window.id), []);
  if (sent === null) return null;
  const id = `${window.id}-sent`;
  return (
    <section class="compose-sent card" aria-labelledby={id}>
      <header class="compose-head">
        <h2 id={id} dir="auto">
          {window.subject.value || t('compose.noSubject')}
        </h2>
        <button
          type="button"
          class="icon-button"
          aria-label={t('compose.close')}
          title={t('compose.close')}
          onClick={() => windows.remove(one)}
        >
          <Icon name="x" />
        </button>
      </header>
      <Timeline
        client={windows.context.client}
        outboundId={sent.outboundId}
        onUndone={(draftId) => saver.undone(draftId)}
        onSettled={() => {
          saver.isSettled = true;
        }}
      />
    </section>
  );
}
