// To, Cc or Bcc: entries that can be changed and removed, and an input that completes addresses of people one has written to. Cc and Bcc
// are their names alone, besides To, until they have been entered.
import { useSignal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import type { MansioClient } from '../../../../src/client/index.js';
import { Icon } from '../../design/icon.js';
import { t } from '../../i18n/t.js';
import { type Person, personText } from '../address.js';
import type { ComposeWindow } from '../compose-window.js';
import { RecipientInput } from '../recipient-input.js';
import type { Recipient, RecipientType } from '../recipients.js';

interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly type: RecipientType;
  readonly window: ComposeWindow;
  readonly client: MansioClient;
  /** The id of the text that says what is wrong here. */
  readonly problemId: string | undefined;
  readonly onChange: () => void;
}

export function RecipientField({ id, label, type, window, client, problemId, onChange }: FieldProps) {
  const changed = useRef(onChange);
  changed.current = onChange;
  const input = useMemo(
    () => new RecipientInput({ window, type, find: (q) => contacts(client, q), changed: () => changed.current() }),
    [window, type],
  );
  const isOpen = input.found.value.length > 0;
  const wasEntered = useSignal(false);
  const isEmpty = input.entries.length === 0 && window.typed.value[type] === '';
  const isFolded = type !== 'To' && isEmpty && !wasEntered.value;
  return (
    <div
      class={isFolded ? 'compose-row recipients is-folded' : 'compose-row recipients'}
      onFocusIn={() => {
        wasEntered.value = true;
      }}
    >
      <label for={id}>{label}</label>
      <div class="recipient-entries">
        {input.entries.map((entry) => (
          <Entry key={entry.address} entry={entry} onChange={input.change} onRemove={input.remove} />
        ))}
        <input
          ref={(element) => {
            input.element = element;
          }}
          id={id}
          dir="auto"
          type="text"
          inputMode="email"
          autocomplete="off"
          spellcheck={false}
          role="combobox"
          aria-autocomplete="list"
          aria-expanded={isOpen}
          aria-controls={`${id}-list`}
          aria-activedescendant={isOpen ? `${id}-${input.active.value}` : undefined}
          aria-invalid={problemId !== undefined}
          aria-describedby={problemId}
          value={window.typed.value[type]}
          onInput={({ currentTarget }) => input.typed(currentTarget.value)}
          onKeyDown={input.onKeyDown}
          onPaste={input.onPaste}
          onBlur={input.commit}
        />
        <Completion id={id} input={input} />
      </div>
    </div>
  );
}

function Completion({ id, input }: { readonly id: string; readonly input: RecipientInput }) {
  const people = input.found.value;
  return (
    <div
      id={`${id}-list`}
      class="recipient-list card"
      role="listbox"
      aria-label={t('compose.people')}
      hidden={people.length === 0}
    >
      {people.map((person, i) => (
        <div
          key={person.address}
          id={`${id}-${i}`}
          role="option"
          tabIndex={-1}
          aria-selected={i === input.active.value}
          // The input keeps the focus.
          onPointerDown={(event) => event.preventDefault()}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => input.choose(person)}
          onKeyDown={input.onKeyDown}
        >
          <span dir="auto">{person.name || person.address}</span>
          {person.name !== '' && <span class="hint">{person.address}</span>}
        </div>
      ))}
    </div>
  );
}

interface EntryProps {
  readonly entry: Recipient;
  readonly onChange: (entry: Recipient) => void;
  readonly onRemove: (entry: Recipient) => void;
}

function Entry({ entry, onChange, onRemove }: EntryProps) {
  const { name, address, isValid } = entry;
  const shown = name || address;
  const label = isValid
    ? t('compose.change', { name: personText(entry) })
    : t('compose.changeInvalid', { name: address });
  return (
    <span class={isValid ? 'recipient' : 'recipient is-invalid'} title={isValid ? address : t('compose.notAnAddress')}>
      <button
        type="button"
        class="recipient-name"
        aria-label={label}
        onClick={() => onChange(entry)}
        onKeyDown={(event) => {
          if (event.key !== 'Delete' && event.key !== 'Backspace') return;
          event.preventDefault();
          onRemove(entry);
        }}
      >
        {!isValid && <Icon name="circle-alert" />}
        <bdi>{shown}</bdi>
      </button>
      <button
        type="button"
        class="recipient-remove"
        tabIndex={-1}
        aria-label={t('compose.remove', { name: shown })}
        onClick={() => onRemove(entry)}
      >
        <Icon name="x" />
      </button>
    </span>
  );
}

async function contacts(client: MansioClient, q: string): Promise<readonly Person[]> {
  const people = await client.request('GET', '/api/contacts', { query: { q } });
  return people.map(({ address, displayName }) => ({ address, name: displayName }));
}
