// The link that signs a phone in: made on demand, withdrawn when it is closed, and watched until a device has used it.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Session } from '../../../../src/client/index.js';
import { reasonOf } from '../../app/reason.js';
import type { Store } from '../../app/store.js';
import { t } from '../../i18n/t.js';
import { deviceName } from '../device-name.js';

/** How often the sessions are read while a link is shown. No event says that a device has signed in. */
const LOOK_MS = 2_000;
const SECOND_MS = 1_000;

export interface PhoneLink {
  /** The session that begins when the link is used. */
  readonly sessionId: string;
  readonly url: string;
  /** How long it is good. */
  readonly minutes: number;
  /** When it ends, by `performance.now()`: the clock of the browser may be wrong. */
  readonly end: number;
}

export function usePhoneLink(store: Store, sessions: Signal<readonly Session[]>, onRead: () => Promise<void>) {
  const { client } = store;
  const link = useSignal<PhoneLink | undefined>(undefined);
  const said = useSignal('');
  const problem = useSignal('');
  const isBusy = useSignal(false);
  const make = async () => {
    said.value = '';
    problem.value = '';
    isBusy.value = true;
    try {
      const { sessionId, token, expiresInSeconds } = await client.request('POST', '/api/sessions/links');
      const url = new URL(`/link/${token}`, location.origin).href;
      const end = performance.now() + expiresInSeconds * SECOND_MS;
      link.value = { sessionId, url, minutes: Math.round(expiresInSeconds / 60), end };
    } catch (error) {
      problem.value = t('settings.phone.notMade', { reason: reasonOf(error) });
    }
    isBusy.value = false;
  };
  const withdraw = () => {
    const id = link.value?.sessionId;
    if (id === undefined) return;
    link.value = undefined;
    // A link that is not withdrawn ends with its time.
    client.request('DELETE', '/api/sessions/links/{id}', { params: { id } }).catch(() => {});
  };
  const shown = link.value;
  const device = shown && sessions.value.find(({ id }) => id === shown.sessionId);
  useEffect(() => {
    if (device === undefined) return;
    link.value = undefined;
    said.value = t('settings.phone.signedIn', { name: deviceName(device.userAgent) });
  }, [device]);
  useEffect(() => {
    if (shown === undefined) return;
    const timer = setInterval(() => {
      if (performance.now() < shown.end) {
        if (document.visibilityState === 'visible' && store.connection.value === 'live') void onRead();
        return;
      }
      link.value = undefined;
      said.value = t('settings.phone.expired');
    }, LOOK_MS);
    return () => clearInterval(timer);
  }, [shown]);
  useEffect(() => withdraw, []);
  return { link, said, problem, isBusy, make, withdraw };
}
