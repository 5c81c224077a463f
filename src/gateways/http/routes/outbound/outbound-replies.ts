// Replies to and forwards of emails of the account. The bodies of a reply are sent as given, because clients quote as their users like. A
// forward carries the text and the attachments of the original, or the whole original where it cannot be separated.
import type { EmailDetail } from '../../../../actors/mailbox/protocol.js';
import { parseAddress } from '../../../../mail-format/address.js';
import type { MessageIndex } from '../../../../mail-format/message-index.js';
import { forwardedHtml, forwardedText } from '../../../../mail-format/writing/forward.js';
import {
  forwardSubject,
  ownAddressOf,
  replyAddressees,
  replySubject,
  threadFields,
} from '../../../../mail-format/writing/reply.js';
import { copiedAttachments, messageAttachment } from '../../../../message-content/compose/copied-attachments.js';
import { bodyOctets, type Viewer } from '../../../../message-content/decode/decoder.js';
import { idParameter } from '../../fields.js';
import { invalid, notFound, Problem, refused } from '../../problem.js';
import { defineRoute, type Route, WRITE } from '../../route.js';
import { rangesOf, viewerOf, withRoom } from '../emails/body-views.js';
import { attachmentsOf } from './outbound-attachments.js';
import {
  addresseesOf,
  enqueue,
  HELD,
  LIMIT,
  NO_BODY,
  NO_THREAD,
  NOTHING_GIVEN,
  type OutboundSources,
  sent,
  uploads,
} from './outbound-sending.js';
import { forwardInput, MOST_RECIPIENTS, queued, replyInput } from './outbound-shapes.js';
import { type Sender, senderOf } from './sender.js';

interface Original {
  readonly email: EmailDetail;
  readonly index: MessageIndex;
}

const FROM_RULE = "It is sent from the account's address that the original names, else from its own.";

export function replyRoutes(base: string, tags: readonly string[], sources: OutboundSources): readonly Route[] {
  const { mailboxes, blobs, maxMessageSize: bodyLimit } = sources;

  async function originalOf(accountId: string, emailId: string): Promise<Original | Problem> {
    const outcome = await mailboxes.of(accountId).ask('detail', { emailId });
    if (outcome.reply === undefined) return refused(outcome.refusal);
    const index = await blobs.index(outcome.reply.blob);
    // The email may be deleted between the two reads, and its blob collected.
    return index === undefined ? notFound() : { email: outcome.reply, index };
  }

  return [
    defineRoute({
      method: 'POST',
      path: `${base}/reply/{emailId}`,
      summary: 'Reply to an email',
      description: `The reply goes to the original's Reply-To, else to its From, or to its To when the account sent the original. \`replyAll\` adds To and Cc without the account's own addresses. The bodies are sent as they are: the original is not quoted. ${FROM_RULE} ${HELD} ${LIMIT}`,
      tags,
      access: WRITE,
      params: { emailId: idParameter() },
      body: replyInput,
      bodyLimit,
      uploads: uploads(sources),
      example: { textBody: 'Thank you!', replyAll: false },
      replies: { 200: queued },
      problems: [403, 429, 507],
      handler: async ({ principal, params, body, remoteAddress }) => {
        const sender = await senderOf(sources.profiles, principal.accountId);
        const [textBody, htmlBody] = [body.textBody || null, body.htmlBody || null];
        const found = await originalOf(principal.accountId, params.emailId);
        if (found instanceof Problem) return found;
        if (textBody === null && htmlBody === null) return invalid(NO_BODY);
        const { envelope } = found.index;
        const all = body.replyAll ?? false;
        const named = replyAddressees(envelope, sender.own, all);
        if (named.length === 0) return invalid({ emailId: ['names no address that a reply could go to'] });
        if (named.length > MOST_RECIPIENTS) {
          const field = all ? 'replyAll' : 'emailId';
          return invalid({ [field]: [`the reply would have more than ${MOST_RECIPIENTS} recipients`] });
        }
        const attachments = await attachmentsOf(sources, principal.accountId, body.attachments);
        if (attachments instanceof Problem) return attachments;
        const outgoing = {
          from: fromOf(sender, found.index),
          subject: replySubject(envelope.subject),
          textBody,
          htmlBody,
          addressees: addresseesOf(named.map(({ name, address, type }) => ({ address, displayName: name, type }))),
          attachments,
          ...NOTHING_GIVEN,
          ...threadFields(envelope),
        };
        const original = { emailId: params.emailId, flag: '\\Answered' as const };
        const outcome = await enqueue(sources, sender, outgoing, { remoteAddress, original, sendAt: body.sendAt });
        return outcome.reply === undefined ? refused(outcome.refusal) : sent(outcome);
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${base}/forward/{emailId}`,
      summary: 'Forward an email',
      description: `The attachments are forwarded byte for byte. \`textBody\` stands before the forwarded content, as text and, when the original has html, as html. An original with too many parts, or too long to show, is attached as a whole. ${FROM_RULE} ${HELD} ${LIMIT}`,
      tags,
      access: WRITE,
      params: { emailId: idParameter() },
      body: forwardInput,
      bodyLimit,
      uploads: uploads(sources),
      example: { textBody: 'For you.', recipients: [{ address: 'bob@example.org', type: 'To' }] },
      replies: { 200: queued },
      problems: [403, 429, 507],
      handler: async (call) => {
        const { principal, params, body, remoteAddress } = call;
        const sender = await senderOf(sources.profiles, principal.accountId);
        const found = await originalOf(principal.accountId, params.emailId);
        if (found instanceof Problem) return found;
        const attachments = await attachmentsOf(sources, principal.accountId, body.attachments);
        if (attachments instanceof Problem) return attachments;
        const viewer = viewerOf(call);
        return withRoom(sources.decoder, bodyOctets(found.index), viewer, async () => {
          const content = await forwarded(sources, found, body.textBody ?? '', viewer);
          const outgoing = {
            from: fromOf(sender, found.index),
            subject: forwardSubject(found.index.envelope.subject),
            addressees: addresseesOf(body.recipients),
            ...content,
            attachments: [...attachments, ...content.attachments],
            ...NOTHING_GIVEN,
            ...NO_THREAD,
          };
          const original = { emailId: params.emailId, flag: '$Forwarded' as const };
          const outcome = await enqueue(sources, sender, outgoing, { remoteAddress, original, sendAt: body.sendAt });
          return outcome.reply === undefined ? refused(outcome.refusal) : sent(outcome);
        });
      },
    }),
  ];
}

function fromOf({ own, email }: Sender, index: MessageIndex): string {
  const address = ownAddressOf(index, own) ?? email;
  const { localPart, domain } = parseAddress(address)!;
  return `${localPart}@${domain}`;
}

async function forwarded(
  { blobs, decoder }: OutboundSources,
  { email, index }: Original,
  comment: string,
  viewer: Viewer,
) {
  const { blob, sizeBytes } = email;
  // A message that has only HTML gives its text from that.
  const textSections = index.textSections.length > 0 ? index.textSections : index.htmlSections;
  const bodies = await decoder.bodies({ ...index, textSections }, rangesOf(blobs, blob), viewer);
  const { envelope } = index;
  return {
    textBody: forwardedText(comment, envelope, bodies.text),
    htmlBody: bodies.html === '' ? null : forwardedHtml(comment, envelope, bodies.html),
    attachments: bodies.partial
      ? [await messageAttachment(blobs, blob, sizeBytes, 'original.eml')]
      : await copiedAttachments(blobs, blob, index),
  };
}
