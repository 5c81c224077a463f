// Says that another window has changed what is being written here, with a way to what is stored.
import { t } from '../../i18n/t.js';

interface ChangedElsewhereProps {
  readonly isShown: boolean;
  readonly onShow: () => void;
}

export function ChangedElsewhere({ isShown, onShow }: ChangedElsewhereProps) {
  return (
    <div role="status">
      {isShown && (
        <p class="problem">
          {t('settings.changedElsewhere')}{' '}
          <button type="button" class="button" onClick={onShow}>
            {t('settings.showStored')}
          </button>
        </p>
      )}
    </div>
  );
}
