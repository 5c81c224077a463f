// The source of an email as text.
import './attachments/attachments.css';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { EmailDetail } from '../../../src/client/index.js';
import { reasonOf } from '../app/reason.js';
import { useStore } from '../app/store.js';
import { Icon } from '../design/icon.js';
import { t } from '../i18n/t.js';
import type { MessageModel } from './message-model.js';

/** The file has the rest. */
const MOST_BYTES = 1_000_000;

export function Original({ email, model }: { readonly email: EmailDetail; readonly model: MessageModel }) {
  const { client } = useStore();
  const text = useSignal<string | undefined>(undefined);
  const isCut = useSignal(false);
  const fault = useSignal<unknown>(undefined);
  useEffect(() => {
    const read = async () => {
      const file = await client.blob(client.emlUrl(email.id));
      isCut.value = file.size > MOST_BYTES;
      text.value = await file.slice(0, MOST_BYTES).text();
    };
    read().catch((error: unknown) => {
      fault.value = error;
    });
  }, [client, email.id]);
  return (
    <section class="message-viewer" aria-label={t('message.original')}>
      <div class="message-viewer-bar">
        <button
          type="button"
          class="button is-plain"
          onClick={() => {
            model.isOriginal.value = false;
          }}
        >
          <Icon name="arrow-left" /> {t('message.backToMessage')}
        </button>
        <a class="button is-plain" href={client.emlUrl(email.id)} download>
          <Icon name="download" /> {t('message.saveEml')}
        </a>
      </div>
      {fault.value !== undefined && <p class="problem">{t('message.fault', { reason: reasonOf(fault.value) })}</p>}
      {isCut.value && <p class="message-strip">{t('message.cutOriginal')}</p>}
      <pre class="message-source" dir="ltr" aria-busy={text.value === undefined}>
        {text.value}
      </pre>
    </section>
  );
}
