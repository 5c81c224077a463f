// One email: its title, who sent it to whom and when, what was proven of the sender, the earlier messages of its thread, its text, its
// attachments. It follows the mailbox while it is open: marks, labels, and deletion.
import './message.css';
import { signal, untracked } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { catchError, combineLatest, distinctUntilChanged, map, of, startWith, switchMap } from 'rxjs';
import { type EmailDetail, type EmailListItem, NotFound } from '../../../src/client/index.js';
import { readRow } from '../app/mail-actions.js';
import { reasonOf } from '../app/reason.js';
import { useStore } from '../app/store.js';
import { t } from '../i18n/t.js';
import { LabelChip } from '../list/label-chip.js';
import { Attachments } from './attachments/attachments.js';
import { Viewer } from './attachments/viewer.js';
import { HtmlBody } from './html-body.js';
import { Invitations } from './invitation/invitations.js';
import { MessageHead } from './message-head.js';
import { MessageModel } from './message-model.js';
import { MessageTools } from './message-tools.js';
import { Original } from './original.js';
import { TextBody } from './text-body.js';
import { OtherMessages } from './thread.js';

interface Shown {
  readonly email?: EmailDetail;
  readonly thread: readonly EmailDetail[];
  readonly fault?: unknown;
}

export function MessageView({ id }: { readonly id: string }) {
  const { isCutOff, list } = useStore();
  const shown = useEmail(id);
  if (shown.fault instanceof NotFound) {
    return (
      <p class="message-note" role="status">
        {t('message.gone')}
      </p>
    );
  }
  if (shown.fault !== undefined && shown.email === undefined) {
    return <p class="message-note">{t('message.fault', { reason: reasonOf(shown.fault) })}</p>;
  }
  if (shown.email === undefined && isCutOff.value) {
    return (
      <p class="message-note" role="status">
        {t('message.notKept')}
      </p>
    );
  }
  const known = shown.email ?? untracked(() => list.item(id));
  if (known === undefined) return <p class="message-note" aria-busy="true" />;
  // What belongs to one email, such as that its pictures are shown, does not pass to the next one.
  return <Message key={id} known={known} email={shown.email} thread={shown.thread} />;
}

function useEmail(id: string): Shown {
  const { client } = useStore();
  const shown = useMemo(() => signal<Shown>({ thread: [] }), [id]);
  useEffect(() => {
    // HTML needs it, so it is loaded while the email is.
    import('./html/safe-mail.js').catch(() => {
      // The view of HTML loads it again, and says why that fails.
    });
    const email$ = client.email(id);
    const thread$ = email$.pipe(
      map(({ threadId }) => threadId),
      distinctUntilChanged(),
      switchMap((threadId) => client.thread(threadId)),
      // The email is shown without its thread while that cannot be read.
      catchError(() => of([])),
      startWith([]),
    );
    const subscription = combineLatest([email$, thread$]).subscribe({
      next: ([email, thread]) => {
        shown.value = { email, thread };
      },
      error: (fault: unknown) => {
        shown.value = { ...shown.peek(), fault };
      },
    });
    return () => subscription.unsubscribe();
  }, [client, id, shown]);
  return shown.value;
}

interface MessageProps {
  /** What the list knows, until the email is there. */
  readonly known: EmailListItem | EmailDetail;
  readonly email: EmailDetail | undefined;
  readonly thread: readonly EmailDetail[];
}

function Message({ known, email, thread }: MessageProps) {
  const store = useStore();
  const { client } = store;
  const model = useMemo(() => email && new MessageModel(client, email), [client, email?.id]);
  useEffect(() => {
    if (email === undefined || model === undefined) return;
    // Once: an email that is marked as unread while it is open stays so. A row of a thread is read when one of its emails is opened.
    readRow(store, email);
    return () => model.close();
  }, [client, model]);
  const title = useFocusedTitle(known.id);
  const at = thread.findIndex(({ id }) => id === known.id);
  return (
    <article class="message" aria-labelledby="message-title" aria-busy={email === undefined}>
      <header class="message-top">
        <h1 id="message-title" class="message-title" dir="auto" tabIndex={-1} ref={title}>
          {known.subject || t('message.noSubject')}
        </h1>
        {known.labels.length > 0 && (
          <span class="message-labels">
            {known.labels.map((label) => (
              <LabelChip key={label.id} label={label} />
            ))}
          </span>
        )}
        {email && model && <MessageTools email={email} model={model} />}
      </header>
      <OtherMessages emails={thread.slice(0, Math.max(0, at))} kind="earlier" />
      <MessageHead known={known} email={email} />
      {email && model ? (
        <>
          <Invitations email={email} />
          <Content email={email} model={model} />
        </>
      ) : (
        <div class="message-waiting" />
      )}
      <OtherMessages emails={at === -1 ? [] : thread.slice(at + 1)} kind="later" />
    </article>
  );
}

function Content({ email, model }: { readonly email: EmailDetail; readonly model: MessageModel }) {
  const { viewed, isOriginal } = model;
  if (isOriginal.value) return <Original email={email} model={model} />;
  if (viewed.value !== undefined) return <Viewer shown={viewed.value} model={model} />;
  return (
    <>
      {email.isPartial && <p class="message-strip">{t('message.partial')}</p>}
      {email.htmlBody === '' ? (
        <>
          <TextBody text={email.textBody} />
          <Attachments email={email} model={model} />
        </>
      ) : (
        // Below a frame, whose end nobody sees at once, they would not be found.
        <>
          <Attachments email={email} model={model} />
          <HtmlBody email={email} model={model} />
        </>
      )}
    </>
  );
}

/** A reader who opens an email with a key or a screen reader goes on at its title; one who steps through the list stays there. */
function useFocusedTitle(id: string) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const { activeElement } = document;
    if (activeElement === null || activeElement === document.body) title.current?.focus({ preventScroll: true });
  }, [id]);
  return title;
}
