// Operations on emails in folders: append, store flags, copy, move, expunge. Folders are named by id or role. A command
// takes at most 10,000 emails.
import { array, boolean, enums, integer, number, object, optional, refine, string, tuple, union } from 'superstruct';
import { messageSummary } from '../../mail/summary.js';
import { command } from '../runtime/protocol.js';

/** First and last UID, both included. */
const uidRanges = array(tuple([integer(), integer()]));

/** Emails of the account, or what a folder holds under UIDs; UIDs that it does not hold are passed over. */
const selection = union([object({ emailIds: array(string()) }), object({ folderId: string(), uids: uidRanges })]);

/**
 * The UIDs in the order of the emails: in the folder they were selected in, none when they were selected by id, and in
 * the folder where they are now.
 */
const uidsFromTo = { uidValidity: number(), from: uidRanges, to: uidRanges };

export const placementOperations = {
  /**
   * Adds a message whose blob is stored. In Sent a copy of the same Message-Id that is there, of the last day, is the
   * reply instead.
   */
  append: command({
    payload: object({
      folderId: string(),
      blob: string(),
      summary: messageSummary,
      /** ms since the epoch. */
      receivedAt: number(),
      flags: array(string()),
    }),
    reply: object({ emailId: string(), uid: integer(), uidValidity: number() }),
    refusals: ['noSuchFolder', 'noSuchFlag', 'tooManyKeywords'],
    onRepeat: 'remembered',
  }),
  /**
   * Adds or removes flags, or makes them all there are. `\Deleted` is of a placement: `noSuchFlag` for emails that are
   * selected by id. `tooManyEmails` also for fewer of them whose keywords come to 4 MiB together.
   */
  storeFlags: command({
    payload: refine(
      object({
        selection,
        mode: enums(['add', 'remove', 'replace']),
        flags: array(string()),
        /** Modseq; what was changed after it is left alone and is `modified` in the reply. For selections by UID. */
        unchangedSince: optional(number()),
      }),
      'storeFlags',
      ({ selection: by, unchangedSince }) => unchangedSince === undefined || 'uids' in by,
    ),
    /** `changed`: had other flags before; `missing`: no email of this account. */
    reply: object({ changed: integer(), missing: array(string()), modified: uidRanges }),
    refusals: ['noSuchFolder', 'noSuchFlag', 'tooManyKeywords', 'tooManyEmails'],
    onRepeat: 'remembered',
  }),
  /** An email that is in the folder already keeps its UID there. */
  copy: command({
    payload: object({ selection, toFolderId: string() }),
    /** `count`: were not there before. */
    reply: object({ count: integer(), ...uidsFromTo }),
    refusals: ['noSuchFolder', 'tooManyEmails'],
    onRepeat: 'remembered',
  }),
  /**
   * From one folder, which for UIDs is the one they are of unless another is named. Emails that are selected by id alone
   * leave every folder and keep their labels, but for Trash and Junk; into a label they leave
   * the inbox, Trash and Junk.
   */
  move: command({
    payload: object({ selection, toFolderId: string(), fromFolderId: optional(string()) }),
    /** `count`: were elsewhere before. */
    reply: object({ count: integer(), ...uidsFromTo }),
    refusals: ['noSuchFolder', 'noSuchSource', 'tooManyEmails'],
    onRepeat: 'remembered',
  }),
  /** Ends the placements that are `\Deleted`, at most 10,000 of them; an email without any other place is deleted. */
  expunge: command({
    payload: object({ folderId: string(), uids: optional(uidRanges) }),
    /** `isComplete`: no other placement is left to expunge. */
    reply: object({ uids: uidRanges, isComplete: boolean() }),
    refusals: ['noSuchFolder'],
    onRepeat: 'remembered',
  }),
};
