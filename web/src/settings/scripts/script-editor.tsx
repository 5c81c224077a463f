// The form in which a Sieve script is written. What is wrong with it stands below, and leads to its place in the text.
import { type Signal, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { reasonOf } from '../../app/reason.js';
import { useStore } from '../../app/store.js';
import { t } from '../../i18n/t.js';
import { ChangedElsewhere } from '../following/changed-elsewhere.js';
import { faultsIn, indexOf, type ScriptFault } from './script-faults.js';

const LONGEST_NAME = 128;

export interface WrittenScript {
  readonly name: string;
  readonly content: string;
}

interface EditorProps {
  /** The name is '' for a new script. */
  readonly script: WrittenScript;
  /** Reads the content of a stored script. */
  readonly read: (name: string) => Promise<string>;
  readonly onSave: (written: WrittenScript) => Promise<void>;
  readonly onLeave: () => void;
}

export function ScriptEditor({ script, read, onSave, onLeave }: EditorProps) {
  const isNew = script.name === '';
  const name = useSignal(script.name);
  const content = useSignal(script.content);
  const faults = useSignal<readonly ScriptFault[]>([]);
  const problem = useSignal('');
  const isBusy = useSignal(false);
  const other = useChangedScript(script, read);
  const first = useRef<HTMLInputElement>(null);
  const text = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => (isNew ? first : text).current?.focus(), [isNew]);
  const save = async () => {
    isBusy.value = true;
    problem.value = '';
    faults.value = [];
    try {
      await onSave({ name: name.value.trim(), content: content.value });
    } catch (error) {
      const found = faultsIn(error);
      if (found === undefined) problem.value = t('settings.scripts.notSaved', { reason: reasonOf(error) });
      else faults.value = found;
    }
    isBusy.value = false;
  };
  const show = ({ line, column }: ScriptFault) => {
    const at = line === undefined || column === undefined ? 0 : indexOf(content.value, line, column);
    text.current?.focus();
    text.current?.setSelectionRange(at, at);
  };
  return (
    <form
      class="setting"
      aria-label={isNew ? t('settings.scripts.new') : t('settings.scripts.editNamed', { name: script.name })}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      {!isNew && (
        <h3>
          <bdi>{script.name}</bdi>
        </h3>
      )}
      <NameField name={name} input={first} />
      <div class="setting">
        <label for="script-content">{t('settings.scripts.content')}</label>
        <textarea
          id="script-content"
          ref={text}
          class="input script-content"
          rows={16}
          dir="ltr"
          spellcheck={false}
          autocapitalize="off"
          aria-invalid={faults.value.length > 0}
          aria-describedby="script-faults"
          value={content}
          onInput={({ currentTarget }) => {
            content.value = currentTarget.value;
          }}
        />
      </div>
      <ChangedElsewhere
        isShown={other.value !== undefined && other.value !== content.value}
        onShow={() => {
          content.value = other.peek()!;
        }}
      />
      <div id="script-faults" role="alert">
        {problem.value !== '' && <p class="problem">{problem}</p>}
        {faults.value.length > 0 && <Faults faults={faults.value} onShow={show} />}
      </div>
      <div class="script-buttons">
        <button type="submit" class="button is-main" disabled={isBusy}>
          {t('settings.scripts.save')}
        </button>
        <button type="button" class="button" onClick={onLeave}>
          {t('app.cancel')}
        </button>
      </div>
    </form>
  );
}

/** The content that another window or program has stored since the editor was opened; undefined: none. */
function useChangedScript({ name, content }: WrittenScript, read: EditorProps['read']): Signal<string | undefined> {
  const { client } = useStore();
  const other = useSignal<string | undefined>(undefined);
  useEffect(() => {
    const look = async () => {
      try {
        const stored = await read(name);
        if (stored !== content || other.peek() !== undefined) other.value = stored;
      } catch {
        // It was deleted, or is read again with the next event; saving tells what does not work.
      }
    };
    const subscription = client.events$.subscribe((event) => {
      if (name !== '' && event.type === 'ScriptsChanged' && event.payload.name === name) void look();
    });
    return () => subscription.unsubscribe();
  }, [client, name]);
  return other;
}

interface NameProps {
  readonly name: Signal<string>;
  readonly input: RefObject<HTMLInputElement | null>;
}

function NameField({ name, input }: NameProps) {
  return (
    <div class="setting">
      <label for="script-name">{t('settings.scripts.name')}</label>
      <input
        id="script-name"
        ref={input}
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
    </div>
  );
}

interface FaultsProps {
  readonly faults: readonly ScriptFault[];
  readonly onShow: (fault: ScriptFault) => void;
}

function Faults({ faults, onShow }: FaultsProps) {
  return (
    <>
      <p class="problem">{t('settings.scripts.faults')}</p>
      <ul class="script-faults">
        {faults.map((fault) => (
          <li key={`${fault.line} ${fault.column} ${fault.message}`}>
            <button type="button" class="button" onClick={() => onShow(fault)}>
              {fault.line === undefined || fault.column === undefined
                ? fault.message
                : t('settings.scripts.fault', { line: fault.line, column: fault.column, message: fault.message })}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
