// Mail that leaves: sending, the queue and the sent emails, each with the result of every recipient and every attempt.
import type { Infer } from 'superstruct';
import type { OutboundEmail } from '../../../../actors/mailbox/outbound/protocol.js';
import { ActorFault } from '../../../../actors/runtime/errors.js';
import { idParameter } from '../../fields.js';
import { invalid, notFound, Problem, refused } from '../../problem.js';
import { defineRoute, EMPTY, READ, type Route, WRITE } from '../../route.js';
import { ATTACHMENT, attachmentReply } from '../emails/attachment-reply.js';
import { viewerOf, withRoom } from '../emails/body-views.js';
import { versionOf } from '../emails/email-detail.js';
import { paging } from '../emails/email-shapes.js';
import { attachmentsOf } from './outbound-attachments.js';
import { contentOf, withRecipients } from './outbound-content.js';
import {
  addresseesOf,
  enqueue,
  fieldsOf,
  HELD,
  LIMIT,
  NO_BODY,
  type OutboundSources,
  sendNow,
  sent,
  uploads,
} from './outbound-sending.js';
import {
  attemptOf,
  cancelled,
  itemOf,
  outboundDetail,
  outboundPage,
  queued,
  retried,
  sendInput,
  timeline,
} from './outbound-shapes.js';
import { bulkFault, bulkFields } from './send-options.js';
import { NOT_OWN, ownAddress, senderOf } from './sender.js';
import { suspendedProblem } from './sending-problems.js';

const EXAMPLE: Infer<typeof sendInput> = {
  fromAddress: 'alice@example.test',
  subject: 'Lunch?',
  textBody: 'At noon?',
  recipients: [
    { address: 'bob@example.org', displayName: 'Bob', type: 'To' },
    { address: 'carol@example.net', type: 'Bcc' },
  ],
};

export function outboundRoutes(base: string, tags: readonly string[], sources: OutboundSources): readonly Route[] {
  const { mailboxes } = sources;
  const page = (name: string, summary: string, statuses: ('Queued' | 'Sending' | 'Sent' | 'Failed')[]) =>
    defineRoute({
      method: 'GET',
      path: `${base}/${name}`,
      summary,
      tags,
      access: READ,
      query: paging,
      replies: { 200: outboundPage },
      handler: async ({ principal, query }) => {
        const { page, pageSize } = query;
        const outcome = await mailboxes.of(principal.accountId).ask('outboundPage', { statuses, page, pageSize });
        if (outcome.reply === undefined) return refused(outcome.refusal);
        const { items, totalCount } = outcome.reply;
        return { status: 200, json: { items: items.map(itemOf), totalCount, page, pageSize } };
      },
    });
  /** Also null while the owner of the queue does not answer: the email is then shown without its position. */
  async function positionOf(accountId: string, { id, status, heldUntil }: OutboundEmail): Promise<number | null> {
    if ((status !== 'Queued' && status !== 'Sending') || typeof heldUntil === 'number') return null;
    const { reply } = await mailboxes
      .of(accountId)
      .ask('queuePositions', {})
      .catch((error: unknown) => {
        if (error instanceof ActorFault && error.temporary) return { reply: undefined };
        throw error;
      });
    return reply?.positions.find(({ outboundId }) => outboundId === id)?.ahead ?? null;
  }

  return [
    defineRoute({
      method: 'POST',
      path: `${base}/send`,
      summary: 'Send an email',
      description: `When the reply comes, the email is queued and its copy is in Sent. The message does not name recipients of type Bcc. An address that is named twice gets the message once, with the type of the first. ${HELD}\n\n${LIMIT}`,
      tags,
      access: WRITE,
      body: sendInput,
      bodyLimit: sources.maxMessageSize,
      uploads: uploads(sources),
      example: EXAMPLE,
      replies: { 200: queued },
      problems: [403, 429, 507],
      handler: async ({ principal, body, remoteAddress }) => {
        const sender = await senderOf(sources.profiles, principal.accountId);
        const from = await ownAddress(sender, body.fromAddress);
        const [textBody, htmlBody] = [body.textBody || null, body.htmlBody || null];
        const errors = {
          ...(from === undefined && { fromAddress: [NOT_OWN] }),
          ...(body.subject === '' && { subject: ['must not be empty'] }),
          ...(textBody === null && htmlBody === null && NO_BODY),
          ...bulkFault(body),
        };
        if (from === undefined || Object.keys(errors).length > 0) return invalid(errors);
        const { subject, recipients } = body;
        const attachments = await attachmentsOf(sources, principal.accountId, body.attachments);
        if (attachments instanceof Problem) return attachments;
        const addressees = addresseesOf(recipients);
        const outgoing = { from, subject, textBody, htmlBody, addressees, attachments, ...fieldsOf(body) };
        const bulk = body.bulk ? bulkFields(body.bulk) : [];
        const headers = [...outgoing.headers, ...bulk];
        const outcome = await enqueue(
          sources,
          sender,
          { ...outgoing, headers },
          { remoteAddress, sendAt: body.sendAt },
        );
        return outcome.reply === undefined ? refused(outcome.refusal) : sent(outcome);
      },
    }),
    page('outbox', 'Emails that are queued or being sent, newest first', ['Queued', 'Sending']),
    page('sent', 'Emails that were delivered to all their recipients, newest first', ['Sent']),
    page('failed', 'Emails that failed for at least one recipient, or were cancelled, newest first', ['Failed']),
    defineRoute({
      method: 'GET',
      path: `${base}/{id}`,
      summary: 'One outbound email, with what became of each recipient',
      tags,
      access: READ,
      params: { id: idParameter() },
      replies: { 200: outboundDetail },
      handler: async (call) => {
        const { principal, params } = call;
        const outcome = await mailboxes.of(principal.accountId).ask('outbound', { outboundId: params.id });
        if (outcome.reply === undefined) return refused(outcome.refusal);
        const reply = await withRecipients(sources.blobs, outcome.reply);
        const viewer = viewerOf(call);
        // The size of the message limits its bodies, which are most of a message that this node composed.
        return withRoom(sources.decoder, reply.email.size, viewer, async () => {
          const content = await contentOf(sources, reply, viewer);
          return content === undefined
            ? notFound()
            : {
                status: 200,
                json: {
                  ...itemOf(reply.email),
                  ...content,
                  sentEmailId: reply.email.sentEmailId ?? null,
                  queuePosition: await positionOf(principal.accountId, reply.email),
                },
              };
        });
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: `${base}/{id}`,
      summary: 'Delete an outbound email that is sent or failed',
      description:
        'Its content, its attempts and a pending report of its failure are deleted too. Its copy in Sent stays. 409 while it is queued or being sent; 404 for a draft.',
      tags,
      access: WRITE,
      params: { id: idParameter() },
      replies: { 204: EMPTY },
      problems: [409],
      handler: async ({ principal, params }) => {
        const outcome = await mailboxes.of(principal.accountId).ask('removeOutbound', { outboundId: params.id });
        return outcome.reply === undefined ? refused(outcome.refusal) : { status: 204 };
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${base}/{id}/cancel`,
      summary: 'Cancel an email',
      description:
        'Recipients who do not have it will not get it. While a delivery is under way, and once it is over, nothing is cancelled. An email that is cancelled before its `sendAt`, or within the seconds of `undoSendSeconds`, is a draft again, with its id and content.',
      tags,
      access: WRITE,
      params: { id: idParameter() },
      replies: { 200: cancelled },
      handler: async ({ principal, params }) => {
        const outcome = await mailboxes.of(principal.accountId).ask('cancelOutbound', { outboundId: params.id });
        return outcome.reply === undefined ? refused(outcome.refusal) : { status: 200, json: outcome.reply };
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${base}/{id}/retry`,
      summary: 'Send an email now',
      description:
        'A failed email is tried again for the recipients who do not have it. One that waits, for its next attempt or for its time, is sent now.',
      tags,
      access: WRITE,
      params: { id: idParameter() },
      replies: { 200: retried },
      problems: [403, 413],
      handler: async ({ principal, params }) => {
        const outcome = await sendNow(sources, principal.accountId, params.id);
        if (outcome.refusal === 'sendingSuspended') return suspendedProblem(sources.sending, principal.accountId);
        return outcome.reply === undefined ? refused(outcome.refusal) : { status: 200, json: outcome.reply };
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${base}/{id}/attachments/{attachmentId}`,
      ...ATTACHMENT,
      tags,
      access: READ,
      params: { id: idParameter(), attachmentId: idParameter() },
      handler: async ({ principal, params, hasAuthorization }) => {
        const outcome = await mailboxes.of(principal.accountId).ask('outbound', { outboundId: params.id });
        if (outcome.reply === undefined) return refused(outcome.refusal);
        const { id, blob } = outcome.reply.email;
        return attachmentReply(sources.blobs, { id: versionOf(id, blob), blob }, params.attachmentId, {
          hasAuthorization,
        });
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${base}/{id}/timeline`,
      summary: 'Every attempt to deliver an email, oldest first',
      tags,
      access: READ,
      params: { id: idParameter() },
      replies: { 200: timeline },
      handler: async ({ principal, params }) => {
        const outcome = await mailboxes.of(principal.accountId).ask('outboundTimeline', { outboundId: params.id });
        if (outcome.reply === undefined) return refused(outcome.refusal);
        return { status: 200, json: outcome.reply.attempts.map(attemptOf) };
      },
    }),
  ];
}
