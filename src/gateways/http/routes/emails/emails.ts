// The received mail of one account: list, detail, mark, delete. Every route is mounted twice: `/api/external/emails` mirrors `/api/emails`
// for integrations.
import { optional } from 'superstruct';
import type { Mailboxes } from '../../../../actors/mailbox/protocol.js';
import { bodyOctets } from '../../../../message-content/decode/decoder.js';
import { EncodedJson } from '../../encoded-json.js';
import { atLeastOne, flag, idParameter, record } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { invalid, notFound, refused } from '../../problem.js';
import { defineRoute, EMPTY, READ, type Route, WRITE } from '../../route.js';
import { viewerOf, withRoom } from './body-views.js';
import { type DetailSources, knownDetail, readDetail } from './detail-views.js';
import type { Detail } from './email-detail.js';
import {
  emailDetail,
  emailPage,
  grouping,
  isUngroupable,
  listing,
  listingOf,
  pageOf,
  ungroupable,
} from './email-shapes.js';

const marks = named('EmailMarks', record({ isRead: optional(flag()), isFlagged: optional(flag()) }), {
  description: 'At least one of them',
  ...atLeastOne('isRead', 'isFlagged'),
});

const NEITHER = ['send isRead or isFlagged'];
const NO_MARK = { isRead: NEITHER, isFlagged: NEITHER };

export interface EmailSources extends DetailSources {
  readonly mailboxes: Mailboxes;
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
      query: { ...listing, ...grouping },
      replies: { 200: emailPage },
      problems: [400],
      handler: async ({ principal, query }) => {
        if (isUngroupable(query)) return ungroupable();
        const payload = { folder: 'inbox', ...listingOf(query) };
        const outcome = await mailboxes.of(principal.accountId).ask('list', payload);
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
        const known = knownDetail(sources, email, principal);
        if (known !== undefined) return { status: 200, json: new EncodedJson<Detail>(known.json) };
        const index = await blobs.index(email.blob);
        // The email may be deleted between the two reads, and its blob collected.
        if (index === undefined) return notFound();
        const viewer = viewerOf(call);
        return withRoom(decoder, bodyOctets(index), viewer, async () => {
          const { json } = await readDetail(sources, email, index, viewer);
          return { status: 200 as const, json: new EncodedJson<Detail>(json) };
        });
      },
    }),
    defineRoute({
      method: 'PATCH',
      path: `${base}/{id}`,
      summary: 'Mark an email as read or unread, flagged or not',
      tags,
      access: WRITE,
      params: { id: idParameter() },
      body: marks,
      example: { isRead: true, isFlagged: true },
      replies: { 204: EMPTY },
      handler: async ({ principal, params, body }) => {
        const { isRead, isFlagged } = body;
        if (isRead === undefined && isFlagged === undefined) return invalid(NO_MARK);
        const mailbox = mailboxes.of(principal.accountId);
        const selection = { emailIds: [params.id] };
        for (const [mode, value] of [
          ['add', true],
          ['remove', false],
        ] as const) {
          const flags = [...(isRead === value ? ['\\Seen'] : []), ...(isFlagged === value ? ['\\Flagged'] : [])];
          if (flags.length === 0) continue;
          const outcome = await mailbox.ask('storeFlags', { selection, mode, flags });
          if (outcome.reply === undefined) return refused(outcome.refusal);
          if (outcome.reply.missing.length > 0) return notFound();
        }
        return { status: 204 };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: `${base}/{id}`,
      summary: 'Delete an email for good',
      description: 'It does not go to the trash and cannot be restored.',
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
