// The link that signs a phone in: made on demand, withdrawn when it is closed, and shown until a device has used it or another window of this
// browser shows a new one.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Session } from '../../../../src/client/index.js';
import { reasonOf } from '../../app/reason.js';
import type { Store } from '../../app/store.js';
import { t } from '../../i18n/t.js';
import { deviceName } from '../device-name.js';

const SECOND_MS = 1_000;
const CHANNEL = 'mansio.phoneLink';

export interface PhoneLink {
  /** The session that begins when the link is used. */
  readonly sessionId: string;
  readonly url: string;
  /** How long it is good. */
  readonly minutes: number;
  /** When it ends, by `performance.now()`: the clock of the browser may be wrong. */
  readonly end: number;
}

export function usePhoneLink(store: Store, sessions: Signal<readonly Session[]>) {
  const { client } = store;
  const link = useSignal<PhoneLink | undefined>(undefined);
  const said = useSignal('');
  const problem = useSignal('');
  const isBusy = useSignal(false);
  const windows = useWindows(() => {
    if (link.value === undefined) return;
    link.value = undefined;
    said.value = t('settings.phone.replaced');
  });
  const make = async () => {
    said.value = '';
    problem.value = '';
    isBusy.value = true;
    try {
      const { sessionId, token, expiresInSeconds } = await client.request('POST', '/api/sessions/links');
      const url = new URL(`/link/${token}`, location.origin).href;
      const end = performance.now() + expiresInSeconds * SECOND_MS;
      link.value = { sessionId, url, minutes: Math.round(expiresInSeconds / 60), end };
      windows.postMessage(sessionId);
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
    const expire = () => {
      link.value = undefined;
      said.value = t('settings.phone.expired');
    };
    const timer = setTimeout(expire, Math.max(0, shown.end - performance.now()));
    return () => clearTimeout(timer);
  }, [shown]);
  useEffect(() => withdraw, []);
  return { link, said, problem, isBusy, make, withdraw };
}

/** The windows of this browser, which is one session with one link: `replaced` is called when another one has made the link. */
function useWindows(replaced: () => void): BroadcastChannel {
  const newest = useRef(replaced);
  newest.current = replaced;
  const channel = useMemo(() => new BroadcastChannel(CHANNEL), []);
  useEffect(() => {
    channel.onmessage = () => newest.current();
    return () => channel.close();
  }, [channel]);
  return channel;
}
