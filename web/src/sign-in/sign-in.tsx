// The sign-in: a passkey or a key begins a session of this browser; without either it says how to get a link.
import './sign-in.css';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Refusal } from '../../../src/client/index.js';
import { reasonOf } from '../app/reason.js';
import { useStore } from '../app/store.js';
import { Icon } from '../design/icon.js';
import { t } from '../i18n/t.js';
import { passkeyFault } from './passkey-faults.js';
import { usePasskey } from './use-passkey.js';

export function SignIn() {
  const store = useStore();
  const key = useSignal('');
  const problem = useSignal('');
  const isBusy = useSignal(false);
  const sayPasskeyFault = (error: unknown) => {
    const text = passkeyFault(error, 'signIn');
    problem.value = text === undefined ? t('app.failed', { reason: reasonOf(error) }) : t(text);
  };
  const passkey = usePasskey(store, sayPasskeyFault);
  useEffect(() => {
    document.title = t('signIn.title');
  }, []);
  const attempt = async (task: () => Promise<void>, say: (error: unknown) => void) => {
    isBusy.value = true;
    problem.value = '';
    try {
      await task();
    } catch (error) {
      say(error);
    }
    isBusy.value = false;
  };
  const sayKeyFault = (error: unknown) => {
    problem.value =
      error instanceof Refusal && error.status === 401
        ? t('signIn.refused')
        : t('app.failed', { reason: reasonOf(error) });
  };
  const isPasskeyFirst = passkey.isOffered.value;
  return (
    <main class="sign-in">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          void attempt(() => store.signIn({ apiKey: key.value.trim() }), sayKeyFault);
        }}
      >
        <h1>{t('signIn.title')}</h1>
        <div role="alert">{problem.value !== '' && <p class="problem">{problem}</p>}</div>
        {isPasskeyFirst && (
          <button
            class="button is-main"
            type="button"
            disabled={isBusy}
            onClick={() => void attempt(passkey.ask, sayPasskeyFault)}
          >
            <Icon name="key" />
            {t('signIn.passkey')}
          </button>
        )}
        <div class={isPasskeyFirst ? 'sign-in-way field' : 'field'}>
          <label for="sign-in-key">{t('signIn.key')}</label>
          <input
            id="sign-in-key"
            class="input"
            type="password"
            autocomplete={isPasskeyFirst ? 'current-password webauthn' : 'off'}
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
        <button class={isPasskeyFirst ? 'button' : 'button is-main'} type="submit" disabled={isBusy}>
          {t('signIn.submit')}
        </button>
        <div class="sign-in-way">
          <p>{t('signIn.link')}</p>
          <code>mansio account link you@example.org</code>
          <p class="hint">{t('signIn.demo')}</p>
        </div>
      </form>
    </main>
  );
}
