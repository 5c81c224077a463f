// The bytes of an email: a decoded attachment, or the whole message as it was received.
import type { Mailboxes } from '../../../../actors/mailbox/protocol.js';
import type { BlobStore } from '../../../../store/blobs.js';
import { attachmentDisposition } from '../../content-disposition.js';
import { idParameter } from '../../fields.js';
import { entityTag } from '../../pipeline/revalidation.js';
import { refused } from '../../problem.js';
import { binary, defineRoute, EMPTY, READ, type Route } from '../../route.js';
import { ASKED_EACH_TIME, ATTACHMENT, attachmentReply, FILE_NAME, INERT } from './attachment-reply.js';

export function contentRoutes(
  base: string,
  tags: readonly string[],
  { mailboxes, blobs }: { readonly mailboxes: Mailboxes; readonly blobs: BlobStore },
): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: `${base}/{id}/attachments/{attachmentId}`,
      ...ATTACHMENT,
      tags,
      access: READ,
      params: { id: idParameter(), attachmentId: idParameter() },
      handler: async ({ principal, params, hasAuthorization }) => {
        const outcome = await mailboxes.of(principal.accountId).ask('detail', { emailId: params.id });
        if (outcome.reply === undefined) return refused(outcome.refusal);
        const { id, blob } = outcome.reply;
        return attachmentReply(blobs, { id, blob }, params.attachmentId, { hasAuthorization });
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${base}/{id}/export/eml`,
      summary: 'The message as it was received',
      tags,
      access: READ,
      params: { id: idParameter() },
      replies: { 200: binary('message/rfc822', FILE_NAME), 304: EMPTY },
      handler: async ({ principal, params }) => {
        const outcome = await mailboxes.of(principal.accountId).ask('detail', { emailId: params.id });
        if (outcome.reply === undefined) return refused(outcome.refusal);
        const { blob, sizeBytes, subject } = outcome.reply;
        const name = subject.trim() === '' ? 'message' : Array.from(subject.trim()).slice(0, 100).join('');
        return {
          status: 200,
          headers: [
            INERT,
            ASKED_EACH_TIME,
            entityTag(blob),
            ['Content-Type', 'message/rfc822'],
            ['Content-Disposition', attachmentDisposition(`${name}.eml`)],
          ],
          stream: { length: sizeBytes, chunks: blobs.stream(blob, 0, sizeBytes) },
        };
      },
    }),
  ];
}
