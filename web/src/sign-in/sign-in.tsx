// The sign-in: a key begins a session of this browser; without one it says how to get a link.
import './sign-in.css';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Refusal } from '../../../src/client/index.js';
import { reasonOf } from '../app/reason.js';
import { useStore } from '../app/store.js';
import { t } from '../i18n/t.js';

export function SignIn() {
  const store = useStore();
  const key = useSignal('');
  const problem = useSignal('');
  const isBusy = useSignal(false);
  useEffect(() => {
    document.title = t('signIn.title');
  }, []);
  const submit = async (event: Event) => {
    event.preventDefault();
    isBusy.value = true;
    problem.value = '';
    try {
      await store.signIn(key.value.trim());
    } catch (error) {
      problem.value =
        error instanceof Refusal && error.status === 401
          ? t('signIn.refused')
          : t('app.failed', { reason: reasonOf(error) });
    }
    isBusy.value = false;
  };
  return (
    <main class="sign-in">
      <form class="card" onSubmit={(event) => void submit(event)}>
        <h1>{t('signIn.title')}</h1>
        <div class="field">
          <label for="sign-in-key">{t('signIn.key')}</label>
          <input
            id="sign-in-key"
            class="input"
            type="password"
            autocomplete="off"
            spellcheck={false}
            required
            aria-describedby="sign-in-hint"
            value={key}
            onInput={(event) => {
              key.value = event.currentTarget.value;
            }}
          />
          <p id="sign-in-hint" class="hint">
            {t('signIn.hint')}
          </p>
        </div>
        <div role="alert">{problem.value !== '' && <p class="problem">{problem}</p>}</div>
        <button class="button is-main" type="submit" disabled={isBusy}>
          {t('signIn.submit')}
        </button>
        <div class="sign-in-link">
          <p>{t('signIn.link')}</p>
          <code>mansio account link you@example.org</code>
          <p class="hint">{t('signIn.demo')}</p>
        </div>
      </form>
    </main>
  );
}
