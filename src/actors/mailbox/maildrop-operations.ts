// Operations of the maildrop: the inbox as POP3 shows it, to one session at a time.
import { array, boolean, enums, integer, nullable, object, optional, string, tuple } from 'superstruct';
import { command, query } from '../runtime/protocol.js';

const lock = enums(['open', 'inUse']);

export const maildropOperations = {
  /** Acquires the lock. The maildrop of the session consists of the emails of the inbox whose UIDs are below `uidNext`. */
  openMaildrop: command({
    payload: object({ sessionId: string() }),
    reply: object({ kind: lock, folderId: string(), uidNext: integer() }),
    onRepeat: 'harmless',
  }),
  /** Renews the lock, or acquires it when no session has it: a new owner has no locks. */
  keepMaildrop: query({ payload: object({ sessionId: string() }), reply: object({ kind: lock }) }),
  /** Releases the lock and removes nothing. */
  closeMaildrop: query({ payload: object({ sessionId: string() }), reply: object({}) }),
  /**
   * Removes the messages with these UIDs from the inbox, at most 10,000; an email in no other folder is deleted. Releases the lock after
   * the last of them. Removes nothing while another session has the lock.
   */
  quitMaildrop: command({
    payload: object({ sessionId: string(), uids: array(tuple([integer(), integer()])), isLast: boolean() }),
    /** `isComplete`: none of these UIDs is left, and if `isLast` was set, the lock is released. */
    reply: object({ kind: lock, isComplete: boolean() }),
    onRepeat: 'remembered',
  }),
  /** Messages of the inbox from `fromUid` to below `belowUid`, at most `limit` and 20,000. Columns are packed (packed-columns.ts). */
  maildropPage: query({
    payload: object({ fromUid: integer(), belowUid: integer(), limit: optional(integer()) }),
    reply: object({
      /** Ascending; the other columns have the same order. */
      uids: string(),
      sizes: string(),
      emailIds: string(),
      nextUid: nullable(integer()),
    }),
  }),
};
