// Folders: the system folders of every account, the folders that users create, and labels, which are folders too. Folders nest; a name is
// one level of a path.
import type { Infer } from 'superstruct';
import { nullable, optional } from 'superstruct';
import type { Folder, Mailboxes } from '../../../../actors/mailbox/protocol.js';
import { LONGEST_LEVEL, levelName, shownName } from '../../../../mail-format/folder-name.js';
import { isUuid } from '../../../../mail-format/ids.js';
import { choice, flag, idParameter, list, record, text, uuid, whole } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { invalid, refused } from '../../problem.js';
import { defineRoute, EMPTY, READ, type Route, WRITE } from '../../route.js';
import {
  colorText,
  emailPage,
  grouping,
  isUngroupable,
  listing,
  listingOf,
  pageOf,
  ungroupable,
} from '../emails/email-shapes.js';
import { folderPathParameter, SYSTEM_FOLDERS } from './folder-parameters.js';
import { nameField } from './name-field.js';

const folder = named(
  'Folder',
  record({
    id: uuid(),
    name: text(),
    role: choice(...SYSTEM_FOLDERS, 'label', 'folder'),
    parentId: nullable(uuid({ description: 'Id of the folder above it; null at the top' })),
    total: whole({ description: 'Emails in it' }),
    unread: whole({ description: 'Unread emails in it' }),
    color: nullable(colorText()),
    isSubscribed: flag({ description: 'Whether mail programs show it as subscribed' }),
  }),
);

const input = {
  name: nameField(levelName, { minLength: 1, maxLength: LONGEST_LEVEL }),
  parentId: optional(nullable(text({ format: 'uuid', description: 'Id of the folder above it' }))),
};
const NOTES = {
  description: 'Names are unique below one parent, without case. A path has at most 1,000 characters and 20 levels',
};
const newFolder = named('NewFolder', record(input), NOTES);
const changedFolder = named(
  'ChangedFolder',
  record({
    ...input,
    name: nameField(shownName, { minLength: 1, maxLength: 1_000 }),
    isSubscribed: optional(flag()),
  }),
  NOTES,
);

type Fault = 'noSuchParent' | 'intoItself' | 'nameTaken' | 'nameTooLong' | 'nameHasSlash' | 'tooMany' | 'systemFolder';
const FAULTS: Readonly<Record<Fault, () => ReturnType<typeof invalid>>> = {
  noSuchParent: () => invalid({ parentId: ['names no folder of this account'] }),
  intoItself: () => invalid({ parentId: ['names the folder itself or one below it'] }),
  nameTaken: () => invalid({ name: ['is the name of another folder or label'] }),
  nameTooLong: () => invalid({ name: ['makes a path of more than 1,000 characters or 20 levels'] }),
  nameHasSlash: () => invalid({ name: ['must have no slashes'] }),
  tooMany: () => invalid({ name: ['there are as many folders as an account may have'] }),
  systemFolder: () => invalid({ id: ['names a folder that every account has'] }),
};

export function folderRoutes(base: string, tags: readonly string[], mailboxes: Mailboxes): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: base,
      summary: 'Folders and labels: those that every account has first, then the others by path',
      tags,
      access: READ,
      replies: { 200: list(folder) },
      handler: async ({ principal }) => {
        const outcome = await mailboxes.of(principal.accountId).ask('folders', {});
        if (outcome.reply === undefined) return refused(outcome.refusal);
        return { status: 200, json: outcome.reply.folders.map(shown) };
      },
    }),
    defineRoute({
      method: 'POST',
      path: base,
      summary: 'Make a folder',
      tags,
      access: WRITE,
      body: newFolder,
      example: { name: 'Projects' },
      replies: { 201: folder },
      handler: async ({ principal, body }) => {
        const { name, parentId = null } = body;
        if (parentId !== null && !isUuid(parentId)) return FAULTS.noSuchParent();
        const payload = { name, parentId: parentId?.toLowerCase() ?? null, role: 'folder' as const };
        const outcome = await mailboxes.of(principal.accountId).ask('createFolder', payload);
        if (outcome.reply === undefined) return FAULTS[outcome.refusal]();
        return { status: 201, json: shown(outcome.reply) };
      },
    }),
    defineRoute({
      method: 'PUT',
      path: `${base}/{id}`,
      summary: 'Rename or move a folder, with everything below it',
      description: 'Without `parentId` it stays where it is; null moves it to the top.',
      tags,
      access: WRITE,
      params: { id: idParameter() },
      body: changedFolder,
      example: { name: 'Projects 2026', parentId: null },
      replies: { 204: EMPTY },
      handler: async ({ principal, params, body }) => {
        const { name, parentId, isSubscribed } = body;
        if (typeof parentId === 'string' && !isUuid(parentId)) return FAULTS.noSuchParent();
        const payload = {
          folderId: params.id,
          name,
          ...(parentId !== undefined && { parentId: parentId?.toLowerCase() ?? null }),
          ...(isSubscribed !== undefined && { isSubscribed }),
        };
        const { refusal } = await mailboxes.of(principal.accountId).ask('renameFolder', payload);
        if (refusal === undefined) return { status: 204 };
        return refusal === 'noSuchFolder' ? refused(refusal) : FAULTS[refusal]();
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: `${base}/{id}`,
      summary: 'Delete a folder and everything below it; emails without another place go to Archive',
      tags,
      access: WRITE,
      params: { id: idParameter() },
      replies: { 204: EMPTY },
      problems: [400],
      handler: async ({ principal, params }) => {
        const payload = { folderId: params.id, withInferiors: true };
        const mailbox = mailboxes.of(principal.accountId);
        let outcome = await mailbox.ask('deleteFolder', payload);
        while (outcome.reply?.isComplete === false) outcome = await mailbox.ask('deleteFolder', payload);
        const { refusal } = outcome;
        if (refusal === undefined) return { status: 204 };
        return refusal === 'noSuchFolder' ? refused(refusal) : FAULTS[refusal]();
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${base}/{id}/emails`,
      summary: 'Emails in a folder, newest first unless `sort` says otherwise',
      description: 'Folders that every account has can be named by their role too, such as `archive`.',
      tags,
      access: READ,
      params: { id: folderPathParameter() },
      query: { ...listing, ...grouping },
      replies: { 200: emailPage },
      problems: [400],
      handler: async ({ principal, params, query }) => {
        if (isUngroupable(query)) return ungroupable();
        const payload = { folder: params.id, ...listingOf(query) };
        const outcome = await mailboxes.of(principal.accountId).ask('list', payload);
        if (outcome.reply === undefined) return refused(outcome.refusal);
        return { status: 200, json: pageOf(outcome.reply, query) };
      },
    }),
  ];
}

const shown = ({ path: _, ...rest }: Folder): Infer<typeof folder> => rest;
