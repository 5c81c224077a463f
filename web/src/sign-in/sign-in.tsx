// The sign-in: a passkey, an OpenID provider or a key begins a session of this browser; without any it says how to get a link.
import './sign-in.css';
import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Refusal } from '../../../src/client/index.js';
import { reasonOf } from '../app/reason.js';
import { type Store, useStore } from '../app/store.js';
import { Icon } from '../design/icon.js';
import { t } from '../i18n/t.js';
import { goToProvider, providerFault, textOf } from './oidc.js';
import { passkeyFault } from './passkey-faults.js';
import { usePasskey } from './use-passkey.js';

export function SignIn() {
  const store = useStore();
  const key = useSignal('');
  const problem = useSignal(providerFault.peek() === undefined ? '' : textOf(providerFault.peek()!));
  const provider = useProvider(store);
  const isBusy = useSignal(false);
  const sayFault = (error: unknown) => {
    problem.value = t('app.failed', { reason: reasonOf(error) });
  };
  const sayPasskeyFault = (error: unknown) => {
    const text = passkeyFault(error, 'signIn');
    if (text === undefined) sayFault(error);
    else problem.value = t(text);
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
    if (error instanceof Refusal && error.status === 401) problem.value = t('signIn.refused');
    else sayFault(error);
  };
  const isPasskeyFirst = passkey.isOffered.value;
  const isKeyFirst = !isPasskeyFirst && provider.value === undefined;
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
        {store.hasEnded.value && <p>{t('signIn.ended')}</p>}
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
        {provider.value !== undefined && (
          <button
            class={isPasskeyFirst ? 'button' : 'button is-main'}
            type="button"
            disabled={isBusy}
            onClick={() => void attempt(() => goToProvider(store), sayFault)}
          >
            {t('signIn.oidc', { provider: provider.value })}
          </button>
        )}
        <div class={isKeyFirst ? 'field' : 'sign-in-way field'}>
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
        <button class={isKeyFirst ? 'button is-main' : 'button'} type="submit" disabled={isBusy}>
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

/** The host of the OpenID provider; undefined without one. */
function useProvider({ client }: Store): ReadonlySignal<string | undefined> {
  const provider = useSignal<string | undefined>(undefined);
  useEffect(() => {
    client.request('GET', '/api/config').then(
      ({ oidc }) => {
        if (oidc.enabled && oidc.clientId !== '') provider.value = new URL(oidc.authority).host;
      },
      // The other ways say that nothing answers.
      () => undefined,
    );
  }, []);
  return provider;
}
