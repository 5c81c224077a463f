// Queries of what folders hold, for clients that keep a copy of a folder and ask what has changed since (IMAP). Folders are
// named by id or by the role of one that every account has. Columns are packed (packed-columns.ts).
import { array, boolean, enums, integer, nullable, number, object, optional, string } from 'superstruct';
import { FOLDER_ROLES } from '../../store/mailbox-rows.js';
import { SEARCH_PARTS } from '../../store/search.js';
import { query } from '../runtime/protocol.js';

/** mail/search-text SearchTerm. */
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
   * What changed in a folder after the modseq `since`, or everything: `since` is null, or is older than what is known of
   * expunged UIDs. A reply is about the UIDs from `fromUid` up to `nextUid`, where the next page begins; null: up to the end.
   * All pages of one question have the same `since`. Whoever has read several pages asks next what changed since the `modseq`
   * of the first page, and starts anew when `isWhole` of a later page differs from that of the first.
   */
  folderChanges: query({
    payload: object({
      folderId: string(),
      since: nullable(number()),
      fromUid: optional(integer()),
      /** Messages of a page, and expunged UIDs; 20,000 at most. */
      limit: optional(integer()),
    }),
    reply: object({
      folderId: string(),
      uidValidity: number(),
      uidNext: integer(),
      /** HIGHESTMODSEQ of the folder. */
      modseq: number(),
      /** Messages in the folder. */
      total: integer(),
      /** Messages are all that there are, not only the changed ones, and `expunged` is empty. */
      isWhole: boolean(),
      /** Ascending; `flags` and `modseqs` are in the same order. */
      uids: string(),
      flags: string(),
      modseqs: string(),
      /** Messages that have the same keywords; messages without keywords are in none. */
      keywords: array(object({ names: array(string()), uids: string() })),
      /** UIDs that left the folder after `since`, ascending. */
      expunged: string(),
      nextUid: nullable(integer()),
    }),
    refusals: ['noSuchFolder'],
  }),
  /** Messages in which all terms match; every message when there are no terms. Emails that are not indexed yet are indexed first. */
  searchFolder: query({
    payload: object({
      folderId: string(),
      terms: array(searchTerm),
      /** `body`: words of the body and of names of attachments alone. */
      part: enums(SEARCH_PARTS),
    }),
    /** UIDs, ascending. */
    reply: object({ uids: string() }),
    refusals: ['noSuchFolder', 'searchTooLarge'],
  }),
  /** Of these folders in this order, those that are not there left out; else of all, those of the system first, the others by path. */
  folderStatus: query({
    payload: object({ folderIds: optional(array(string())), withSizes: optional(boolean()) }),
    reply: object({ folders: array(folderStatus) }),
  }),
};
