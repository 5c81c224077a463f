// Invitations among the attachments as cards: what, when in the reader's zone, where, who asks, and an answer that is sent to them.
import './invitations.css';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Attachment, EmailDetail } from '../../../../src/client/index.js';
import { reasonOf } from '../../app/reason.js';
import { type Store, useStore } from '../../app/store.js';
import { Icon } from '../../design/icon.js';
import { t } from '../../i18n/t.js';
import { periodText } from './event-period.js';
import type { Answer, Attendee, Invitation } from './invitation.js';

const MOST_BYTES = 1_000_000;
const MOST_CARDS = 3;

export function Invitations({ email }: { readonly email: EmailDetail }) {
  const found = email.attachments.filter(isCalendar).slice(0, MOST_CARDS);
  return (
    <>
      {found.map((attachment) => (
        <Card key={attachment.id} email={email} attachment={attachment} />
      ))}
    </>
  );
}

function isCalendar({ contentType, sizeBytes }: Attachment): boolean {
  return /^text\/calendar\b/i.test(contentType) && sizeBytes <= MOST_BYTES;
}

interface Read {
  readonly text: string;
  readonly invitation: Invitation;
}

function Card({ email, attachment }: { readonly email: EmailDetail; readonly attachment: Attachment }) {
  const { client } = useStore();
  const read = useSignal<Read | undefined>(undefined);
  useEffect(() => {
    const load = async () => {
      const [file, { readInvitation }] = await Promise.all([
        client.blob(client.attachmentUrl(email.id, attachment.id)),
        import('./invitation.js'),
      ]);
      const text = await file.text();
      const invitation = readInvitation(text);
      if (invitation !== undefined) read.value = { text, invitation };
    };
    // The attachment is among the others, whatever becomes of its card.
    load().catch(() => {});
  }, [client, email.id, attachment.id]);
  if (read.value === undefined) return null;
  const { invitation } = read.value;
  const { summary, location, organizer, isRecurring } = invitation;
  return (
    <section class="card message-invitation" aria-label={t('message.invitation')}>
      <Icon name="calendar" />
      <div class="message-invitation-text">
        <strong dir="auto">{summary || t('message.invitation')}</strong>
        <span>{periodText(invitation)}</span>
        {isRecurring && <span class="hint">{t('message.repeats')}</span>}
        {location !== '' && <span dir="auto">{location}</span>}
        {organizer !== undefined && (
          <span class="hint">{t('message.organizer', { name: organizer.name || organizer.address })}</span>
        )}
        <Note invitation={invitation} />
        <Answers email={email} read={read.value} />
      </div>
    </section>
  );
}

function Note({ invitation: { method, attendees } }: { readonly invitation: Invitation }) {
  if (method === 'CANCEL') return <strong class="message-proof is-danger">{t('message.cancelled')}</strong>;
  const [who] = attendees;
  if (method !== 'REPLY' || who === undefined) return null;
  const name = who.name || who.address;
  if (who.status === 'ACCEPTED') return <span>{t('message.theyAccepted', { name })}</span>;
  if (who.status === 'DECLINED') return <span>{t('message.theyDeclined', { name })}</span>;
  return <span>{t('message.theyMay', { name })}</span>;
}

const ANSWERS: readonly Answer[] = ['ACCEPTED', 'TENTATIVE', 'DECLINED'];

function Answers({ email, read }: { readonly email: EmailDetail; readonly read: Read }) {
  const store = useStore();
  const { method, organizer, attendees } = read.invitation;
  const attendee = ownAttendee(store, attendees);
  const given = useSignal<Answer | undefined>(answerOf(attendee?.status));
  const isSending = useSignal(false);
  const fault = useSignal<unknown>(undefined);
  if (method !== 'REQUEST' || organizer === undefined || attendee === undefined) return null;
  const send = async (answer: Answer) => {
    isSending.value = true;
    fault.value = undefined;
    try {
      await sendAnswer(store, email, read, attendee, answer);
      given.value = answer;
    } catch (error) {
      fault.value = error;
    }
    isSending.value = false;
  };
  return (
    <>
      <fieldset class="message-answers" aria-label={t('message.answer')}>
        {ANSWERS.map((answer) => (
          <button
            key={answer}
            type="button"
            class="button"
            aria-pressed={given.value === answer}
            disabled={isSending.value}
            onClick={() => void send(answer)}
          >
            {answerName(answer)}
          </button>
        ))}
      </fieldset>
      <span role="status" class="hint">
        {given.value !== undefined && t('message.answered', { answer: answerName(given.value) })}
      </span>
      {fault.value !== undefined && <p class="problem">{t('app.failed', { reason: reasonOf(fault.value) })}</p>}
    </>
  );
}

const answerOf = (status: string | undefined): Answer | undefined => ANSWERS.find((one) => one === status);

function answerName(answer: Answer): string {
  if (answer === 'ACCEPTED') return t('message.accept');
  return answer === 'TENTATIVE' ? t('message.maybe') : t('message.decline');
}

/** The invited address that is the reader's own, from which the answer can be sent. */
function ownAttendee({ profile }: Store, attendees: readonly Attendee[]): Attendee | undefined {
  const own = profile.value;
  if (own === undefined) return undefined;
  const additional = own.additionalAddresses.filter(({ canSend }) => canSend).map(({ address }) => address);
  const addresses = new Set([own.email, ...additional].map((address) => address.toLowerCase()));
  return attendees.find(({ address }) => addresses.has(address.toLowerCase()));
}

async function sendAnswer(
  { client }: Store,
  email: EmailDetail,
  { text, invitation }: Read,
  attendee: Attendee,
  answer: Answer,
): Promise<void> {
  const [{ answerText }, { threadHeaders }] = await Promise.all([
    import('./invitation.js'),
    import('../../compose/reply.js'),
  ]);
  const calendar = answerText(text, attendee, answer, new Date());
  const { organizer, summary } = invitation;
  if (calendar === undefined || organizer === undefined) throw new Error(t('message.noAnswer'));
  const subject = t('message.answerSubject', { answer: answerName(answer), summary: summary || email.subject });
  await client.send({
    fromAddress: attendee.address,
    subject,
    textBody: `${subject}\n`,
    recipients: [
      { address: organizer.address, type: 'To', ...(organizer.name !== '' && { displayName: organizer.name }) },
    ],
    headers: threadHeaders(email).map(([name, value]) => [name, value]),
    attachments: [
      { fileName: 'reply.ics', contentType: 'text/calendar; charset=utf-8; method=REPLY', content: base64(calendar) },
    ],
  });
}

function base64(text: string): string {
  let octets = '';
  for (const octet of new TextEncoder().encode(text)) octets += String.fromCharCode(octet);
  return btoa(octets);
}
