// Marks, flags, moves, copies or deletes many emails in one command. Ids that name no email of the account do not count; an id that is not
// a UUID names no email.
import { optional } from 'superstruct';
import type { Mailboxes } from '../../../../actors/mailbox/protocol.js';
import { isUuid } from '../../../../mail-format/ids.js';
import { flag, record, shortList, text, textList, whole } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { invalid, refused } from '../../problem.js';
import { defineRoute, type Route, WRITE } from '../../route.js';
import { folderName } from '../folders/folder-parameters.js';

const EXAMPLE_ID = '0192f3a1-7c2e-7d4b-8f10-2b6a5c9e0d11';
const MOST_IDS = 1000;
const MOST_FOLDERS = 20;

const changeCount = named('ChangeCount', record({ count: whole({ description: 'How many emails changed' }) }));
const emailIds = textList(MOST_IDS, {
  description: 'Ids of emails; ids of no email of the account are ignored',
});
const bulkMark = named('BulkMark', record({ emailIds, isRead: flag() }));
const bulkFlag = named('BulkFlag', record({ emailIds, isFlagged: flag() }));
const bulkMove = named('BulkMove', record({ emailIds, folderId: folderName(), fromFolderId: optional(folderName()) }));
const bulkCopy = named('BulkCopy', record({ emailIds, folderId: folderName() }));
const bulkLabel = named(
  'BulkLabel',
  record({
    emailIds,
    labelId: text({ format: 'uuid', description: 'A label of the account' }),
    isLabelled: flag({ description: 'False takes the label off' }),
  }),
);
const bulkDelete = named(
  'BulkDelete',
  record({ emailIds, folderIds: optional(shortList(folderName(), 1, MOST_FOLDERS)) }),
  {
    description:
      'With `folderIds` only those that are in one of these folders at that moment, such as `trash`; an email that is in another folder too stays there',
  },
);

export function bulkRoutes(base: string, tags: readonly string[], mailboxes: Mailboxes): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: `${base}/bulk/mark-read`,
      summary: 'Mark up to 1,000 emails as read or unread',
      tags,
      access: WRITE,
      body: bulkMark,
      example: { emailIds: [EXAMPLE_ID], isRead: true },
      replies: { 200: changeCount },
      handler: async ({ principal, body }) => {
        const ids = possible(body.emailIds);
        if (ids.length === 0) return { status: 200, json: { count: 0 } };
        const payload = { emailIds: ids, isRead: body.isRead };
        const outcome = await mailboxes.of(principal.accountId).ask('setRead', payload);
        if (outcome.reply === undefined) return refused(outcome.refusal);
        return { status: 200, json: { count: outcome.reply.changed } };
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${base}/bulk/flag`,
      summary: 'Flag up to 1,000 emails, or take their flags off',
      tags,
      access: WRITE,
      body: bulkFlag,
      example: { emailIds: [EXAMPLE_ID], isFlagged: true },
      replies: { 200: changeCount },
      handler: async ({ principal, body }) => {
        const selection = { emailIds: possible(body.emailIds) };
        const mode = body.isFlagged ? 'add' : 'remove';
        const outcome = await mailboxes
          .of(principal.accountId)
          .ask('storeFlags', { selection, mode, flags: ['\\Flagged'] });
        if (outcome.reply === undefined) return refused(outcome.refusal);
        return { status: 200, json: { count: outcome.reply.changed } };
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${base}/bulk/move`,
      summary: 'Move up to 1,000 emails to a folder',
      description:
        'With `fromFolderId`, emails leave that folder, and emails that are not in it stay where they are. Without it, they leave every folder and keep their labels, unless they go to trash or junk. An email that is moved to a label leaves the inbox, trash and junk, and no other folder.',
      tags,
      access: WRITE,
      body: bulkMove,
      example: { emailIds: [EXAMPLE_ID], folderId: 'archive' },
      replies: { 200: changeCount },
      handler: async ({ principal, body }) => {
        const { folderId: toFolderId, fromFolderId } = body;
        const selection = { emailIds: possible(body.emailIds) };
        const payload = { selection, toFolderId, ...(fromFolderId !== undefined && { fromFolderId }) };
        const outcome = await mailboxes.of(principal.accountId).ask('move', payload);
        if (outcome.reply !== undefined) return { status: 200, json: { count: outcome.reply.count } };
        if (outcome.refusal === 'tooManyEmails') return refused(outcome.refusal);
        const field = outcome.refusal === 'noSuchSource' ? 'fromFolderId' : 'folderId';
        return invalid({ [field]: ['names no folder of this account'] });
      },
    }),
    copyRoute(base, tags, mailboxes),
    defineRoute({
      method: 'POST',
      path: `${base}/bulk/label`,
      summary: 'Put a label on up to 1,000 emails, or take it off',
      description: 'Emails that would be in no folder any more go to Archive.',
      tags,
      access: WRITE,
      body: bulkLabel,
      example: { emailIds: [EXAMPLE_ID], labelId: EXAMPLE_ID, isLabelled: true },
      replies: { 200: changeCount },
      handler: async ({ principal, body }) => {
        const { isLabelled } = body;
        const payload = { emailIds: possible(body.emailIds), labelId: body.labelId.toLowerCase(), isLabelled };
        const outcome = await mailboxes.of(principal.accountId).ask('storeLabel', payload);
        if (outcome.reply !== undefined) return { status: 200, json: { count: outcome.reply.changed } };
        if (outcome.refusal === 'tooManyEmails') return refused(outcome.refusal);
        return invalid({ labelId: ['names no label of this account'] });
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${base}/bulk/delete`,
      summary: 'Delete up to 1,000 emails for good',
      tags,
      access: WRITE,
      body: bulkDelete,
      example: { emailIds: [EXAMPLE_ID] },
      replies: { 200: changeCount },
      handler: async ({ principal, body }) => {
        const ids = possible(body.emailIds);
        if (ids.length === 0) return { status: 200, json: { count: 0 } };
        const { folderIds: inFolders } = body;
        const mailbox = mailboxes.of(principal.accountId);
        const outcome = await (inFolders === undefined
          ? mailbox.ask('remove', { emailIds: ids })
          : mailbox.ask('removeFrom', { emailIds: ids, inFolders }));
        if (outcome.reply === undefined) return refused(outcome.refusal);
        return { status: 200, json: { count: outcome.reply.removed } };
      },
    }),
  ];
}

function copyRoute(base: string, tags: readonly string[], mailboxes: Mailboxes): Route {
  return defineRoute({
    method: 'POST',
    path: `${base}/bulk/copy`,
    summary: 'Put up to 1,000 emails into another folder as well',
    description:
      'They stay where they are, and are the same emails in both folders. An email that is in the folder already does not count.',
    tags,
    access: WRITE,
    body: bulkCopy,
    example: { emailIds: [EXAMPLE_ID], folderId: 'archive' },
    replies: { 200: changeCount },
    handler: async ({ principal, body }) => {
      const payload = { selection: { emailIds: possible(body.emailIds) }, toFolderId: body.folderId };
      const outcome = await mailboxes.of(principal.accountId).ask('copy', payload);
      if (outcome.reply !== undefined) return { status: 200, json: { count: outcome.reply.count } };
      if (outcome.refusal === 'noSuchFolder') return invalid({ folderId: ['names no folder of this account'] });
      return refused(outcome.refusal);
    },
  });
}

const possible = (ids: readonly string[]): string[] => [...new Set(ids.filter(isUuid).map((id) => id.toLowerCase()))];
