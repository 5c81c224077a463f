// Queries of lists: a page of a folder, of what a search finds, and many such pages at once for clients that follow them
// (standing-lists.ts).
import { array, boolean, type Infer, integer, number, object, optional, string } from 'superstruct';
import { query } from '../runtime/protocol.js';
import { emailListItem, emailPage, listing } from './email-view.js';
import { searchTerm } from './folder-content-operations.js';

/** Times of search and export: ms since the epoch, both ends included. */
export const period = { from: optional(number()), to: optional(number()) };

const folderList = object({
  folder: string(),
  ...listing,
  /** Only emails whose sender address contains this, in any case. */
  fromAddress: optional(string()),
});

const foundList = object({
  /** None: any text. */
  terms: array(searchTerm),
  ...period,
  hasAttachments: optional(boolean()),
  isRead: optional(boolean()),
  isFlagged: optional(boolean()),
  /** A flag or keyword. */
  keyword: optional(string()),
  folder: optional(string()),
  page: integer(),
  pageSize: integer(),
});

/** One of `list`, `search` and `thread`; none of them is a list without emails. The emails of a thread are the oldest first. */
const listQuery = object({
  list: optional(folderList),
  search: optional(foundList),
  thread: optional(object({ threadId: string(), page: integer(), pageSize: integer() })),
});
export type ListQuery = Infer<typeof listQuery>;

const listState = object({
  /** In the order of the list. */
  emailIds: array(string()),
  /** Of the emails: an email that a list shows in another way has another version. */
  versions: array(number()),
  totalCount: integer(),
  unreadCount: integer(),
  /** The same for the same list in the same state. */
  tag: string(),
  /** Of the folder whose list it is. */
  folderId: optional(string()),
});
export type ListState = Infer<typeof listState>;

export const listOperations = {
  /** Emails of a folder (id or role); counts are of all that match. */
  list: query({ payload: folderList, reply: emailPage, refusals: ['noSuchFolder'] }),
  /** Newest first, in a folder (id or role), else over all but what is only in trash or junk; counts are of all that match. */
  search: query({ payload: foundList, reply: emailPage, refusals: ['noSuchFolder', 'searchTooLarge'] }),
  /** Which emails lists show now, and how lists show these emails. */
  lists: query({
    payload: object({
      /** `tag`: of the state that the asker knows. */
      lists: array(object({ query: listQuery, tag: optional(string()) })),
      emailIds: array(string()),
    }),
    reply: object({
      /** The lists are of this position of the log or of a later one. */
      modseq: integer(),
      /** As they were asked for; no `state`: it is the one that the asker knows. `refusal`: what the list is of does not exist, or is too large a search. */
      lists: array(object({ state: optional(listState), refusal: optional(string()) })),
      /** Those that exist, in no particular order. */
      items: array(object({ item: emailListItem, version: number() })),
    }),
  }),
};
