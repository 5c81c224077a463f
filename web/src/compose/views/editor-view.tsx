// The text of an email: the editor, which is loaded when it is first needed, and the buttons of its formats.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon, type IconName } from '../../design/icon.js';
import { type PlainKey, t } from '../../i18n/t.js';
import type { LoadedEditor } from '../compose-window.js';
import { ImageUrls } from '../file-content.js';
import type { Editor, Format } from '../squire-editor.js';
import type { CardProps } from './compose-card.js';

interface EditorProps extends CardProps {
  readonly onChange: () => void;
  readonly onImages: (files: readonly File[]) => void;
  /** What stands below the text. */
  readonly children: ComponentChildren;
}

export function EditorView({ windows, one: { window }, onChange, onImages, children }: EditorProps) {
  const root = useRef<HTMLDivElement>(null);
  const editor = useSignal<Editor | undefined>(undefined);
  const formats = useSignal<ReadonlySet<Format>>(new Set());
  const failed = useSignal(false);
  const handlers = useRef({ onChange, onImages });
  handlers.current = { onChange, onImages };
  useEffect(() => {
    let made: Editor | undefined;
    let isGone = false;
    const place = root.current;
    const images = new ImageUrls(windows.context.client);
    const urlOf = (contentId: string) => images.urlOf(contentId, window.files.value, window.blobs);
    const early = () =>
      // biome-ignore lint/performance/useDomNodeTextContent: lines count.
      (place?.innerText ?? '').replaceAll('\u00A0', ' ').replace(/\n$/, '');
    window.attachEarly(early);
    if (window.focusesEditor) place?.focus();
    const load = async () => {
      const loaded = await import('../squire-editor.js');
      if (isGone || root.current === null) return;
      const written = early();
      made = new loaded.Editor(root.current, window.initialHtml, {
        changed: () => window.hasNewText() && handlers.current.onChange(),
        moved: () => {
          if (made !== undefined)
            formats.value = new Set(FORMATS.map(([format]) => format).filter((one) => made!.is(one)));
        },
        images: (files) => handlers.current.onImages(files),
      });
      window.attach(withImages(made, images, urlOf));
      made.fillImages(urlOf);
      made.goOn(written);
      editor.value = made;
      if (window.focusesEditor && !isElsewhere(place)) made.focus();
      window.focusesEditor = false;
    };
    load().catch(() => {
      failed.value = true;
    });
    return () => {
      isGone = true;
      window.detach();
      made?.destroy();
      place?.replaceChildren();
      images.release();
    };
  }, [window]);
  return (
    <>
      <div class="compose-scroll">
        {failed.value && <p class="problem">{t('compose.problem.editor')}</p>}
        {/* biome-ignore lint/a11y/useSemanticElements: no field of HTML has formatted text. */}
        <div
          ref={root}
          class="compose-text"
          role="textbox"
          aria-multiline="true"
          aria-label={t('compose.text')}
          tabIndex={0}
          // What is written before the editor is there goes into it.
          contentEditable={editor.value === undefined ? 'plaintext-only' : true}
          onInput={editor.value === undefined ? onChange : undefined}
          dir="auto"
        />
        {children}
      </div>
      {editor.value !== undefined && <FormatBar editor={editor.value} on={formats.value} />}
    </>
  );
}

/** An editor that shows the images of its text. Their URLs end with the view. */
function withImages(
  editor: Editor,
  images: ImageUrls,
  urlOf: (contentId: string) => Promise<string | undefined>,
): LoadedEditor {
  return {
    written: () => editor.written(),
    replace(html) {
      editor.replace(html);
      editor.fillImages(urlOf);
    },
    focus: () => editor.focus(),
    insertImage: (file, contentId) => editor.insertImage(images.urlOfFile(contentId, file), contentId, file.name),
    shownImages: () => editor.shownImages(),
  };
}

export const FORMATS: readonly [format: Exclude<Format, 'link'>, icon: IconName, text: PlainKey][] = [
  ['bold', 'bold', 'compose.bold'],
  ['italic', 'italic', 'compose.italic'],
  ['underline', 'underline', 'compose.underline'],
  ['bullets', 'list', 'compose.bullets'],
  ['numbers', 'list-ordered', 'compose.numbers'],
  ['quote', 'text-quote', 'compose.quote'],
];

export function FormatBar({ editor, on }: { readonly editor: Editor; readonly on: ReadonlySet<Format> }) {
  const address = useSignal<string | undefined>(undefined);
  const apply = () => {
    const given = address.value ?? '';
    address.value = undefined;
    editor.link(given.trim());
  };
  return (
    <div class="compose-formats" role="toolbar" aria-label={t('compose.formats')}>
      {FORMATS.map(([format, icon, text]) => (
        <FormatButton
          key={format}
          icon={icon}
          text={text}
          isOn={on.has(format)}
          onClick={() => editor.toggle(format)}
        />
      ))}
      <FormatButton
        icon="link"
        text="compose.link"
        isOn={on.has('link') || address.value !== undefined}
        onClick={() => {
          address.value = address.value === undefined ? editor.linkAddress() : undefined;
        }}
      />
      <FormatButton icon="eraser" text="compose.removeFormatting" onClick={() => editor.removeFormatting()} />
      {address.value !== undefined && (
        <span class="compose-link-address">
          <input
            ref={(element) => element?.focus()}
            class="input"
            type="text"
            inputMode="url"
            dir="ltr"
            aria-label={t('compose.link.address')}
            placeholder="https://"
            value={address.value}
            onInput={({ currentTarget }) => {
              address.value = currentTarget.value;
            }}
            onKeyDown={(event) => {
              if (event.key === 'Enter') apply();
              else if (event.key === 'Escape') address.value = undefined;
              else return;
              event.preventDefault();
              event.stopPropagation();
            }}
          />
          <button type="button" class="button" onClick={apply}>
            {t('compose.link.apply')}
          </button>
        </span>
      )}
    </div>
  );
}

/** Whether the reader has gone to another field of the card. */
function isElsewhere(place: HTMLElement | null): boolean {
  const { activeElement } = document;
  return activeElement !== place && place?.closest('.compose-card')?.contains(activeElement) === true;
}

interface FormatButtonProps {
  readonly icon: IconName;
  readonly text: PlainKey;
  /** Left out for what is done once. */
  readonly isOn?: boolean;
  readonly onClick: () => void;
}

function FormatButton({ icon, text, isOn, onClick }: FormatButtonProps) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={t(text)}
      title={t(text)}
      aria-pressed={isOn}
      // The text keeps its selection.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
