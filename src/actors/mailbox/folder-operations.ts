// Operations on folders and labels as folders. A folder's path is unique in the account, whatever the case; the levels of
// a name are of a valid form (mail/folder-name).
import { array, boolean, enums, type Infer, integer, nullable, object, optional, string } from 'superstruct';
import { FOLDER_ROLES } from '../../store/mailbox-rows.js';
import { command, query } from '../runtime/protocol.js';

const folder = object({
  id: string(),
  /** Whole path. */
  path: string(),
  /** The part of the path below the folder's superior, which is `parentId`; all of it at the top. */
  name: string(),
  role: enums(FOLDER_ROLES),
  parentId: nullable(string()),
  total: integer(),
  unread: integer(),
  /** Labels have one. */
  color: nullable(string()),
  isSubscribed: boolean(),
});
export type Folder = Infer<typeof folder>;

const done = object({});
/** `isComplete` is false when the folder is still there, with fewer emails: the command is to be given again. */
export const deleted = object({ isComplete: optional(boolean()) });

export const folderOperations = {
  createFolder: command({
    /** `name` is one level below a parent, or a path. */
    payload: object({ name: string(), parentId: optional(nullable(string())), role: enums(['folder', 'label']) }),
    reply: folder,
    refusals: ['noSuchParent', 'nameTaken', 'nameTooLong', 'tooMany'],
    onRepeat: 'remembered',
  }),
  /** With all that is below it. Without `parentId` it stays where it is; null moves it to the top. */
  /** `nameHasSlash`: only the name by which the folder is shown already may have slashes. */
  renameFolder: command({
    payload: object({
      folderId: string(),
      name: string(),
      parentId: optional(nullable(string())),
      /** `name` may have several levels; those above the folder need not exist. */
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
   * Moves the emails of the inbox into a new label, `\Deleted` ones as such; the inbox stays (RFC 9051 §6.3.6). At most 10,000 emails: unless `isComplete`, the next call names the label as `folderId` and moves more.
   */
  renameInbox: command({
    payload: object({ name: string(), folderId: optional(string()) }),
    reply: object({ folderId: string(), isComplete: boolean() }),
    refusals: ['noSuchFolder', 'nameTaken', 'nameTooLong', 'tooMany'],
    onRepeat: 'remembered',
  }),
  /**
   * Emails that had no other place are in Archive afterwards. Without `withInferiors` what is below it stays. With `keepsSubscription`
   * its name stays subscribed when it is.
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
  /** Ends a subscription that was kept when its folder was deleted. */
  forgetSubscription: command({
    payload: object({ path: string() }),
    reply: done,
    refusals: [],
    onRepeat: 'remembered',
  }),
  /** Those of the system first, the others by path. `subscriptions`: subscribed names of folders that were deleted. */
  folders: query({
    payload: object({}),
    reply: object({ folders: array(folder), subscriptions: optional(array(string())) }),
  }),
  /** The folder that has this path, whatever the case; null when there is none. */
  folderAt: query({ payload: object({ path: string() }), reply: object({ folderId: nullable(string()) }) }),
};
