// The name under which the account sends, its addresses, and what its mailbox uses.
import { useSignal } from '@preact/signals';
import { useStore } from '../app/store.js';
import { t } from '../i18n/t.js';
import { IdentityName } from './identities/identity-name.js';
import { SavingNote, useSaving } from './saving.js';
import { StorageUse } from './storage.js';
import { Suppressions } from './suppressions.js';
import { useDelayedSave } from './use-delayed-save.js';

const LONGEST_NAME = 200;

export function Profile() {
  const store = useStore();
  const saving = useSaving();
  const written = useSignal<string | undefined>(undefined);
  const delayed = useDelayedSave((name: string) => saving.save(() => store.rename(name)));
  const profile = store.profile.value;
  if (profile === undefined) return null;
  const name = written.value ?? profile.displayName;
  const isEmpty = name.trim() === '';
  const write = (value: string) => {
    written.value = value;
    if (value.trim() === '') delayed.drop();
    else delayed.change(value.trim());
  };
  const addresses = [profile.email, ...profile.additionalAddresses.map(({ address }) => address)];
  return (
    <>
      <div class="setting">
        <label for="display-name">{t('settings.profile.name')}</label>
        <input
          id="display-name"
          class="input"
          type="text"
          autocomplete="name"
          dir="auto"
          maxLength={LONGEST_NAME}
          value={name}
          aria-invalid={isEmpty}
          aria-describedby="display-name-hint"
          onInput={({ currentTarget }) => write(currentTarget.value)}
          onChange={() => void delayed.flush()}
        />
        <p id="display-name-hint" class={isEmpty ? 'problem' : 'hint'}>
          {isEmpty ? t('settings.profile.empty', { name: profile.displayName }) : t('settings.profile.nameHint')}
        </p>
      </div>
      <SavingNote
        saving={saving}
        kept={(reason) => t('settings.textKept', { reason })}
        retry={() => {
          write(name);
          void delayed.flush();
        }}
      />
      {profile.additionalAddresses
        .filter(({ canSend }) => canSend)
        .map(({ address }) => (
          <IdentityName key={address} address={address} />
        ))}
      <div class="setting">
        <h3>{addresses.length === 1 ? t('settings.profile.address') : t('settings.profile.addresses')}</h3>
        <ul>
          {addresses.map((address) => (
            <li key={address} dir="ltr" class="profile-address">
              {address}
            </li>
          ))}
        </ul>
      </div>
      <StorageUse />
      <Suppressions />
    </>
  );
}
