// Whether this browser tells of new mail, also while the page is closed. It asks for the browser's permission when it is turned on.
import { useEffect } from 'preact/hooks';
import { lookAtPush, pushState, turnPushOff, turnPushOn } from '../app/push.js';
import { useStore } from '../app/store.js';
import { t } from '../i18n/t.js';
import { Switch } from './controls.js';
import type { Saving } from './saving.js';

export function NotificationsSetting({ saving }: { readonly saving: Saving }) {
  const store = useStore();
  const { client } = store;
  const account = store.profile.value?.email;
  useEffect(() => {
    if (account !== undefined) lookAtPush(client, account).catch(() => {});
  }, [client, account]);
  const choose = async (isOn: boolean) => {
    if (!isOn) return turnPushOff(client);
    await turnPushOn(client, account ?? '');
    // The preference is that of all browsers of the account.
    if (store.preferences.peek()?.desktopNotifications === false) await store.prefer({ desktopNotifications: true });
  };
  const { value: state } = pushState;
  const hint =
    state === 'unsupported'
      ? t('settings.push.unsupported')
      : state === 'blocked'
        ? t('settings.push.blocked')
        : t('settings.push.hint');
  const isOn = state === 'on' && store.preferences.value?.desktopNotifications !== false;
  return (
    <div class="setting">
      {(state === 'on' || state === 'off') && (
        <Switch label={t('settings.push')} value={isOn} onChoose={(value) => void saving.save(() => choose(value))} />
      )}
      <p class="hint">{hint}</p>
    </div>
  );
}
