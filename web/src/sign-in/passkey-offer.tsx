// Offers a passkey below the list after the first sign-in, where this device can make one. It is offered until it is made or refused, and
// then never again in this browser; the settings have it always.
import './passkey-offer.css';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { reasonOf } from '../app/reason.js';
import { useStore } from '../app/store.js';
import { undo } from '../app/undo.js';
import { Icon } from '../design/icon.js';
import { t } from '../i18n/t.js';
import { deviceName } from '../settings/device-name.js';
import { addPasskey, hasOwnAuthenticator } from './passkey.js';
import { passkeyFault } from './passkey-faults.js';

/** The browser keeps for which accounts it has been answered. */
const answeredOf = (accountId: string) => `mansio.passkeyOffer.${accountId}`;

export function PasskeyOffer() {
  const { client, profile, connection } = useStore();
  const isShown = useSignal(false);
  const isBusy = useSignal(false);
  const problem = useSignal('');
  const id = profile.value?.id;
  const isLive = connection.value === 'live';
  useEffect(() => {
    if (id === undefined || !isLive || localStorage.getItem(answeredOf(id)) !== null) return;
    const find = async () => {
      if (await hasOwnAuthenticator()) isShown.value = (await client.passkeys.list()).length === 0;
    };
    // Nobody has asked for the offer: without it the page is whole, and the next connection asks again.
    find().catch(() => undefined);
  }, [id, isLive]);
  if (!isShown.value || id === undefined) return null;
  const answer = () => {
    localStorage.setItem(answeredOf(id), 'answered');
    isShown.value = false;
  };
  const add = async () => {
    isBusy.value = true;
    problem.value = '';
    try {
      await addPasskey(client, deviceName(navigator.userAgent));
      answer();
      undo.say(t('passkeys.added'));
    } catch (error) {
      const text = passkeyFault(error, 'add');
      problem.value = text === undefined ? t('app.failed', { reason: reasonOf(error) }) : t(text);
    }
    isBusy.value = false;
  };
  return (
    <section class="passkey-offer" aria-label={t('passkeys.title')}>
      <p>{t('passkeys.offer')}</p>
      <button type="button" class="button" disabled={isBusy} onClick={() => void add()}>
        <Icon name="key" />
        {t('passkeys.make')}
      </button>
      <button type="button" class="icon-button" aria-label={t('passkeys.notNow')} onClick={answer}>
        <Icon name="x" />
      </button>
      {problem.value !== '' && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  );
}
