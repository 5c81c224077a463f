// Says above the list that the account sends nothing at present, and why; whoever may lifts the suspension there.
import './suspension-note.css';
import { useSignal } from '@preact/signals';
import { Refusal } from '../../../src/client/index.js';
import { reasonOf } from '../app/reason.js';
import { useStore } from '../app/store.js';
import { undo } from '../app/undo.js';
import { t } from '../i18n/t.js';

export function SuspensionNote() {
  const store = useStore();
  const isBusy = useSignal(false);
  const problem = useSignal('');
  // A profile that an earlier version has kept does not tell.
  const sending: { isSuspended: boolean; reason: string | null; canResume: boolean } | undefined =
    store.profile.value?.sending;
  if (sending?.isSuspended !== true) return null;
  const resume = async () => {
    isBusy.value = true;
    problem.value = '';
    try {
      await store.resumeSending();
      undo.say(t('app.sendingResumed'));
    } catch (error) {
      const isOldSession = error instanceof Refusal && error.status === 403;
      problem.value = isOldSession ? t('app.resumeNeedsSignIn') : t('app.failed', { reason: reasonOf(error) });
    }
    isBusy.value = false;
  };
  return (
    <section class="suspension-note" aria-label={t('app.sendingSuspended')}>
      <p>
        {t('app.sendingSuspended')}
        {sending.reason !== null && ` ${sending.reason}`}
      </p>
      {sending.canResume && (
        <button type="button" class="button" disabled={isBusy} onClick={() => void resume()}>
          {t('app.resumeSending')}
        </button>
      )}
      {problem.value !== '' && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  );
}
