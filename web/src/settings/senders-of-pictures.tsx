// The senders whose pictures are shown without being asked for. Each can be taken back; one is added from an email.
import { Icon } from '../design/icon.js';
import { t } from '../i18n/t.js';
import { withoutSender } from '../message/picture-senders.js';

interface Props {
  readonly senders: readonly string[];
  readonly onChange: (senders: string[]) => void;
}

export function PictureSenders({ senders, onChange }: Props) {
  if (senders.length === 0) return null;
  return (
    <div class="setting">
      <h3 id="settings-pictures">{t('settings.pictures')}</h3>
      <ul class="setting-items" aria-labelledby="settings-pictures">
        {senders.map((address) => (
          <li key={address}>
            <Icon name="image" />
            <div>
              <bdi dir="ltr">{address}</bdi>
            </div>
            <button
              type="button"
              class="button"
              aria-label={t('settings.pictures.forget', { address })}
              onClick={() => onChange(withoutSender(senders, address))}
            >
              {t('settings.pictures.remove')}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
