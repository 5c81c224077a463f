// A button that copies a text, and says so.
import { useSignal } from '@preact/signals';
import { t } from '../i18n/t.js';
import { Icon } from './icon.js';

const SAID_MS = 2_000;

interface CopyButtonProps {
  readonly text: string;
  /** What the text is, for those who do not see what the button stands beside. */
  readonly what?: string;
}

export function CopyButton({ text, what }: CopyButtonProps) {
  const said = useSignal<'copied' | 'notCopied' | undefined>(undefined);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      said.value = 'copied';
    } catch {
      // The browser or its owner does not let pages write to the clipboard.
      said.value = 'notCopied';
    }
    setTimeout(() => {
      said.value = undefined;
    }, SAID_MS);
  };
  return (
    <button type="button" class="button copy-button" aria-live="polite" onClick={() => void copy()}>
      <Icon name={said.value === 'copied' ? 'check' : 'copy'} />
      {said.value === undefined ? (
        <span>
          {t('list.copy')}
          {what !== undefined && <span class="unseen"> {what}</span>}
        </span>
      ) : (
        t(`list.${said.value}`)
      )}
    </button>
  );
}
