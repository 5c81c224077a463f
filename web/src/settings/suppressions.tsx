// The addresses to which nothing is sent, because emails to them came back. Each can be taken back; nothing is shown while there are none.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Suppression } from '../../../src/client/index.js';
import { reasonOf } from '../app/reason.js';
import { useStore } from '../app/store.js';
import { Icon } from '../design/icon.js';
import { longDate } from '../i18n/format.js';
import { t } from '../i18n/t.js';
import { useSetting } from './following/use-setting.js';
import { Problem } from './problem.js';

export function Suppressions() {
  const { client } = useStore();
  const all = useSignal<readonly Suppression[]>([]);
  const said = useSignal('');
  const problem = useSignal('');
  const status = useRef<HTMLParagraphElement>(null);
  const { problem: notRead, again } = useSetting('/api/suppressions', (suppressions) => {
    all.value = suppressions;
  });
  const lift = async ({ address }: Suppression) => {
    said.value = '';
    problem.value = '';
    try {
      await client.request('DELETE', '/api/suppressions/{address}', { params: { address } });
      all.value = all.value.filter((one) => one.address !== address);
      said.value = t('settings.suppressions.lifted', { address });
      // Its button is gone.
      status.current?.focus();
    } catch (error) {
      problem.value = t('settings.suppressions.notLifted', { address, reason: reasonOf(error) });
    }
  };
  return (
    <div class="setting">
      {all.value.length > 0 && (
        <>
          <h3 id="settings-suppressions">{t('settings.suppressions')}</h3>
          <p class="hint">{t('settings.suppressions.hint')}</p>
          <ul class="setting-items" aria-labelledby="settings-suppressions">
            {all.value.map((one) => (
              <Row key={one.address} suppression={one} onLift={() => void lift(one)} />
            ))}
          </ul>
        </>
      )}
      <p ref={status} class="saving-note" role="status" tabIndex={-1}>
        {said}
      </p>
      <Problem text={problem.value} />
      <Problem
        text={
          notRead.value === undefined ? '' : t('settings.suppressions.notRead', { reason: reasonOf(notRead.value) })
        }
        again={again}
      />
    </div>
  );
}

function Row({ suppression, onLift }: { readonly suppression: Suppression; readonly onLift: () => void }) {
  const { address, reason, until } = suppression;
  return (
    <li>
      <Icon name="triangle-alert" />
      <div>
        <bdi dir="ltr">{address}</bdi>
        <span>{t('settings.suppressions.until', { date: longDate(new Date(until)), reason })}</span>
      </div>
      <button
        type="button"
        class="button"
        aria-label={t('settings.suppressions.liftNamed', { address })}
        onClick={onLift}
      >
        {t('settings.suppressions.lift')}
      </button>
    </li>
  );
}
