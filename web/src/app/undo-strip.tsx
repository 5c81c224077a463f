// The strip at the lower edge: what has been done, and a button that undoes it. A screen reader hears it.
import './undo-strip.css';
import { useEffect } from 'preact/hooks';
import { Icon } from '../design/icon.js';
import { t } from '../i18n/t.js';
import { focusRow } from '../list/row.js';
import { sayFailed } from './failure.js';
import { bindKeys } from './keyboard.js';
import { strip, takingBack, undo } from './undo.js';

const PATIENCE_MS = 500;
const LONGEST_MS = 600_000;
const UNDONE_MS = 3000;

export function UndoStrip() {
  useEffect(() => bindKeys('act', [{ keys: 'z', text: 'undo.key', run: () => void takeBack() }]), []);
  const shown = strip.value;
  return (
    <div class="undo-place" role="status" aria-live="polite">
      {shown && (
        <div class="undo-strip">
          <span>{shown.text}</span>
          {shown.progress && <Progress {...shown.progress} />}
          {shown.stop && (
            <button type="button" onClick={shown.stop}>
              {t('undo.stop')}
            </button>
          )}
          {shown.undo && (
            <button type="button" onClick={() => void takeBack().then(focusRow)}>
              {t('undo.undo')}{' '}
              <span class="key" aria-hidden="true">
                z
              </span>
            </button>
          )}
          <button type="button" class="undo-dismiss" aria-label={t('undo.dismiss')} onClick={undo.dismiss}>
            <Icon name="x" />
          </button>
        </div>
      )}
    </div>
  );
}

function Progress({ done, total }: { readonly done: number; readonly total: number }) {
  return (
    <>
      <progress value={done} max={total} aria-label={t('undo.progress')} />
      <span class="undo-count" aria-hidden="true">
        {t('undo.of', { done, total })}
      </span>
    </>
  );
}

async function takeBack(): Promise<void> {
  const taken = strip.peek()?.undo;
  if (taken === undefined) return;
  undo.dismiss();
  takingBack.is = true;
  // The offer of what the reader does meanwhile stays.
  let said = strip.peek();
  const say = (text: string, ms: number) => {
    if (strip.peek() !== said) return;
    undo.say(text, ms);
    said = strip.peek();
  };
  // What takes its time says so.
  const patience = setTimeout(() => say(t('undo.undoing'), LONGEST_MS), PATIENCE_MS);
  try {
    await taken();
    say(t('undo.undone'), UNDONE_MS);
  } catch (error) {
    sayFailed(error);
  } finally {
    clearTimeout(patience);
    setTimeout(() => {
      takingBack.is = false;
    }, UNDONE_MS);
  }
}
