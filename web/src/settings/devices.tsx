// The browsers that are signed in to the account, each of which can be signed out from here at once, and the passkeys.
import './devices.css';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { NetworkFault, type Session } from '../../../src/client/index.js';
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
  const { sessions, said, problem, end } = useSessions(store);
  const list = useRef<HTMLUListElement>(null);
  const others = sessions.value.filter(({ isCurrent }) => !isCurrent);
  const endAndSay = async (ended: readonly Session[]) => {
    await end(ended);
    // Their buttons are gone.
    list.current?.focus();
  };
  return (
    <>
      <PhoneSignIn sessions={sessions} />
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

/** The sessions as they are, with their last uses as they were when the reader came to the section, or came back to the page. */
function useSessions(store: Store) {
  const sessions = useSignal<readonly Session[]>([]);
  const said = useSignal('');
  const problem = useSignal('');
  const { client, isCutOff } = store;
  useEffect(() => {
    const show = (all: readonly Session[]) => {
      sessions.value = sorted(all);
      problem.value = '';
    };
    const fail = (error: unknown) => {
      problem.value = t('settings.devices.notRead', { reason: reasonOf(error) });
    };
    const subscription = client.sessions$.subscribe({ next: show, error: fail });
    // No event says that a browser is used.
    const onReturn = () => {
      if (document.visibilityState === 'visible') client.sessions().then(show, fail);
    };
    document.addEventListener('visibilitychange', onReturn);
    return () => {
      subscription.unsubscribe();
      document.removeEventListener('visibilitychange', onReturn);
    };
  }, [client]);
  useEffect(() => {
    if (isCutOff.value && sessions.peek().length === 0)
      problem.value = t('settings.devices.notRead', { reason: reasonOf(new NetworkFault()) });
  }, [isCutOff.value]);
  const end = async (ended: readonly Session[]) => {
    said.value = '';
    const results = await Promise.allSettled(ended.map(({ id }) => client.endSession(id)));
    const failures = results.filter((result) => result.status === 'rejected');
    const gone = new Set(ended.filter((_, i) => results[i]!.status === 'fulfilled').map(({ id }) => id));
    sessions.value = sessions.peek().filter(({ id }) => !gone.has(id));
    if (failures.length > 0) problem.value = t('settings.devices.notEnded', { reason: reasonOf(failures[0]!.reason) });
    else
      said.value =
        ended.length === 1
          ? t('settings.devices.ended', { name: deviceName(ended[0]!.userAgent) })
          : t('settings.devices.endedAll', { count: ended.length });
  };
  return { sessions, said, problem, end };
}

/** This browser, then the others by their last use. */
function sorted(sessions: readonly Session[]): readonly Session[] {
  return [...sessions].sort(
    (a, b) => Number(b.isCurrent) - Number(a.isCurrent) || Date.parse(b.lastUsedAt) - Date.parse(a.lastUsedAt),
  );
}
