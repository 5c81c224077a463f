// What the mailbox uses and may use, as it was when the limits or the room last changed.
import { useSignal } from '@preact/signals';
import type { Quota } from '../../../src/client/index.js';
import { reasonOf } from '../app/reason.js';
import { t } from '../i18n/t.js';
import { useSetting } from './following/use-setting.js';
import { Problem } from './problem.js';
import { isScarce, storageLines } from './storage-text.js';

export function StorageUse() {
  const quota = useSignal<Quota | undefined>(undefined);
  const { problem, again } = useSetting('/api/quota', (value) => {
    quota.value = value;
  });
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
      <Problem
        text={problem.value === undefined ? '' : t('settings.storage.notRead', { reason: reasonOf(problem.value) })}
        again={again}
      />
    </div>
  );
}
