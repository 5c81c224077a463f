// The form that makes a key: its name, and what it is for. For Apple Mail it makes a profile, which the device installs.
import { useSignal } from '@preact/signals';
import type { ConnectionInfo } from '../../../../src/client/index.js';
import { reasonOf } from '../../app/reason.js';
import { t } from '../../i18n/t.js';
import { Select } from '../controls.js';
import { Problem } from '../problem.js';
import type { KeyStore } from './key-store.js';
import { phonePage } from './phone-setup.js';
import { type Purpose, purposesWith } from './purposes.js';
import { Scan } from './scan.js';

const LONGEST_NAME = 100;
const PROFILE = 'mail.mobileconfig';

export function NewKey({ keys, info }: { readonly keys: KeyStore; readonly info: ConnectionInfo }) {
  const purposes = purposesWith(info);
  const page = phonePage(location);
  const name = useSignal('');
  const purpose = useSignal<Purpose>(purposes[0]!);
  const isBusy = useSignal(false);
  const problem = useSignal('');
  const said = useSignal('');
  const make = async () => {
    isBusy.value = true;
    problem.value = '';
    said.value = '';
    try {
      const given = name.value.trim();
      if (purpose.value === 'apple') {
        download(await keys.makeProfile(given), PROFILE);
        said.value = t('settings.keys.profileSaved', { file: PROFILE });
      } else await keys.make(given, purpose.value);
      name.value = '';
    } catch (error) {
      problem.value = t('settings.keys.notMade', { reason: reasonOf(error) });
    }
    isBusy.value = false;
  };
  return (
    <form
      class="setting new-key"
      onSubmit={(event) => {
        event.preventDefault();
        void make();
      }}
    >
      <h3>{t('settings.keys.new')}</h3>
      <div class="setting">
        <label for="key-name">{t('settings.keys.name')}</label>
        <input
          id="key-name"
          class="input"
          type="text"
          dir="auto"
          autocomplete="off"
          required
          pattern=".*\S.*"
          maxLength={LONGEST_NAME}
          aria-describedby="key-name-hint"
          value={name}
          onInput={({ currentTarget }) => {
            name.value = currentTarget.value;
          }}
        />
        <p id="key-name-hint" class="hint">
          {t('settings.keys.nameHint')}
        </p>
      </div>
      <Select
        label={t('settings.keys.purpose')}
        options={purposes.map((one) => ({ value: one, text: t(`settings.keys.purpose.${one}`) }))}
        value={purpose.value}
        onChoose={(value) => {
          purpose.value = value;
        }}
      />
      <div>
        <button type="submit" class="button is-main" disabled={isBusy}>
          {purpose.value === 'apple' ? t('settings.keys.makeProfile') : t('settings.keys.make')}
        </button>
      </div>
      {purpose.value === 'apple' && page !== undefined && <Scan text={page} hint={t('settings.keys.scanPage')} />}
      <p role="status">{said}</p>
      <Problem text={problem.value} />
    </form>
  );
}

function download(content: Blob, fileName: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = fileName;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
