// Outbound mail of the fake mailboxes: drafts and the queue, as far as routes can see them. Nothing is ever delivered.
import type { OutboundEmail } from '../../../src/actors/mailbox/outbound/protocol.js';
import type { MailboxProtocol } from '../../../src/actors/mailbox/protocol.js';
import type { Payload, Reply } from '../../../src/actors/runtime/protocol.js';
import { ONE_TOO_MANY } from './label-filter-fakes.js';

type Of<N extends keyof MailboxProtocol['operations']> = Payload<MailboxProtocol, N>;
type Entry = Reply<MailboxProtocol, 'outbound'>;
type Emails = readonly { readonly id: string }[];

interface Kept {
  readonly entries: Map<string, Entry>;
  made: number;
}

/** In the order in which an account makes them. */
export const outboundIdOf = (n: number) => `018f0000-0000-7000-b000-${String(n).padStart(12, '0')}`;
const recipientIdOf = (outbound: string, n: number) => outbound.replace('-b000-', `-c${String(n).padStart(3, '0')}-`);

const MADE_AT = Date.UTC(2026, 0, 1);
/** Subject of a draft that somebody else edits whenever it is read. */
export const RESTLESS = 'restless';
/** Subject of a draft that somebody else edits when it is read for the first time and for the second. */
export const RESTLESS_TWICE = 'restless twice';

const kept = new WeakMap<object, Kept>();

function of(emails: Emails): Kept {
  const found = kept.get(emails) ?? { entries: new Map(), made: 0 };
  kept.set(emails, found);
  return found;
}

const recipients = (id: string, of: Of<'createDraft'>['draft']['recipients']): OutboundEmail['recipients'] =>
  of.map(({ address, displayName, type }, i) => ({
    id: recipientIdOf(id, i),
    address,
    displayName,
    type,
    status: 'Pending',
    deliveredAt: null,
    lastError: null,
    statusCode: null,
  }));

function draftEntry(
  id: string,
  { sender, subject, content, recipients: named, message }: Of<'createDraft'>['draft'],
): Entry {
  return {
    email: {
      id,
      status: 'Draft',
      blob: message?.blob ?? null,
      sender,
      subject,
      messageId: null,
      inReplyTo: null,
      references: [],
      size: message?.size ?? 0,
      createdAt: MADE_AT,
      updatedAt: MADE_AT,
      sentAt: null,
      retryCount: 0,
      nextRetryAt: null,
      lastError: null,
      recipients: recipients(id, named),
    },
    content,
  };
}

const noSuch = { refusal: 'noSuchOutbound' };

/** Says that the email was tried, and how that ended. */
export function settle(emails: Emails, id: string, changes: Partial<OutboundEmail>): void {
  const entry = of(emails).entries.get(id)!;
  of(emails).entries.set(id, { ...entry, email: { ...entry.email, ...changes } });
}

const nextId = (emails: Emails): string => outboundIdOf(++of(emails).made);

export const outboundAnswers = {
  createDraft: (emails: Emails, { draft }: Of<'createDraft'>) => {
    if (draft.subject === ONE_TOO_MANY) return { refusal: 'tooMany' };
    const id = nextId(emails);
    of(emails).entries.set(id, draftEntry(id, draft));
    return { reply: { id } };
  },
  updateDraft: (emails: Emails, { outboundId, draft, ifMatch }: Of<'updateDraft'>) => {
    const entry = of(emails).entries.get(outboundId);
    if (entry?.email.status !== 'Draft') return noSuch;
    if (ifMatch !== undefined && !ifMatch.includes(entry.email.updatedAt)) return { refusal: 'draftChanged' };
    const made = draftEntry(outboundId, draft);
    const updatedAt = entry.email.updatedAt + 1;
    of(emails).entries.set(outboundId, { ...made, email: { ...made.email, updatedAt } });
    return { reply: { updatedAt } };
  },
  deleteDraft: (emails: Emails, { outboundId, ifMatch }: Of<'deleteDraft'>) => {
    const { entries } = of(emails);
    const entry = entries.get(outboundId);
    if (entry?.email.status !== 'Draft') return noSuch;
    if (ifMatch !== undefined && !ifMatch.includes(entry.email.updatedAt)) return { refusal: 'draftChanged' };
    entries.delete(outboundId);
    return { reply: {} };
  },
  enqueue: (emails: Emails, payload: Of<'enqueue'>) => {
    const { entries } = of(emails);
    const { draft, sender, blob, summary, content } = payload;
    const before = draft === null ? undefined : entries.get(draft.id);
    if (draft !== null && before?.email.status !== 'Draft') return noSuch;
    if (draft !== null && before?.email.updatedAt !== draft.updatedAt) return { refusal: 'draftChanged' };
    const id = draft?.id ?? nextId(emails);
    const { subject, messageId, inReplyTo, references, size } = summary;
    const made = draftEntry(id, {
      sender,
      subject,
      content: { textBody: null, htmlBody: null },
      recipients: payload.recipients,
    });
    const queued = { status: 'Queued' as const, blob, messageId, inReplyTo, references, size, sentEmailId: id };
    const email: OutboundEmail = { ...made.email, ...queued };
    entries.set(id, { email, content });
    return { reply: { id, createdAt: MADE_AT, sentEmailId: id } };
  },
  outbound: (emails: Emails, { outboundId }: Of<'outbound'>) => {
    const entry = of(emails).entries.get(outboundId);
    if (entry === undefined) return noSuch;
    const { subject, updatedAt } = entry.email;
    if (subject === RESTLESS || (subject === RESTLESS_TWICE && updatedAt < MADE_AT + 2))
      settle(emails, outboundId, { updatedAt: updatedAt + 1 });
    return { reply: entry };
  },
  outboundPage: (emails: Emails, { statuses, page, pageSize }: Of<'outboundPage'>) => {
    const all = [...of(emails).entries.values()]
      .map(({ email }) => email)
      .filter(({ status }) => statuses.includes(status));
    const start = (page - 1) * pageSize;
    return { reply: { items: all.toReversed().slice(start, start + pageSize), totalCount: all.length } };
  },
  outboundTimeline: (emails: Emails, { outboundId }: Of<'outboundTimeline'>) => {
    const entry = of(emails).entries.get(outboundId);
    if (entry === undefined) return noSuch;
    const attempt = {
      id: outboundIdOf(999),
      at: MADE_AT,
      durationMs: 12.5,
      domain: 'remote.test',
      host: 'mx.remote.test',
      remoteAddress: '127.0.0.1',
      tls: null,
      reply: '250 2.0.0 Ok',
      recipients: entry.email.recipients.map(({ id }) => ({ id, outcome: 'delivered', statusCode: '2.0.0', more: 1 })),
      more: 1,
    };
    return { reply: { attempts: entry.email.status === 'Draft' ? [] : [attempt] } };
  },
};
