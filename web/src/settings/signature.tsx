// The signature: formatted text with which new emails and answers end. Its editor is that of writing, loaded when the section is opened.
import '../compose/views/compose.css';
import './signature.css';
import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useStore } from '../app/store.js';
import { signatureFrom, withIdentity } from '../compose/identities.js';
import type { Editor, Format } from '../compose/squire-editor.js';
import { FORMATS, FormatBar } from '../compose/views/editor-view.js';
import { formatSize } from '../i18n/format.js';
import { t } from '../i18n/t.js';
import { SavingNote, useSaving } from './saving.js';
import { LONGEST_SIGNATURE, signatureOf, signatureSize } from './signature-size.js';
import { useDelayedSave } from './use-delayed-save.js';

export function Signature() {
  const { preferences, profile } = useStore();
  const chosen = useSignal<string | null>(null);
  const further = (profile.value?.additionalAddresses ?? []).filter(({ canSend }) => canSend);
  if (preferences.value === undefined) return null;
  return (
    <>
      {further.length > 0 && (
        <div class="setting">
          <label for="signature-address">{t('settings.profile.address')}</label>
          <select
            id="signature-address"
            class="input"
            value={chosen.value ?? ''}
            onChange={({ currentTarget }) => {
              chosen.value = currentTarget.value || null;
            }}
          >
            <option value="">{profile.value?.email}</option>
            {further.map(({ address }) => (
              <option key={address} value={address}>
                {address}
              </option>
            ))}
          </select>
        </div>
      )}
      {/* The editor begins with what is stored; from then on it is what the reader writes. */}
      <SignatureEditor
        key={chosen.value ?? ''}
        address={chosen.value}
        stored={signatureFrom(preferences.value, chosen.value)}
      />
    </>
  );
}

interface SignatureEditorProps {
  /** Null for the account's own one. */
  readonly address: string | null;
  readonly stored: string;
}

function SignatureEditor({ address, stored }: SignatureEditorProps) {
  const store = useStore();
  const root = useRef<HTMLDivElement>(null);
  const saving = useSaving();
  const choice = (signature: string) =>
    address === null
      ? { signature }
      : { identities: withIdentity(store.preferences.peek()?.identities ?? [], address, { signature }) };
  const delayed = useDelayedSave((signature: string) => saving.save(() => store.prefer(choice(signature))));
  const size = useSignal(signatureSize(stored));
  const hasImage = useSignal(false);
  const isTooLong = size.value > LONGEST_SIGNATURE;
  const write = (html: string) => {
    hasImage.value = false;
    size.value = signatureSize(html);
    if (size.value > LONGEST_SIGNATURE) delayed.drop();
    else delayed.change(html);
  };
  const { editor, formats, hasFailed } = useEditor(root, stored, {
    changed: write,
    image: () => {
      hasImage.value = true;
    },
  });
  return (
    <>
      <p class="hint" id="signature-hint">
        {t('settings.signature.about')}
      </p>
      {hasFailed.value && <p class="problem">{t('compose.problem.editor')}</p>}
      <div class="signature-box">
        {/* biome-ignore lint/a11y/useSemanticElements: no field of HTML has formatted text. */}
        <div
          ref={root}
          class="compose-text"
          role="textbox"
          aria-multiline="true"
          aria-label={t('settings.section.signature')}
          aria-describedby="signature-hint signature-size"
          tabIndex={0}
          dir="auto"
          onBlur={() => void delayed.flush()}
        />
        {editor.value !== undefined && <FormatBar editor={editor.value} on={formats.value} />}
      </div>
      <p id="signature-size" class="hint">
        {t('settings.signature.size', { size: formatSize(size.value), limit: formatSize(LONGEST_SIGNATURE) })}
      </p>
      <div role="alert">
        {isTooLong && <p class="problem">{t('settings.signature.tooLong')}</p>}
        {hasImage.value && <p class="problem">{t('settings.signature.noImages')}</p>}
      </div>
      <SavingNote
        saving={saving}
        kept={(reason) => t('settings.textKept', { reason })}
        retry={() => {
          if (editor.value === undefined) return;
          write(signatureOf(editor.value.written()));
          void delayed.flush();
        }}
      />
    </>
  );
}

interface SignatureEvents {
  /** The HTML, or nothing when there is no text. */
  changed(html: string): void;
  image(): void;
}

function useEditor(root: RefObject<HTMLDivElement | null>, stored: string, events: SignatureEvents) {
  const editor = useSignal<Editor | undefined>(undefined);
  const formats = useSignal<ReadonlySet<Format>>(new Set());
  const hasFailed = useSignal(false);
  const newest = useRef(events);
  newest.current = events;
  useEffect(() => {
    let made: Editor | undefined;
    let isGone = false;
    let before = '';
    const load = async () => {
      const loaded = await import('../compose/squire-editor.js');
      if (isGone || root.current === null) return;
      made = new loaded.Editor(root.current, stored, {
        changed() {
          const html = made === undefined ? before : signatureOf(made.written());
          if (html === before) return;
          before = html;
          newest.current.changed(html);
        },
        moved() {
          if (made !== undefined)
            formats.value = new Set(FORMATS.map(([format]) => format).filter((one) => made!.is(one)));
        },
        images: () => newest.current.image(),
      });
      before = signatureOf(made.written());
      editor.value = made;
    };
    load().catch(() => {
      hasFailed.value = true;
    });
    return () => {
      isGone = true;
      made?.destroy();
    };
  }, []);
  return { editor, formats, hasFailed };
}
