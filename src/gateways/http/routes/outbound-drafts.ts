// Drafts: made, replaced, deleted, sent. One that was sent is a draft no more; its id goes on naming the email.
import type { Infer } from 'superstruct';
import type { MailboxProtocol } from '../../../actors/mailbox/protocol.js';
import type { Payload, Reply } from '../../../actors/runtime/protocol.js';
import { idParameter } from '../fields.js';
import { invalid, notFound, Problem, refused, unavailable } from '../problem.js';
import { defineRoute, EMPTY, READ, type Route, WRITE } from '../route.js';
import { paging } from './email-shapes.js';
import { attachmentsOf } from './outbound-attachments.js';
import { contentOf } from './outbound-content.js';
import {
  addresseesOf,
  type ComposedLetter,
  enqueue,
  type Letter,
  LIMIT,
  NO_THREAD,
  NOT_OWN,
  type OutboundSources,
  ownAddress,
  type Sender,
  saveDraft,
  senderOf,
  sent,
  uploads,
} from './outbound-sending.js';
import {
  type DraftInput,
  draftDetail,
  draftInput,
  draftOf,
  draftPage,
  draftSummaryOf,
  queued,
} from './outbound-shapes.js';

const EXAMPLE: Infer<typeof draftInput> = {
  subject: 'Lunch?',
  textBody: 'At noon?',
  recipients: [{ address: 'bob@example.org', displayName: 'Bob', type: 'To' }],
};

/** How often a draft is read again that changes while it is being sent. */
const ATTEMPTS = 4;

export function draftRoutes(base: string, tags: readonly string[], sources: OutboundSources): readonly Route[] {
  const { mailboxes, maxMessageSize: bodyLimit } = sources;
  const path = `${base}/drafts`;

  /** The draft as it is now. */
  async function read(accountId: string, outboundId: string): Promise<Draft | Problem> {
    const outcome = await mailboxes.of(accountId).ask('outbound', { outboundId });
    if (outcome.reply === undefined) return refused(outcome.refusal);
    return outcome.reply.email.status === 'Draft' ? outcome.reply : notFound();
  }

  async function shown(accountId: string, outboundId: string): Promise<Infer<typeof draftDetail> | Problem> {
    const draft = await read(accountId, outboundId);
    if (draft instanceof Problem) return draft;
    const content = await contentOf(sources, draft, { accountId });
    return content === undefined ? notFound() : draftOf(draft.email, content);
  }

  /** What the client gave, composed and stored, for `save`. */
  async function write<T>(
    accountId: string,
    body: DraftInput,
    save: (draft: Payload<MailboxProtocol, 'createDraft'>['draft']) => Promise<T>,
  ): Promise<T | Problem> {
    const sender = await senderOf(sources, accountId);
    const from = ownAddress(sender, body.fromAddress ?? sender.email);
    if (from === undefined) return invalid({ fromAddress: [NOT_OWN] });
    const attachments = await attachmentsOf(sources, accountId, body.attachments);
    if (attachments instanceof Problem) return attachments;
    const given = { textBody: body.textBody ?? null, htmlBody: body.htmlBody ?? null };
    const letter: Letter = {
      from,
      subject: body.subject ?? '',
      addressees: addresseesOf(body.recipients ?? []),
      ...sendable(given),
      attachments,
      ...NO_THREAD,
    };
    return saveDraft(sources, sender, letter, given, save);
  }

  return [
    defineRoute({
      method: 'GET',
      path,
      summary: 'Drafts, newest first',
      tags,
      access: READ,
      query: paging,
      replies: { 200: draftPage },
      handler: async ({ principal, query }) => {
        const { page, pageSize } = query;
        const payload = { statuses: ['Draft' as const], page, pageSize };
        const outcome = await mailboxes.of(principal.accountId).ask('outboundPage', payload);
        if (outcome.reply === undefined) return refused(outcome.refusal);
        const { items, totalCount } = outcome.reply;
        return { status: 200, json: { items: items.map(draftSummaryOf), totalCount, page, pageSize } };
      },
    }),
    defineRoute({
      method: 'POST',
      path,
      summary: 'Make a draft',
      description: `Every field may be left out; what is there has to be valid. ${LIMIT}`,
      tags,
      access: WRITE,
      body: draftInput,
      bodyLimit,
      uploads: uploads(sources),
      example: EXAMPLE,
      replies: { 201: draftDetail },
      // Somebody may delete it before it is read.
      problems: [404],
      handler: async ({ principal, body }) => {
        const mailbox = mailboxes.of(principal.accountId);
        const outcome = await write(principal.accountId, body, (draft) => mailbox.ask('createDraft', { draft }));
        if (outcome instanceof Problem) return outcome;
        if (outcome.reply === undefined) return tooMany();
        const made = await shown(principal.accountId, outcome.reply.id);
        return made instanceof Problem ? made : { status: 201, json: made };
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${path}/{id}`,
      summary: 'One draft',
      tags,
      access: READ,
      params: { id: idParameter() },
      replies: { 200: draftDetail },
      handler: async ({ principal, params }) => {
        const draft = await shown(principal.accountId, params.id);
        return draft instanceof Problem ? draft : { status: 200, json: draft };
      },
    }),
    defineRoute({
      method: 'PUT',
      path: `${path}/{id}`,
      summary: 'Replace a draft',
      description: `As a whole: what is left out is not there any more. ${LIMIT}`,
      tags,
      access: WRITE,
      params: { id: idParameter() },
      body: draftInput,
      bodyLimit,
      uploads: uploads(sources),
      example: EXAMPLE,
      replies: { 204: EMPTY },
      handler: async ({ principal, params, body }) => {
        const outboundId = params.id;
        const mailbox = mailboxes.of(principal.accountId);
        const outcome = await write(principal.accountId, body, (draft) =>
          mailbox.ask('updateDraft', { outboundId, draft }),
        );
        if (outcome instanceof Problem) return outcome;
        return outcome.refusal === undefined ? { status: 204 } : refused(outcome.refusal);
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: `${path}/{id}`,
      summary: 'Delete a draft',
      tags,
      access: WRITE,
      params: { id: idParameter() },
      replies: { 204: EMPTY },
      handler: async ({ principal, params }) => {
        const { refusal } = await mailboxes.of(principal.accountId).ask('deleteDraft', { outboundId: params.id });
        return refusal === undefined ? { status: 204 } : refused(refusal);
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${path}/{id}/send`,
      summary: 'Send a draft',
      description:
        'The draft needs a sender address of the account, a subject and at least one recipient; it needs no body. The id stays the same, and the email is no longer a draft.',
      tags,
      access: WRITE,
      params: { id: idParameter() },
      replies: { 200: queued },
      problems: [400, 413],
      handler: async ({ principal, params }) => {
        const sender = await senderOf(sources, principal.accountId);
        for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
          const draft = await read(principal.accountId, params.id);
          if (draft instanceof Problem) return draft;
          const letter = await letterOf(sources, sender, draft);
          if (letter instanceof Problem) return letter;
          const { id, updatedAt } = draft.email;
          const outcome = await enqueue(sources, sender, letter, { id, updatedAt });
          if (outcome.reply !== undefined) return sent(outcome.reply);
          if (outcome.refusal !== 'draftChanged') return refused(outcome.refusal);
        }
        return unavailable();
      },
    }),
  ];
}

const tooMany = () => invalid({ drafts: ['there are as many drafts as an account may have'] });

type Draft = Reply<MailboxProtocol, 'outbound'>;
type Bodies = Pick<Letter, 'textBody' | 'htmlBody'>;

/** docs/interface/mail.md, "Outbound email": a draft needs a recipient and a subject to be sent, and no body. */
function sendable({ textBody, htmlBody }: Bodies): Bodies {
  const html = htmlBody || null;
  return { textBody: textBody || (html === null ? '' : null), htmlBody: html };
}

/** What the draft says, which may have been true when it was written: addresses are given up again. */
async function letterOf(
  { blobs }: OutboundSources,
  sender: Sender,
  { email, content }: Draft,
): Promise<Letter | ComposedLetter | Problem> {
  const { sender: address, subject, recipients, blob } = email;
  const from = ownAddress(sender, address);
  const errors = {
    ...(from === undefined && { fromAddress: [address === '' ? 'is missing' : NOT_OWN] }),
    ...(subject.trim() === '' && { subject: ['must not be empty'] }),
    ...(recipients.length === 0 && { recipients: ['must hold at least 1'] }),
  };
  if (from === undefined || Object.keys(errors).length > 0) return invalid(errors);
  const addressees = addresseesOf(recipients);
  if (blob === null) {
    const texts = sendable(content ?? { textBody: null, htmlBody: null });
    return { from, subject, addressees, ...texts, attachments: [], ...NO_THREAD };
  }
  const index = await blobs.index(blob);
  return index === undefined ? notFound() : { from, subject, addressees, bodies: content, blob, index };
}
