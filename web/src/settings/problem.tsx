// What went wrong, and the button that tries again.
import { t } from '../i18n/t.js';

interface ProblemProps {
  /** Empty when nothing is wrong. */
  readonly text: string;
  readonly again?: (() => void) | undefined;
}

export function Problem({ text, again }: ProblemProps) {
  return (
    <div role="alert">
      {text !== '' && (
        <p class="problem">
          {text}{' '}
          {again && (
            <button type="button" class="button" onClick={again}>
              {t('settings.again')}
            </button>
          )}
        </p>
      )}
    </div>
  );
}
