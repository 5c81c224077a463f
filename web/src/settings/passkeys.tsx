// The passkeys of the account: each with its last use; one is added with a name, and removed after a question.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Passkey } from '../../../src/client/index.js';
import { reasonOf } from '../app/reason.js';
import { useStore } from '../app/store.js';
import { Icon } from '../design/icon.js';
import { t } from '../i18n/t.js';
import { addPasskey, canHavePasskeys } from '../sign-in/passkey.js';
import { passkeyFault } from '../sign-in/passkey-faults.js';
import { deviceName } from './device-name.js';
import { Problem } from './problem.js';
import { Question } from './question.js';
import { lastUse, When } from './when.js';

const LONGEST_NAME = 100;

export function Passkeys() {
  const { client } = useStore();
  const passkeys = useSignal<readonly Passkey[]>([]);
  const said = useSignal('');
  const problem = useSignal('');
  const heading = useRef<HTMLHeadingElement>(null);
  const attempt = async (task: () => Promise<string>, say: (error: unknown) => string) => {
    said.value = '';
    problem.value = '';
    try {
      const done = await task();
      passkeys.value = await client.passkeys.list();
      said.value = done;
    } catch (error) {
      problem.value = say(error);
    }
  };
  useEffect(() => {
    const say = (error: unknown) => t('passkeys.notRead', { reason: reasonOf(error) });
    void attempt(async () => '', say);
  }, []);
  const add = (name: string) =>
    attempt(
      async () => {
        await addPasskey(client, name);
        return t('passkeys.addedNamed', { name });
      },
      (error) => {
        const text = passkeyFault(error, 'add');
        return text === undefined ? t('passkeys.notAdded', { reason: reasonOf(error) }) : t(text);
      },
    );
  const remove = async ({ id, name }: Passkey) => {
    await attempt(
      async () => {
        await client.passkeys.remove(id);
        return t('passkeys.removed', { name });
      },
      (error) => t('passkeys.notRemoved', { name, reason: reasonOf(error) }),
    );
    // The button that was used is gone.
    heading.current?.focus();
  };
  return (
    <div class="setting">
      <h3 ref={heading} tabIndex={-1}>
        {t('passkeys.title')}
      </h3>
      <p class="hint">{t('passkeys.about')}</p>
      {passkeys.value.length > 0 && (
        <ul class="setting-items" aria-label={t('passkeys.title')}>
          {passkeys.value.map((passkey) => (
            <PasskeyRow key={passkey.id} passkey={passkey} onRemove={() => void remove(passkey)} />
          ))}
        </ul>
      )}
      <p class="saving-note" role="status">
        {said}
      </p>
      <Problem text={problem.value} />
      {canHavePasskeys() ? <NewPasskey onAdd={add} /> : <p class="hint">{t('passkeys.elsewhere')}</p>}
    </div>
  );
}

function PasskeyRow({ passkey, onRemove }: { readonly passkey: Passkey; readonly onRemove: () => void }) {
  const { now } = useStore();
  const isAsked = useSignal(false);
  const { name, createdAt, lastUsedAt } = passkey;
  const label = t('passkeys.removeNamed', { name });
  return (
    <li>
      <Icon name="key" />
      <div>
        <strong dir="auto">{name}</strong>
        {lastUsedAt === null ? (
          <When at={createdAt} now={now.value} text={(date) => t('passkeys.made', { date })} />
        ) : (
          <When at={lastUsedAt} now={now.value} text={lastUse} />
        )}
      </div>
      {isAsked.value ? (
        <Question
          label={label}
          text={t('passkeys.removeQuestion')}
          action={t('passkeys.remove')}
          onSure={onRemove}
          onCancel={() => {
            isAsked.value = false;
          }}
        />
      ) : (
        <button
          type="button"
          class="button"
          aria-label={label}
          onClick={() => {
            isAsked.value = true;
          }}
        >
          {t('passkeys.remove')}
        </button>
      )}
    </li>
  );
}

function NewPasskey({ onAdd }: { readonly onAdd: (name: string) => Promise<void> }) {
  const name = useSignal(deviceName(navigator.userAgent));
  const isBusy = useSignal(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    isBusy.value = true;
    await onAdd(name.value.trim());
    isBusy.value = false;
  };
  return (
    <form class="new-passkey" onSubmit={(event) => void submit(event)}>
      <label for="passkey-name">{t('passkeys.name')}</label>
      <input
        id="passkey-name"
        class="input"
        type="text"
        dir="auto"
        autocomplete="off"
        required
        pattern=".*\S.*"
        maxLength={LONGEST_NAME}
        value={name}
        onInput={({ currentTarget }) => {
          name.value = currentTarget.value;
        }}
      />
      <button type="submit" class="button" disabled={isBusy}>
        <Icon name="plus" />
        {t('passkeys.add')}
      </button>
    </form>
  );
}
