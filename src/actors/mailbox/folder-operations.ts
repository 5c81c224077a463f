// Operations on folders; labels are folders too. A folder's path is unique in the account, without regard to case; the levels of a name
// have a valid form (mail/folder-name).
import { array, boolean, enums, type Infer, integer, nullable, object, optional, string } from 'superstruct';
import { FOLDER_ROLES } from '../../store/mailbox-rows.js';
import { command, query } from '../runtime/protocol.js';

const folder = object({
  id: string(),
  /** The whole path. */
  path: string(),
  /** The part of the path below the parent folder (`parentId`); the whole path at the top level. */
  name: string(),
  role: enums(FOLDER_ROLES),
  parentId: nullable(string()),
  total: integer(),
  unread: integer(),
  /** Only labels have one. */
  color: nullable(string()),
  isSubscribed: boolean(),
});
export type Folder = Infer<typeof folder>;

const done = object({});
/** `isComplete` is false when the folder still exists, with fewer emails: the command must be repeated. */
export const deleted = object({ isComplete: optional(boolean()) });

export const folderOperations = {
  createFolder: command({
    /** `name` is one level below a parent, or a path. */
    payload: object({ name: string(), parentId: optional(nullable(string())), role: enums(['folder', 'label']) }),
    reply: folder,
    refusals: ['noSuchParent', 'nameTaken', 'nameTooLong', 'tooMany'],
    onRepeat: 'remembered',
  }),
  /** Renames a folder and all folders below it. Without `parentId` it stays below its parent; null moves it to the top level. */
  /** `nameHasSlash`: slashes are refused, except in the name that the folder already has. */
  renameFolder: command({
    payload: object({
      folderId: string(),
      name: string(),
      parentId: optional(nullable(string())),
      /** `name` may have several levels; the folders of the upper levels need not exist. */
      isPath: optional(boolean()),
      isSubscribed: optional(boolean()),
    }),
    reply: done,
    refusals: [
      'noSuchFolder',
      'systemFolder',
      'noSuchParent',
      'intoItself',
      'nameTaken',
      'nameTooLong',
      'nameHasSlash',
    ],
    onRepeat: 'remembered',
  }),
  /**
   * Moves the emails of the inbox into a new label, with their `\Deleted`; the inbox stays (RFC 9051 §6.3.6). Moves at most 10,000 emails:
   * unless `isComplete`, the next call passes the label as `folderId` and moves more.
   */
  renameInbox: command({
    payload: object({ name: string(), folderId: optional(string()) }),
    reply: object({ folderId: string(), isComplete: boolean() }),
    refusals: ['noSuchFolder', 'nameTaken', 'nameTooLong', 'tooMany'],
    onRepeat: 'remembered',
  }),
  /**
   * Moves emails that are in no other folder to Archive. Without `withInferiors`, folders below it stay. With `keepsSubscription`, a
   * subscribed name stays subscribed.
   */
  deleteFolder: command({
    payload: object({ folderId: string(), withInferiors: boolean(), keepsSubscription: optional(boolean()) }),
    reply: deleted,
    refusals: ['noSuchFolder', 'systemFolder'],
    onRepeat: 'remembered',
  }),
  subscribeFolder: command({
    payload: object({ folderId: string(), isSubscribed: boolean() }),
    reply: done,
    refusals: ['noSuchFolder'],
    onRepeat: 'remembered',
  }),
  /** Ends a subscription that remained when its folder was deleted. */
  forgetSubscription: command({
    payload: object({ path: string() }),
    reply: done,
    refusals: [],
    onRepeat: 'remembered',
  }),
  /**
   * Returns system folders first, the others by path. `near`: only those whose path has the same first level as this path, so all above and
   * below it. `subscriptions`: subscribed names of folders that were deleted.
   */
  folders: query({
    payload: object({ near: optional(string()) }),
    reply: object({ folders: array(folder), subscriptions: optional(array(string())) }),
  }),
  /** Finds the folder with this path, without regard to case; null when there is none. */
  folderAt: query({ payload: object({ path: string() }), reply: object({ folderId: nullable(string()) }) }),
};
