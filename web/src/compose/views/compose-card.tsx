// One compose window: who gets it, the subject, the text, files, and what can be done with it.
import './fields.css';
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../../design/icon.js';
import { formatSize } from '../../i18n/format.js';
import { t } from '../../i18n/t.js';
import { fileProblem, newContentId, roomFor } from '../attachments.js';
import { sendable } from '../compose-window.js';
import { safeHtml } from '../editor-html.js';
import { MOST_RECIPIENTS, RECIPIENT_TYPES, type RecipientType } from '../recipients.js';
import type { ComposeWindows, OpenWindow } from '../windows.js';
import { ConflictPanel } from './conflict-panel.js';
import { EditorView } from './editor-view.js';
import { FileStrip } from './file-strip.js';
import { RecipientField } from './recipient-field.js';
import { SendBar } from './send-bar.js';

export interface CardProps {
  readonly windows: ComposeWindows;
  readonly one: OpenWindow;
}

/** What keeps an email from being sent, and where that is put right. */
interface Obstacle {
  readonly field: RecipientType | 'subject' | 'files';
  readonly text: string;
}

const LABELS = { To: 'compose.to', Cc: 'compose.cc', Bcc: 'compose.bcc' } as const;

export function ComposeCard({ windows, one }: CardProps) {
  const { window, saver } = one;
  const card = useRef<HTMLElement>(null);
  const obstacle = useSignal<Obstacle | undefined>(undefined);
  const { id } = window;
  const changed = () => {
    obstacle.value = undefined;
    saver.changed();
  };
  useFocus(card, windows, one);
  const send = (sendAt: string | null) => {
    obstacle.value = obstacleOf(one);
    if (obstacle.value === undefined) return saver.send(sendAt);
    card.current?.querySelector<HTMLElement>(`#${fieldId(id, obstacle.value.field)}`)?.focus();
  };
  const add = (files: readonly File[], isInline: boolean) => {
    const problem = addFiles(windows, one, files, isInline);
    if (problem !== undefined) obstacle.value = { field: 'files', text: problem };
    saver.changed();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send(null);
    else if (event.key === 'Escape') windows.minimise(one, true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const { isOver, ...dropping } = useDrop((files) => add(files, false));
  return (
    <section
      ref={card}
      class={isOver ? 'compose-card is-over' : 'compose-card'}
      role="dialog"
      aria-labelledby={`${id}-title`}
      onKeyDown={onKeyDown}
      {...dropping}
    >
      <Head windows={windows} one={one} />
      <ConflictPanel saver={saver} window={window} />
      <div class="compose-fields">
        <FromField windows={windows} one={one} onChange={changed} />
        <div class="compose-recipients">
          {RECIPIENT_TYPES.map((type) => (
            <RecipientField
              key={type}
              id={fieldId(id, type)}
              label={t(LABELS[type])}
              type={type}
              window={window}
              client={windows.context.client}
              problemId={obstacle.value?.field === type ? `${id}-obstacle` : undefined}
              onChange={changed}
            />
          ))}
        </div>
        <div class="compose-row">
          <label for={fieldId(id, 'subject')}>{t('compose.subject')}</label>
          <input
            id={fieldId(id, 'subject')}
            dir="auto"
            value={window.subject}
            maxLength={998}
            autocomplete="off"
            aria-invalid={obstacle.value?.field === 'subject'}
            aria-describedby={obstacle.value?.field === 'subject' ? `${id}-obstacle` : undefined}
            onInput={({ currentTarget }) => {
              window.subject.value = currentTarget.value;
              changed();
            }}
          />
        </div>
      </div>
      <EditorView windows={windows} one={one} onChange={changed} onImages={(files) => add(files, true)}>
        <FileStrip saver={saver} window={window} onChange={changed} />
      </EditorView>
      <Notices one={one} obstacle={obstacle.value} />
      <SendBar windows={windows} one={one} onSend={send} onFiles={(files) => add(files, false)} />
    </section>
  );
}

function Head({ windows, one }: CardProps) {
  const { window } = one;
  return (
    <header class="compose-head">
      <h2 id={`${window.id}-title`} dir="auto">
        {window.subject.value || t('compose.new')}
      </h2>
      <SaveState one={one} />
      <button
        type="button"
        class="icon-button"
        aria-label={t('compose.putAway')}
        title={t('compose.putAway')}
        onClick={() => windows.minimise(one, true)}
      >
        <Icon name="minus" />
      </button>
      <button
        type="button"
        class="icon-button"
        aria-label={t('compose.close')}
        title={t('compose.close')}
        onClick={() => windows.close(one)}
      >
        <Icon name="x" />
      </button>
    </header>
  );
}

function SaveState({ one: { saver } }: { readonly one: OpenWindow }) {
  const { phase, wish } = saver.state.value;
  const text =
    phase === 'sending' || wish !== null
      ? t('compose.state.sending')
      : phase === 'saved'
        ? t('compose.state.saved')
        : phase === 'saving' || phase === 'dirty'
          ? t('compose.state.saving')
          : '';
  return (
    <span class="compose-state hint" role="status">
      {text}
    </span>
  );
}

/** What is wrong, what is kept, and what to do. */
function Notices({
  one: { window, saver },
  obstacle,
}: {
  readonly one: OpenWindow;
  readonly obstacle: Obstacle | undefined;
}) {
  const { phase, problem, wish } = saver.state.value;
  const lost = window.lostFiles.value;
  return (
    <div class="compose-notices" role="alert">
      {obstacle !== undefined && (
        <p class="problem" id={`${window.id}-obstacle`}>
          {obstacle.text}
        </p>
      )}
      {phase === 'offline' && wish === null && <p class="problem">{t('compose.problem.offline')}</p>}
      {phase === 'offline' && wish !== null && (
        <p class="problem">
          {t('compose.problem.waits')}{' '}
          <button type="button" class="compose-link" onClick={() => saver.doNotSend()}>
            {t('compose.doNotSend')}
          </button>
        </p>
      )}
      {phase === 'failed' && <p class="problem">{t('compose.problem.refused', { reason: problem ?? '' })}</p>}
      {lost.length > 0 && (
        <p class="problem">
          {t('compose.problem.lostFiles', { count: lost.length, names: lost.join(', ') })}{' '}
          <button
            type="button"
            class="compose-link"
            onClick={() => {
              window.lostFiles.value = [];
            }}
          >
            {t('compose.understood')}
          </button>
        </p>
      )}
    </div>
  );
}

function FromField({ windows, one: { window }, onChange }: CardProps & { readonly onChange: () => void }) {
  const own = windows.context.own();
  if (own.length < 2) return null;
  const id = `${window.id}-from`;
  return (
    <div class="compose-row">
      <label for={id}>{t('compose.from')}</label>
      <select
        id={id}
        value={window.from.value ?? own[0]}
        onChange={({ currentTarget }) => {
          const { context } = windows;
          const [before, after] = [window.from.peek(), currentTarget.value].map((from) => context.signature(from));
          window.from.value = currentTarget.value;
          if (before !== after) window.sign(safeHtml(after!, { keepsRemote: true }));
          onChange();
        }}
      >
        {own.map((address) => (
          <option key={address} value={address}>
            {address}
          </option>
        ))}
      </select>
    </div>
  );
}

/** What takes files that are dropped; `isOver` while some are held above it. */
function useDrop(take: (files: readonly File[]) => void) {
  const isOver = useSignal(false);
  return {
    isOver: isOver.value,
    onDragOver: (event: DragEvent) => {
      event.preventDefault();
      isOver.value = event.dataTransfer?.types.includes('Files') === true;
    },
    onDragLeave: ({ currentTarget, relatedTarget }: DragEvent) => {
      if (!(currentTarget as Node).contains(relatedTarget as Node | null)) isOver.value = false;
    },
    onDrop: (event: DragEvent) => {
      isOver.value = false;
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length === 0) return;
      event.preventDefault();
      take(files);
    },
  };
}

/** The focus goes to what is missing: a recipient, else the text. */
function useFocus(
  card: { readonly current: HTMLElement | null },
  windows: ComposeWindows,
  { window }: OpenWindow,
): void {
  const isFocused = windows.focused.value === window.id;
  // Before anything is painted: what is typed then goes where it is meant for.
  useLayoutEffect(() => {
    if (!isFocused) return;
    windows.focused.value = undefined;
    if (window.recipients.value.To.length === 0)
      card.current?.querySelector<HTMLElement>(`#${fieldId(window.id, 'To')}`)?.focus();
    else if (window.editor !== undefined) window.editor.focus();
    else window.focusesEditor = true;
  }, [isFocused]);
}

function obstacleOf({ window }: OpenWindow): Obstacle | undefined {
  for (const type of RECIPIENT_TYPES) window.commit(type);
  window.dropUnshownImages();
  const recipients = window.recipients.value;
  for (const type of RECIPIENT_TYPES) {
    const wrong = recipients[type].find(({ isValid }) => !isValid);
    if (wrong !== undefined)
      return { field: type, text: t('compose.problem.noAddress', { text: wrong.address.slice(0, 100) }) };
  }
  const count = sendable(recipients).length;
  if (count === 0) return { field: 'To', text: t('compose.problem.noRecipient') };
  if (count > MOST_RECIPIENTS)
    return { field: 'To', text: t('compose.problem.manyRecipients', { most: MOST_RECIPIENTS, count }) };
  return window.subject.value.trim() === '' ? { field: 'subject', text: t('compose.problem.noSubject') } : undefined;
}

/** Adds what fits; says what does not. */
function addFiles(
  windows: ComposeWindows,
  { window }: OpenWindow,
  files: readonly File[],
  isInline: boolean,
): string | undefined {
  let problem: string | undefined;
  for (const file of files) {
    const limit = windows.maxMessageSize.value;
    const found = fileProblem(file, window.files.value, limit);
    if (found === undefined) {
      const contentId = isInline ? newContentId(crypto.randomUUID()) : null;
      window.addFiles([{ file, contentId }]);
      if (contentId !== null) window.editor?.insertImage(file, contentId);
    } else if (found === 'tooMany') problem = t('compose.problem.manyFiles');
    else {
      const room = formatSize(roomFor(window.files.value, limit));
      problem = t('compose.problem.largeFile', { name: file.name, size: formatSize(file.size), room });
    }
  }
  return problem;
}

const fieldId = (windowId: string, field: Obstacle['field']): string => `${windowId}-${field.toLowerCase()}`;
