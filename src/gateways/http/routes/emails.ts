// One account's received mail: list, detail, mark, delete. Everything is mounted twice: `/api/external/emails` mirrors
// `/api/emails` for integrations.
import type { Mailboxes } from '../../../actors/mailbox/protocol.js';
import { type BodyDecoder, bodyOctets } from '../../../decode/decoder.js';
import type { BlobStore } from '../../../store/blobs.js';
import { flag, idParameter, record } from '../fields.js';
import { named } from '../json-schema.js';
import { notFound, refused } from '../problem.js';
import { defineRoute, EMPTY, READ, type Route, WRITE } from '../route.js';
import { detailOf } from './email-detail.js';
import { emailDetail, emailPage, pageOf, paging } from './email-shapes.js';
import { rangesOf, viewerOf, withRoom } from './shown-bodies.js';

const readMark = named('ReadMark', record({ isRead: flag() }));

export interface EmailSources {
  readonly mailboxes: Mailboxes;
  readonly blobs: BlobStore;
  readonly decoder: Pick<BodyDecoder, 'bodies' | 'room'>;
}

export function emailRoutes(base: string, tags: readonly string[], sources: EmailSources): readonly Route[] {
  const { mailboxes, blobs, decoder } = sources;
  return [
    defineRoute({
      method: 'GET',
      path: base,
      summary: 'Emails in the inbox, newest first',
      tags,
      access: READ,
      query: paging,
      replies: { 200: emailPage },
      handler: async ({ principal, query }) => {
        const { page, pageSize } = query;
        const outcome = await mailboxes.of(principal.accountId).ask('list', { folder: 'inbox', page, pageSize });
        if (outcome.reply === undefined) return refused(outcome.refusal);
        return { status: 200, json: pageOf(outcome.reply, query) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${base}/{id}`,
      summary: 'One email with its bodies and the list of its attachments',
      tags,
      access: READ,
      params: { id: idParameter() },
      replies: { 200: emailDetail },
      handler: async (call) => {
        const { principal, params } = call;
        const outcome = await mailboxes.of(principal.accountId).ask('detail', { emailId: params.id });
        if (outcome.reply === undefined) return refused(outcome.refusal);
        const email = outcome.reply;
        const index = await blobs.index(email.blob);
        // Deleted between the two reads, and its blob collected.
        if (index === undefined) return notFound();
        const viewer = viewerOf(call);
        return withRoom(decoder, bodyOctets(index), viewer, async () => {
          const bodies = await decoder.bodies(index, rangesOf(blobs, email.blob), viewer);
          return { status: 200, json: detailOf(email, index, bodies) };
        });
      },
    }),
    defineRoute({
      method: 'PATCH',
      path: `${base}/{id}`,
      summary: 'Mark an email as read or unread',
      tags,
      access: WRITE,
      params: { id: idParameter() },
      body: readMark,
      example: { isRead: true },
      replies: { 204: EMPTY },
      handler: async ({ principal, params, body }) => {
        const payload = { emailIds: [params.id], isRead: body.isRead };
        const outcome = await mailboxes.of(principal.accountId).ask('setRead', payload);
        if (outcome.reply === undefined) return refused(outcome.refusal);
        return outcome.reply.missing.length > 0 ? notFound() : { status: 204 };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: `${base}/{id}`,
      summary: 'Delete an email for good',
      description: 'It does not go to the trash and cannot be had back.',
      tags,
      access: WRITE,
      params: { id: idParameter() },
      replies: { 204: EMPTY },
      handler: async ({ principal, params }) => {
        const outcome = await mailboxes.of(principal.accountId).ask('remove', { emailIds: [params.id] });
        if (outcome.reply === undefined) return refused(outcome.refusal);
        return outcome.reply.missing.length > 0 ? notFound() : { status: 204 };
      },
    }),
  ];
}
