// A question in the place of a row's buttons, before something is taken away for good.
import { t } from '../i18n/t.js';

interface QuestionProps {
  /** What the question is about. */
  readonly label: string;
  readonly text: string;
  /** What the button says that does it. */
  readonly action: string;
  readonly onSure: () => void;
  readonly onCancel: () => void;
}

export function Question({ label, text, action, onSure, onCancel }: QuestionProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: the question has no fields.
    <div class="setting-question" role="group" aria-label={label}>
      <p>{text}</p>
      <button ref={(button) => button?.focus()} type="button" class="button is-danger" onClick={onSure}>
        {action}
      </button>
      <button type="button" class="button" onClick={onCancel}>
        {t('app.cancel')}
      </button>
    </div>
  );
}
