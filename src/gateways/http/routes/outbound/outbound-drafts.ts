// Drafts: create, replace, delete, send. After sending, the draft is gone and its id names the email. The entity tag of a draft is the time
// of its last change, which rises with every change; the mailbox compares it (If-Match).
import type { Infer } from 'superstruct';
import type { MailboxProtocol } from '../../../../actors/mailbox/protocol.js';
import type { Payload } from '../../../../actors/runtime/protocol.js';
import { parseAddress } from '../../../../mail-format/address.js';
import { LONGEST_SUBJECT } from '../../../../mail-format/writing/reply.js';
import type { HeaderField } from '../../exchange.js';
import { closedRecord, idParameter, uuid } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { entityTag, matchingTags } from '../../pipeline/revalidation.js';
import { invalid, notFound, Problem, refused, unavailable } from '../../problem.js';
import { defineRoute, EMPTY, READ, type Route, WRITE } from '../../route.js';
import { type Asker, viewerOf, withRoom } from '../emails/body-views.js';
import { paging } from '../emails/email-shapes.js';
import { attachmentsOf } from './outbound-attachments.js';
import { allWithRecipients, contentOf, type Outbound, withRecipients } from './outbound-content.js';
import {
  addresseesOf,
  type ComposedEmail,
  enqueue,
  fieldsOf,
  HELD,
  LIMIT,
  type OutboundSources,
  type OutgoingEmail,
  oneLine,
  saveDraft,
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
  MOST_RECIPIENTS,
  maybe,
  queued,
} from './outbound-shapes.js';
import { sendAt } from './send-options.js';
import { NOT_OWN, ownAddress, type Sender, senderOf } from './sender.js';

const EXAMPLE: Infer<typeof draftInput> = {
  subject: 'Lunch?',
  textBody: 'At noon?',
  recipients: [{ address: 'bob@example.org', displayName: 'Bob', type: 'To' }],
};

const sendDraftInput = named(
  'SendDraftInput',
  closedRecord({
    sendAt,
    repliesTo: maybe(uuid({ description: 'The email that the draft answers: it is marked as answered' })),
    forwards: maybe(uuid({ description: 'The email that the draft forwards: it is marked as forwarded' })),
  }),
);

/** A draft that changes while it is being sent is read at most this many times. */
const ATTEMPTS = 4;

export function draftRoutes(base: string, tags: readonly string[], sources: OutboundSources): readonly Route[] {
  const { mailboxes, maxMessageSize: bodyLimit } = sources;
  const path = `${base}/drafts`;

  /** Reads the current draft. */
  async function read(accountId: string, outboundId: string): Promise<Draft | Problem> {
    const outcome = await mailboxes.of(accountId).ask('outbound', { outboundId });
    if (outcome.reply === undefined) return refused(outcome.refusal);
    return outcome.reply.email.status === 'Draft' ? withRecipients(sources.blobs, outcome.reply) : notFound();
  }

  async function shown<S extends number>(status: S, call: Asker, outboundId: string) {
    const viewer = viewerOf(call);
    const draft = await read(viewer.accountId, outboundId);
    if (draft instanceof Problem) return draft;
    const reply = async () => {
      const content = await contentOf(sources, draft, viewer);
      if (content === undefined) return notFound();
      return { status, headers: [tagOf(draft.email.updatedAt)], json: draftOf(draft.email, content) };
    };
    // A new draft is always shown, whatever memory other views use.
    return draft.content === null && status === 200
      ? withRoom(sources.decoder, draft.email.size, viewer, reply)
      : reply();
  }

  /** Composes and stores what the client gave, and passes it to `save`. `id`: the draft that is replaced. */
  async function write<T>(
    accountId: string,
    body: DraftInput,
    id: string | undefined,
    save: (draft: WrittenDraft) => Promise<T>,
  ): Promise<T | Problem> {
    const sender = await senderOf(sources.profiles, accountId);
    const from = await ownAddress(sender, body.fromAddress ?? sender.email);
    if (from === undefined) return invalid({ fromAddress: [NOT_OWN] });
    const attachments = await attachmentsOf(sources, accountId, body.attachments);
    if (attachments instanceof Problem) return attachments;
    const given = { textBody: body.textBody ?? null, htmlBody: body.htmlBody ?? null };
    const outgoing: OutgoingEmail = {
      from,
      subject: body.subject ?? '',
      addressees: addresseesOf(body.recipients ?? []),
      ...sendable(given),
      attachments,
      ...fieldsOf(body),
    };
    return saveDraft(sources, sender, outgoing, given, id, save);
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
        const emails = await allWithRecipients(sources.blobs, items);
        return { status: 200, json: { items: emails.map(draftSummaryOf), totalCount, page, pageSize } };
      },
    }),
    defineRoute({
      method: 'POST',
      path,
      summary: 'Make a draft',
      description: `Every field may be left out; fields that are there must be valid. ${LIMIT}`,
      tags,
      access: WRITE,
      body: draftInput,
      bodyLimit,
      uploads: uploads(sources),
      example: EXAMPLE,
      replies: { 201: draftDetail },
      replyFields: TAGGED,
      // Somebody may delete the draft before it is read.
      problems: [404, 507],
      handler: async (call) => {
        const { accountId } = call.principal;
        const create = (draft: WrittenDraft) => mailboxes.of(accountId).ask('createDraft', { draft });
        const outcome = await write(accountId, call.body, undefined, create);
        if (outcome instanceof Problem) return outcome;
        if (outcome.refusal === 'tooMany') return tooMany();
        return outcome.reply === undefined ? refused(outcome.refusal) : shown(201, call, outcome.reply.id);
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${path}/{id}`,
      summary: 'One draft',
      tags,
      access: READ,
      params: { id: idParameter() },
      replies: { 200: draftDetail, 304: EMPTY },
      replyFields: TAGGED,
      handler: (call) => shown(200, call, call.params.id),
    }),
    defineRoute({
      method: 'PUT',
      path: `${path}/{id}`,
      summary: 'Replace a draft',
      description: `The draft is replaced as a whole: fields that are left out are gone. ${LIMIT}`,
      tags,
      access: WRITE,
      params: { id: idParameter() },
      body: draftInput,
      bodyLimit,
      uploads: uploads(sources),
      example: EXAMPLE,
      isConditional: true,
      replies: { 204: EMPTY },
      problems: [507],
      replyFields: TAGGED,
      handler: async ({ principal, params, body, ifMatch }) => {
        const outboundId = params.id;
        const versions = versionsOf(ifMatch);
        const outcome = await write(principal.accountId, body, outboundId, (draft) =>
          mailboxes.of(principal.accountId).ask('updateDraft', { outboundId, draft, ...versions }),
        );
        if (outcome instanceof Problem) return outcome;
        if (outcome.reply === undefined) return refused(outcome.refusal);
        return { status: 204, headers: [tagOf(outcome.reply.updatedAt)] };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: `${path}/{id}`,
      summary: 'Delete a draft',
      tags,
      access: WRITE,
      params: { id: idParameter() },
      isConditional: true,
      replies: { 204: EMPTY },
      handler: async ({ principal, params, ifMatch }) => {
        const payload = { outboundId: params.id, ...versionsOf(ifMatch) };
        const { refusal } = await mailboxes.of(principal.accountId).ask('deleteDraft', payload);
        return refusal === undefined ? { status: 204 } : refused(refusal);
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${path}/{id}/send`,
      summary: 'Send a draft',
      description: `The draft needs a sender address of the account, a subject and at least one recipient; it needs no body. The id stays the same, and the email is no longer a draft. ${HELD}`,
      tags,
      access: WRITE,
      params: { id: idParameter() },
      body: sendDraftInput,
      isBodyOptional: true,
      example: { sendAt: '2027-01-04T09:00:00+01:00' },
      isConditional: true,
      replies: { 200: queued },
      problems: [400, 403, 413, 429, 507],
      handler: async ({ principal, params, body, remoteAddress, ifMatch: field }) => {
        const how = { remoteAddress, sendAt: body.sendAt, original: originalOf(body) };
        const { ifMatch } = versionsOf(field);
        const sender = await senderOf(sources.profiles, principal.accountId);
        for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
          const draft = await read(principal.accountId, params.id);
          if (draft instanceof Problem) return draft;
          if (ifMatch !== undefined && !ifMatch.includes(draft.email.updatedAt)) return refused('draftChanged');
          const outgoing = await outgoingOf(sources, sender, draft);
          if (outgoing instanceof Problem) return outgoing;
          const { id, updatedAt } = draft.email;
          const outcome = await enqueue(sources, sender, outgoing, { draft: { id, updatedAt }, ...how });
          if (outcome.reply !== undefined) return sent(outcome);
          if (outcome.refusal !== 'draftChanged') return refused(outcome.refusal);
        }
        return unavailable();
      },
    }),
  ];
}

const tooMany = () => invalid({ drafts: ['there are as many drafts as an account may have'] });

type Draft = Outbound;
type WrittenDraft = Payload<MailboxProtocol, 'createDraft'>['draft'];

const TAGGED = { ETag: 'Of this version of the draft, for If-Match' };
const tagOf = (updatedAt: number): HeaderField => entityTag(String(updatedAt));

/** A tag that is not one of ours matches no draft. */
function versionsOf(field: string | undefined): { readonly ifMatch?: number[] } {
  const ifMatch = matchingTags(field)?.filter((tag) => /^\d{1,16}$/.test(tag));
  return ifMatch === undefined ? {} : { ifMatch: ifMatch.map(Number) };
}

/** An email that is gone by the time of the commit is not marked. */
function originalOf({ repliesTo, forwards }: Infer<typeof sendDraftInput>) {
  if (repliesTo != null) return { emailId: repliesTo, flag: '\\Answered' as const };
  return forwards != null ? { emailId: forwards, flag: '$Forwarded' as const } : undefined;
}

type Bodies = Pick<OutgoingEmail, 'textBody' | 'htmlBody'>;

/** docs/interface/mail.md, "Outbound email": a draft needs a recipient and a subject to be sent, and no body. */
function sendable({ textBody, htmlBody }: Bodies): Bodies {
  const html = htmlBody || null;
  return { textBody: textBody || (html === null ? '' : null), htmlBody: html };
}

/** Checks the draft again before it is sent: the account may have lost an address since the draft was written. */
async function outgoingOf(
  { blobs }: OutboundSources,
  sender: Sender,
  { email, content, isComposedHere }: Draft,
): Promise<ComposedEmail | Problem> {
  const { sender: address, recipients, blob, inReplyTo, references } = email;
  const subject = oneLine(email.subject, LONGEST_SUBJECT);
  const from = await ownAddress(sender, address);
  const errors = {
    ...(from === undefined && { fromAddress: [address === '' ? 'is missing' : NOT_OWN] }),
    ...(subject === '' && { subject: ['must not be empty'] }),
    ...(recipients.length === 0 && { recipients: ['must hold at least 1'] }),
    ...(recipients.length > MOST_RECIPIENTS && { recipients: [`must hold at most ${MOST_RECIPIENTS}`] }),
    ...Object.fromEntries(
      recipients.flatMap((one, i) =>
        parseAddress(one.address) === undefined ? [[`recipients[${i}].address`, ['must be an email address']]] : [],
      ),
    ),
  };
  if (from === undefined || Object.keys(errors).length > 0) return invalid(errors);
  const addressees = addresseesOf(recipients);
  const index = await blobs.index(blob);
  if (index === undefined) return notFound();
  return { from, subject, addressees, bodies: content, inReplyTo, references, blob, index, isOwn: isComposedHere };
}
