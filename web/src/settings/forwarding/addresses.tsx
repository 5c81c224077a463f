// The addresses elsewhere to which mail may be forwarded: each is added, confirmed by the link of a mail that it gets, and removed here.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { AdditionalAddress } from '../../../../src/client/index.js';
import { reasonOf } from '../../app/reason.js';
import { useStore } from '../../app/store.js';
import { Icon } from '../../design/icon.js';
import { t } from '../../i18n/t.js';

interface AddressesProps {
  readonly addresses: readonly AdditionalAddress[];
  /** Called when the server has another list. */
  readonly onChange: () => void;
}

export function Addresses({ addresses, onChange }: AddressesProps) {
  const { client } = useStore();
  const said = useSignal('');
  const problem = useSignal('');
  const status = useRef<HTMLParagraphElement>(null);
  /** Resolves with whether it worked. */
  const run = async (task: () => Promise<unknown>, done: string): Promise<boolean> => {
    said.value = '';
    problem.value = '';
    try {
      await task();
      said.value = done;
      return true;
    } catch (error) {
      problem.value = reasonOf(error);
      return false;
    } finally {
      onChange();
    }
  };
  const add = (address: string) =>
    run(
      () => client.request('POST', '/api/profile/addresses', { body: { address } }),
      t('settings.forwarding.mailed', { address }),
    );
  const resend = ({ id, address }: AdditionalAddress) =>
    run(
      () => client.request('POST', '/api/addresses/{addressId}/verification', { params: { addressId: id } }),
      t('settings.forwarding.mailed', { address }),
    );
  const remove = async ({ id, address }: AdditionalAddress) => {
    const isRemoved = await run(
      () => client.request('DELETE', '/api/profile/addresses/{addressId}', { params: { addressId: id } }),
      t('settings.forwarding.removed', { address }),
    );
    // Its button is gone.
    if (isRemoved) status.current?.focus();
  };
  return (
    <div class="setting">
      <h3 id="settings-addresses">{t('settings.forwarding.addresses')}</h3>
      {addresses.length > 0 && (
        <ul class="setting-items" aria-labelledby="settings-addresses">
          {addresses.map((one) => (
            <Row key={one.id} address={one} onResend={() => void resend(one)} onRemove={() => void remove(one)} />
          ))}
        </ul>
      )}
      <NewAddress onAdd={add} />
      <p ref={status} class="saving-note" role="status" tabIndex={-1}>
        {said}
      </p>
      <div role="alert">{problem.value !== '' && <p class="problem">{problem}</p>}</div>
    </div>
  );
}

interface RowProps {
  readonly address: AdditionalAddress;
  readonly onResend: () => void;
  readonly onRemove: () => void;
}

function Row({ address: { address, isVerified }, onResend, onRemove }: RowProps) {
  return (
    <li>
      <Icon name={isVerified ? 'check' : 'clock'} />
      <div>
        <bdi dir="ltr">{address}</bdi>
        <span>{t(isVerified ? 'settings.forwarding.confirmed' : 'settings.forwarding.waiting')}</span>
      </div>
      {!isVerified && (
        <button
          type="button"
          class="button"
          aria-label={t('settings.forwarding.resendNamed', { address })}
          onClick={onResend}
        >
          {t('settings.forwarding.resend')}
        </button>
      )}
      <button
        type="button"
        class="button"
        aria-label={t('settings.forwarding.removeNamed', { address })}
        onClick={onRemove}
      >
        {t('settings.forwarding.remove')}
      </button>
    </li>
  );
}

function NewAddress({ onAdd }: { readonly onAdd: (address: string) => Promise<boolean> }) {
  const written = useSignal('');
  const isBusy = useSignal(false);
  const submit = async () => {
    const address = written.value.trim();
    if (address === '' || isBusy.value) return;
    isBusy.value = true;
    if (await onAdd(address)) written.value = '';
    isBusy.value = false;
  };
  return (
    <form
      class="setting"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <label for="new-address">{t('settings.forwarding.newAddress')}</label>
      <input
        id="new-address"
        class="input"
        type="email"
        autocomplete="email"
        dir="ltr"
        required
        maxLength={254}
        value={written.value}
        aria-describedby="new-address-hint"
        onInput={({ currentTarget }) => {
          written.value = currentTarget.value;
        }}
      />
      <p id="new-address-hint" class="hint">
        {t('settings.forwarding.newAddressHint')}
      </p>
      <div>
        <button type="submit" class="button">
          {t('settings.forwarding.add')}
        </button>
      </div>
    </form>
  );
}
