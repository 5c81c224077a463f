// Operations of the maildrop: the inbox as POP3 shows it, to one session at a time.
import { array, boolean, enums, integer, nullable, object, optional, string, tuple } from 'superstruct';
import { command, query } from '../runtime/protocol.js';

const lock = enums(['open', 'inUse']);

export const maildropOperations = {
  /** Takes the lock. `uidNext`: what the inbox has below it is the maildrop of the session. */
  openMaildrop: command({
    payload: object({ sessionId: string() }),
    reply: object({ kind: lock, folderId: string(), uidNext: integer() }),
    onRepeat: 'harmless',
  }),
  /** Renews the lock, or takes it again when no session has it: an owner that is new has no locks. */
  keepMaildrop: query({ payload: object({ sessionId: string() }), reply: object({ kind: lock }) }),
  /** Frees the lock, and removes nothing. */
  closeMaildrop: query({ payload: object({ sessionId: string() }), reply: object({}) }),
  /**
   * Takes messages out of the inbox, those of the UIDs that are still there and at most 10,000 of them; an email without any
   * other place is deleted. Frees the lock with the last of them. Nothing is removed while another session has the lock.
   */
  quitMaildrop: command({
    payload: object({ sessionId: string(), uids: array(tuple([integer(), integer()])), isLast: boolean() }),
    /** `isComplete`: nothing is left of these UIDs, and the lock is free when they are the last. */
    reply: object({ kind: lock, isComplete: boolean() }),
    onRepeat: 'remembered',
  }),
  /** Messages of the inbox from `fromUid` up to `belowUid`, at most `limit` and 20,000. Columns are packed (packed-columns.ts). */
  maildropPage: query({
    payload: object({ fromUid: integer(), belowUid: integer(), limit: optional(integer()) }),
    reply: object({
      /** Ascending; the others are in the same order. */
      uids: string(),
      sizes: string(),
      emailIds: string(),
      nextUid: nullable(integer()),
    }),
  }),
};
