// Queries of the contents of folders, for clients that keep a copy of a folder and ask what has changed (IMAP). Folders are named by id or,
// for system folders, by role. Columns are packed (packed-columns.ts).
import { array, boolean, enums, integer, nullable, number, object, optional, string } from 'superstruct';
import { FOLDER_ROLES } from '../../store/mailbox-rows.js';
import { SEARCH_PARTS } from '../../store/search.js';
import { query } from '../runtime/protocol.js';

/** The fields of SearchTerm in mail/words/search-text. */
export const searchTerm = object({ words: array(string()), prefix: boolean() });

const folderStatus = object({
  id: string(),
  path: string(),
  role: enums(FOLDER_ROLES),
  uidValidity: number(),
  uidNext: integer(),
  total: integer(),
  unread: integer(),
  /** Messages with `\Deleted`. */
  deleted: integer(),
  modseq: number(),
  isSubscribed: boolean(),
  /** Octets of all messages. */
  size: optional(number()),
  /** Octets of the messages with `\Deleted`. */
  deletedSize: optional(number()),
});

export const folderContentOperations = {
  /**
   * Returns what changed in a folder after the modseq `since`, or all messages when `since` is null or is older than the known expunged
   * UIDs. A reply covers the UIDs from `fromUid` up to `nextUid`, where the next page begins; null: up to the end. All pages of one
   * question have the same `since`. A client that has read several pages passes the `modseq` of the first page as the next `since`, and
   * starts again when `isWhole` of a later page differs from that of the first.
   */
  folderChanges: query({
    payload: object({
      folderId: string(),
      since: nullable(number()),
      fromUid: optional(integer()),
      /** The most messages, and the most expunged UIDs, of a page; at most 20,000. */
      limit: optional(integer()),
    }),
    reply: object({
      folderId: string(),
      uidValidity: number(),
      uidNext: integer(),
      /** HIGHESTMODSEQ of the folder. */
      modseq: number(),
      /** The number of messages in the folder. */
      total: integer(),
      /** True when `uids` lists all messages, not only the changed ones; `expunged` is empty then. */
      isWhole: boolean(),
      /** Ascending; `flags` and `modseqs` are in the same order. */
      uids: string(),
      flags: string(),
      modseqs: string(),
      /** Groups of messages that have the same keywords; messages without keywords are in no group. */
      keywords: array(object({ names: array(string()), uids: string() })),
      /** UIDs that left the folder after `since`, ascending. */
      expunged: string(),
      nextUid: nullable(integer()),
    }),
    refusals: ['noSuchFolder'],
  }),
  /**
   * Returns the messages in which all terms match; all messages when there are no terms. Emails that are not indexed yet are indexed first.
   */
  searchFolder: query({
    payload: object({
      folderId: string(),
      terms: array(searchTerm),
      /** `body`: only words of the body and of names of attachments match. */
      part: enums(SEARCH_PARTS),
    }),
    /** UIDs, ascending. */
    reply: object({ uids: string() }),
    refusals: ['noSuchFolder', 'searchTooLarge'],
  }),
  /**
   * Returns these folders in this order, without those that do not exist, or the folder with this path, without regard to case; by default
   * all folders, system folders first, the others by path. An owner that does not know `path` returns all folders.
   */
  folderStatus: query({
    payload: object({
      folderIds: optional(array(string())),
      path: optional(string()),
      withSizes: optional(boolean()),
    }),
    reply: object({ folders: array(folderStatus) }),
  }),
};
