// Queries of lists: a page of a folder, a page of a search, and many such pages at once for clients that follow lists (standing-lists.ts).
import { array, boolean, enums, type Infer, integer, number, object, optional, string } from 'superstruct';
import { SEARCH_FIELDS } from '../../mail-format/words/search-text.js';
import { query } from '../runtime/protocol.js';
import { searchTerm } from './folder-content-operations.js';
import { emailListItem, emailPage, listing } from './view-shapes.js';

/** The period of a search or an export: ms since the epoch, both ends included. */
export const period = { from: optional(number()), to: optional(number()) };

const folderList = object({
  folder: string(),
  ...listing,
  /** Only emails whose sender address contains this text, without regard to case. */
  fromAddress: optional(string()),
  /** A row per thread, at the place of its newest email; only in orders by date, and without `fromAddress`. `unreadCount` counts emails. */
  groupByThread: optional(boolean()),
});

const criteria = {
  /** An empty array matches any text. */
  terms: array(searchTerm),
  /** Terms that fields of the header must have. */
  fields: optional(array(object({ field: enums(SEARCH_FIELDS), terms: array(searchTerm) }))),
  ...period,
  hasAttachments: optional(boolean()),
  isRead: optional(boolean()),
  isFlagged: optional(boolean()),
  /** A flag or keyword. */
  keyword: optional(string()),
  /** Octets. */
  minSize: optional(number()),
  /** Ids of labels that the emails have. */
  labels: optional(array(string())),
  folder: optional(string()),
  /** Without a folder: emails that are only in Trash or Junk are found too. */
  anywhere: optional(boolean()),
};
/** An email in the order by time: `receivedAt` in ms since the epoch. */
const place = object({ receivedAt: number(), id: string() });

const foundList = object({ ...criteria, page: integer(), pageSize: integer() });

/** At most one of `list`, `search` and `thread` is set; without any, the list is empty. Emails of a thread are sorted oldest first. */
const listQuery = object({
  list: optional(folderList),
  search: optional(foundList),
  thread: optional(object({ threadId: string(), page: integer(), pageSize: integer() })),
});
export type ListQuery = Infer<typeof listQuery>;

const listState = object({
  /** Sorted as in the list. */
  emailIds: array(string()),
  /** One version per email: it changes when lists show the email differently. */
  versions: array(number()),
  totalCount: integer(),
  unreadCount: integer(),
  /** Equal for the same list in the same state. */
  tag: string(),
  /** The folder of the list. */
  folderId: optional(string()),
});
export type ListState = Infer<typeof listState>;

export const listOperations = {
  /** Emails of a folder (id or role); the counts cover all matches. */
  list: query({ payload: folderList, reply: emailPage, refusals: ['noSuchFolder'] }),
  /**
   * Newest first, in a folder (id or role), or in all folders except emails that are only in Trash or Junk; the counts cover all matches.
   */
  search: query({ payload: foundList, reply: emailPage, refusals: ['noSuchFolder', 'searchTooLarge', 'noSuchLabel'] }),
  /**
   * The newest emails that a search finds or a list by thread has, at most 20,000, with what actions change of them. The total covers all
   * matches, with `before` those that are older.
   */
  foundEmails: query({
    payload: object({
      ...criteria,
      /** The emails are those of the rows of a list by thread, whole rows; only with `folder`, `isRead` and `isFlagged`, which choose rows. */
      groupByThread: optional(boolean()),
      /** Ids of emails: with `groupByThread`, only the rows that have one of them, read or not. */
      rowsOf: optional(array(string())),
      /** Only emails, or rows by their newest emails, that are older than this one; an owner of 0.2.0 gives the newest ones again. */
      before: optional(place),
    }),
    reply: object({
      totalCount: integer(),
      /** Emails that are alike. `ids`: 16 octets each, in base64, newest first. */
      groups: array(object({ ids: string(), isRead: boolean(), isFlagged: boolean(), folderIds: array(string()) })),
      /**
       * With `groupByThread`, the rows of several emails: the positions of these emails in the ids of all groups, read one after the other,
       * the newest email first.
       */
      threads: optional(array(array(integer()))),
      /** There are older ones: `before` of the query that goes on. */
      next: optional(place),
    }),
    refusals: ['noSuchFolder', 'noSuchLabel', 'searchTooLarge'],
  }),
  /** Returns the emails that lists show now, and list items for these emails. */
  lists: query({
    payload: object({
      /** `tag`: the state that the caller already has. */
      lists: array(object({ query: listQuery, tag: optional(string()) })),
      emailIds: array(string()),
      /** A folder (id or role): the items are rows of its threads, whose newest emails are `emailIds`. */
      threadsOf: optional(string()),
    }),
    reply: object({
      /** The lists reflect this position of the log or a later one. */
      modseq: integer(),
      /**
       * Sorted as in the request; without `state` the caller's state is current. `refusal`: the folder, label or thread does not exist, or the
       * search is too large.
       */
      lists: array(object({ state: optional(listState), refusal: optional(string()) })),
      /** The emails that exist, in no particular order. */
      items: array(object({ item: emailListItem, version: number() })),
    }),
  }),
};
