// What can be done with one email besides moving it: print it, see its source, make a filter from it, save it.
import type { EmailDetail } from '../../../src/client/index.js';
import { sayFailed } from '../app/failure.js';
import { useStore } from '../app/store.js';
import { Icon } from '../design/icon.js';
import { filterMailOf } from '../filters/open.js';
import { t } from '../i18n/t.js';
import type { MessageModel } from './message-model.js';

export function MessageTools({ email, model }: { readonly email: EmailDetail; readonly model: MessageModel }) {
  const { client } = useStore();
  const print = async () => {
    try {
      const { printEmail } = await import('./print.js');
      await printEmail(email, model);
    } catch (error) {
      sayFailed(error);
    }
  };
  return (
    <div class="message-tools">
      <button
        type="button"
        class="icon-button"
        aria-label={t('message.print')}
        title={t('message.print')}
        onClick={() => void print()}
      >
        <Icon name="printer" />
      </button>
      <button
        type="button"
        class="icon-button"
        aria-label={t('message.original')}
        title={t('message.original')}
        aria-pressed={model.isOriginal.value}
        onClick={() => {
          model.isOriginal.value = !model.isOriginal.value;
        }}
      >
        <Icon name="code" />
      </button>
      {email.fromAddress !== '' && (
        <button
          type="button"
          class="icon-button"
          aria-label={t('filters.fromEmail')}
          title={t('filters.fromEmail')}
          onClick={() => filterMailOf(email.fromAddress)}
        >
          <Icon name="funnel" />
        </button>
      )}
      <a
        class="icon-button"
        href={client.emlUrl(email.id)}
        download
        aria-label={t('message.saveEml')}
        title={t('message.saveEml')}
      >
        <Icon name="download" />
      </a>
    </div>
  );
}
