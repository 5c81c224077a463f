// The sheet of keys (`?`): what is bound where the reader is now.
import './keys-sheet.css';
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../design/icon.js';
import { t } from '../i18n/t.js';
import { bindKeys, bound, KEY_GROUPS, type KeyGroup, shownKeys } from './keyboard.js';

const isOpen = signal(false);

function showKeys(): void {
  isOpen.value = true;
}

export function KeysSheet() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => bindKeys('page', [{ keys: '?', text: 'keys.sheet', run: showKeys }]), []);
  useEffect(() => {
    if (isOpen.value) dialog.current?.showModal();
  }, [isOpen.value]);
  if (!isOpen.value) return null;
  const close = () => {
    isOpen.value = false;
  };
  return (
    <dialog ref={dialog} class="keys-sheet" aria-labelledby="keys-title" onClose={close}>
      <header>
        <h2 id="keys-title">{t('keys.title')}</h2>
        <button type="button" class="icon-button" aria-label={t('app.close')} onClick={() => dialog.current?.close()}>
          <Icon name="x" />
        </button>
      </header>
      <p class="hint">{t('keys.hint')}</p>
      <div class="keys-groups">
        {KEY_GROUPS.map((group) => (
          <Group key={group} group={group} />
        ))}
      </div>
    </dialog>
  );
}

function Group({ group }: { readonly group: KeyGroup }) {
  const lines = listed(group);
  if (lines.length === 0) return null;
  return (
    <section aria-labelledby={`keys-${group}`}>
      <h3 id={`keys-${group}`}>{t(`keys.group.${group}`)}</h3>
      <dl>
        {lines.map(([text, keys]) => (
          <div key={text}>
            <dt>
              {keys.map((one) => (
                <kbd key={one}>{shownKeys(one)}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** What the keys of a group do, each once, with all keys that do it. */
function listed(group: KeyGroup): [text: string, keys: string[]][] {
  const texts = new Map<string, string[]>();
  for (const { keys, text, group: of } of bound.value) {
    if (text === undefined || of !== group) continue;
    const shown = t(text);
    const known = texts.get(shown) ?? [];
    if (!known.includes(keys)) texts.set(shown, [...known, keys]);
  }
  return [...texts];
}
