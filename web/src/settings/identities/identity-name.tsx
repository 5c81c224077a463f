// The name beside a further address of the account, where it is another one than the account's.
import { useSignal } from '@preact/signals';
import { useStore } from '../../app/store.js';
import { identityOf, withIdentity } from '../../compose/identities.js';
import { t } from '../../i18n/t.js';
import { SavingNote, useSaving } from '../saving.js';
import { useDelayedSave } from '../use-delayed-save.js';

const LONGEST_NAME = 200;

export function IdentityName({ address }: { readonly address: string }) {
  const store = useStore();
  const saving = useSaving();
  const written = useSignal<string | undefined>(undefined);
  const delayed = useDelayedSave((displayName: string) => {
    const identities = withIdentity(store.preferences.peek()?.identities ?? [], address, { displayName });
    return saving.save(() => store.prefer({ identities }));
  });
  const preferences = store.preferences.value;
  if (preferences === undefined) return null;
  const name = written.value ?? identityOf(preferences, address)?.displayName ?? '';
  const id = `name-of-${address}`;
  const write = (value: string) => {
    written.value = value;
    delayed.change(value.trim());
  };
  return (
    <div class="setting">
      <label for={id}>{t('settings.profile.nameFor', { address })}</label>
      <input
        id={id}
        class="input"
        type="text"
        dir="auto"
        maxLength={LONGEST_NAME}
        value={name}
        placeholder={store.profile.value?.displayName}
        onInput={({ currentTarget }) => write(currentTarget.value)}
        onChange={() => void delayed.flush()}
      />
      <SavingNote
        saving={saving}
        kept={(reason) => t('settings.textKept', { reason })}
        retry={() => {
          write(name);
          void delayed.flush();
        }}
      />
    </div>
  );
}
