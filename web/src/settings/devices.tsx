// The browsers that are signed in to the account, each of which can be signed out from here at once, and the passkeys.
import './devices.css';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Session } from '../../../src/client/index.js';
import { reasonOf } from '../app/reason.js';
import { type Store, useStore } from '../app/store.js';
import { Icon } from '../design/icon.js';
import { t } from '../i18n/t.js';
import { deviceName } from './device-name.js';
import { Passkeys } from './passkeys.js';
import { PhoneSignIn } from './phone/phone-sign-in.js';
import { Problem } from './problem.js';
import { lastUse, When } from './when.js';

export function Devices() {
  const store = useStore();
  const { sessions, said, problem, read, end } = useSessions(store);
  const list = useRef<HTMLUListElement>(null);
  const others = sessions.value.filter(({ isCurrent }) => !isCurrent);
  const endAndSay = async (ended: readonly Session[]) => {
    await end(ended);
    // Their buttons are gone.
    list.current?.focus();
  };
  return (
    <>
      <p class="hint">{t('settings.devices.about')}</p>
      <ul ref={list} class="setting-items devices" tabIndex={-1} aria-label={t('settings.section.devices')}>
        {sessions.value.map((session) => (
          <Device key={session.id} session={session} store={store} onEnd={() => void endAndSay([session])} />
        ))}
      </ul>
      <p class="saving-note" role="status">
        {said}
      </p>
      <Problem text={problem.value} />
      {others.length > 0 && (
        <div>
          <button type="button" class="button" onClick={() => void endAndSay(others)}>
            {t('settings.devices.endOthers')}
          </button>
        </div>
      )}
      <PhoneSignIn sessions={sessions} onRead={read} />
      <Passkeys />
    </>
  );
}

function Device({
  session,
  store,
  onEnd,
}: {
  readonly session: Session;
  readonly store: Store;
  readonly onEnd: () => void;
}) {
  const { userAgent, lastUsedAt, isCurrent } = session;
  const name = deviceName(session.userAgent);
  const isPhone = /\b(?:iPhone|iPad|Android)\b/.test(userAgent);
  return (
    <li>
      <Icon name={isPhone ? 'smartphone' : 'monitor'} />
      <div>
        <strong title={userAgent}>{name}</strong>
        {isCurrent ? (
          <span class="device-current">{t('settings.devices.current')}</span>
        ) : (
          <When at={lastUsedAt} now={store.now.value} text={lastUse} />
        )}
      </div>
      <button
        type="button"
        class="button"
        aria-label={isCurrent ? t('settings.devices.leave') : t('settings.devices.end', { name })}
        onClick={isCurrent ? () => void store.signOut() : onEnd}
      >
        {t('app.signOut')}
      </button>
    </li>
  );
}

/** The sessions, as they are when the section is opened, whenever the reader comes back to it, and while a phone is signed in. */
function useSessions(store: Store) {
  const sessions = useSignal<readonly Session[]>([]);
  const said = useSignal('');
  const problem = useSignal('');
  const read = async () => {
    try {
      sessions.value = sorted(await store.client.sessions());
      problem.value = '';
    } catch (error) {
      problem.value = t('settings.devices.notRead', { reason: reasonOf(error) });
    }
  };
  useEffect(() => {
    const onReturn = () => {
      if (document.visibilityState === 'visible') void read();
    };
    document.addEventListener('visibilitychange', onReturn);
    return () => document.removeEventListener('visibilitychange', onReturn);
  }, []);
  const { value: connection } = store.connection;
  useEffect(() => {
    if (connection === 'live') void read();
  }, [connection]);
  const end = async (ended: readonly Session[]) => {
    said.value = '';
    const results = await Promise.allSettled(ended.map(({ id }) => store.client.endSession(id)));
    const failures = results.filter((result) => result.status === 'rejected');
    await read();
    if (failures.length > 0) problem.value = t('settings.devices.notEnded', { reason: reasonOf(failures[0]!.reason) });
    else
      said.value =
        ended.length === 1
          ? t('settings.devices.ended', { name: deviceName(ended[0]!.userAgent) })
          : t('settings.devices.endedAll', { count: ended.length });
  };
  return { sessions, said, problem, read, end };
}

/** This browser, then the others by their last use. */
function sorted(sessions: readonly Session[]): readonly Session[] {
  return [...sessions].sort(
    (a, b) => Number(b.isCurrent) - Number(a.isCurrent) || Date.parse(b.lastUsedAt) - Date.parse(a.lastUsedAt),
  );
}
