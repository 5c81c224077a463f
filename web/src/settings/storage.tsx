// What the mailbox uses and may use, as it is when the section is opened and when the connection comes back.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Quota } from '../../../src/client/index.js';
import { reasonOf } from '../app/reason.js';
import { useStore } from '../app/store.js';
import { t } from '../i18n/t.js';
import { Problem } from './problem.js';
import { isScarce, storageLines } from './storage-text.js';

export function StorageUse() {
  const store = useStore();
  const quota = useSignal<Quota | undefined>(undefined);
  const problem = useSignal('');
  const { value: connection } = store.connection;
  const read = async () => {
    try {
      quota.value = await store.client.request('GET', '/api/quota');
      problem.value = '';
    } catch (error) {
      problem.value = t('settings.storage.notRead', { reason: reasonOf(error) });
    }
  };
  useEffect(() => {
    if (connection === 'live') void read();
  }, [connection]);
  const lines = quota.value === undefined ? [] : storageLines(quota.value);
  return (
    <div class="setting">
      <h3>{t('settings.storage')}</h3>
      {lines.map((line) => (
        <p key={line.text}>
          {line.text} {line.share !== undefined && <meter value={line.share} aria-label={line.text} />}
        </p>
      ))}
      {lines.some(isScarce) && <p class="problem">{t('settings.storage.scarce')}</p>}
      <Problem text={problem.value} />
    </div>
  );
}
