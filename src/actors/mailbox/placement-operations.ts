// Operations on emails in folders: append, place imported mail, store flags, copy, move, expunge. Folders are named by id or role,
// those of an import by path. A command adds at most 1,000 messages, and takes at most 10,000 emails.
import {
  array,
  boolean,
  enums,
  integer,
  number,
  object,
  optional,
  refine,
  size,
  string,
  tuple,
  union,
} from 'superstruct';
import { messageSummary } from '../../mail/summary.js';
import { command } from '../runtime/protocol.js';

/** Messages that one command appends. */
const MOST_MESSAGES = 1_000;

/** First and last UID, both included. */
const uidRanges = array(tuple([integer(), integer()]));

/** Emails of the account, or what a folder holds under UIDs; UIDs that it does not hold are passed over. */
const selection = union([object({ emailIds: array(string()) }), object({ folderId: string(), uids: uidRanges })]);

/** HIGHESTMODSEQ of the folder that the command changed, before it and after it. */
const folderModseqs = object({ folderId: string(), before: number(), after: number() });

/**
 * The UIDs in the order of the emails: in the folder they were selected in, none when they were selected by id, and in
 * the folder where they are now.
 */
const uidsFromTo = { uidValidity: number(), from: uidRanges, to: uidRanges, folderModseqs };

export const placementOperations = {
  /**
   * Adds messages whose blobs are stored, all or none of them; UIDs are in their order. With `replaces` the email that has this
   * UID leaves its folder in the same commit. A message that comes to Sent takes the place of the copy that submission made of
   * the same Message-Id within the last day, once.
   */
  append: command({
    payload: object({
      folderId: string(),
      /** One at least, 1,000 at most. */
      messages: size(
        array(
          object({
            blob: string(),
            summary: messageSummary,
            /** ms since the epoch. */
            receivedAt: number(),
            flags: array(string()),
          }),
        ),
        1,
        MOST_MESSAGES,
      ),
      replaces: optional(object({ folderId: string(), uid: integer() })),
    }),
    reply: object({
      uidValidity: number(),
      emails: array(object({ emailId: string(), uid: integer() })),
      folderModseqs,
    }),
    /** `noSuchEmail`: the email to replace is not there. */
    refusals: ['noSuchFolder', 'noSuchEmail', 'noSuchFlag', 'tooManyKeywords'],
    onRepeat: 'remembered',
  }),
  /** As `append`, of inline messages, which are not stored yet: see `deliverInline`. */
  appendInline: command({
    payload: object({
      inlineId: string(),
      folder: union([object({ folderId: string() }), object({ path: string() })]),
      /** One list per message, in their order. */
      flags: array(array(string())),
      replaces: optional(object({ folderId: string(), uid: integer() })),
    }),
    reply: object({ isAccepted: boolean() }),
    refusals: ['noSuchFolder', 'noSuchEmail', 'noSuchFlag', 'tooManyKeywords'],
    onRepeat: 'harmless',
  }),
  /**
   * Places imported mail. Repeating it with the same ids places nothing again. Nobody is told of new mail, and no filter looks at
   * it. Folders that are missing are made; when the account may have no more, the mail goes to Archive. Keywords beyond those
   * that an account may have are left out.
   */
  placeImported: command({
    payload: object({
      /** One at least, 1,000 at most. */
      messages: size(
        array(
          object({
            inboundId: string(),
            blob: string(),
            summary: messageSummary,
            /** ms since the epoch. */
            receivedAt: number(),
            /** Path of the folder. */
            folder: string(),
            label: optional(string()),
            flags: array(string()),
          }),
        ),
        1,
        MOST_MESSAGES,
      ),
    }),
    reply: object({ placed: integer() }),
    onRepeat: 'harmless',
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
    /**
     * `changed`: had other flags before; `missing`: no email of this account. `folderModseqs`: for selections by UID; all that is
     * changed in the folder is at the second. `keywords`: those that were named, as the account spells them.
     */
    reply: object({
      changed: integer(),
      missing: array(string()),
      modified: uidRanges,
      folderModseqs: optional(folderModseqs),
      keywords: optional(array(string())),
    }),
    refusals: ['noSuchFolder', 'noSuchFlag', 'tooManyKeywords', 'tooManyEmails'],
    onRepeat: 'remembered',
  }),
  /**
   * Emails that are selected by UIDs all arrive in the folder under new UIDs, without `\Deleted`: a placement of the email that is
   * marked `\Deleted` there ends; for one that is unmarked there another email with its message arrives (`tooManyEmails` for more
   * than 1,000 of these, or 4 MiB of their rows). So it does for an email that would be in Drafts and in another folder. An email that is
   * selected by id and is in the folder unmarked stays as it is.
   */
  copy: command({
    payload: object({ selection, toFolderId: string() }),
    /** `count`: have arrived. */
    reply: object({ count: integer(), ...uidsFromTo }),
    refusals: ['noSuchFolder', 'tooManyEmails'],
    onRepeat: 'remembered',
  }),
  /**
   * From one folder, which for UIDs is the one they are of unless another is named; they arrive as with `copy`, and within their own
   * folder have new UIDs. Emails that are selected by id alone leave every folder and keep their labels, but for Trash and Junk; into a
   * label they leave the inbox, Trash and Junk.
   */
  move: command({
    payload: object({ selection, toFolderId: string(), fromFolderId: optional(string()) }),
    /**
     * `count`: have arrived, or have left another folder. Not `isComplete`: the first of the emails have moved, with as many others as
     * `copy` makes at most; the rest moves when the command is given again.
     */
    reply: object({ count: integer(), isComplete: boolean(), ...uidsFromTo }),
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
