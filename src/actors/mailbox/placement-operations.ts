// Operations on emails in folders: append, place imported mail, store flags, copy, move, expunge, delete for good. Folders are named by id or
// role, those of an import by path. A command adds at most 1,000 messages and selects at most 10,000 emails.
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
import { messageSummary } from '../../mail-format/summary.js';
import { command } from '../runtime/protocol.js';
import { onRepeatOf, withHandle } from './message-handles.js';

/** The most messages that one command adds. */
const MOST_MESSAGES = 1_000;

/** First and last UID, both included. */
const uidRanges = array(tuple([integer(), integer()]));

/** Selects emails of the account by id, or emails of a folder by UID; UIDs that the folder does not hold are ignored. */
const selection = union([object({ emailIds: array(string()) }), object({ folderId: string(), uids: uidRanges })]);

/** HIGHESTMODSEQ of the changed folder before and after the command. */
const folderModseqs = object({ folderId: string(), before: number(), after: number() });

/**
 * UIDs in the order of the emails. `from`: in the folder where UIDs selected them, empty for a selection by id. `to`: in the folder where
 * they are now.
 */
const uidsFromTo = { uidValidity: number(), from: uidRanges, to: uidRanges, folderModseqs };

export const placementOperations = {
  /**
   * Adds messages, all or none; their UIDs have the same order. The folder is named by either `folderId` or `path`. `replaces`: the email with this UID leaves its folder in the same
   * commit. A message added to Sent replaces, once, the copy with the same Message-Id that submission made within the last day.
   */
  append: command({
    payload: object({
      folderId: optional(string()),
      path: optional(string()),
      /** The number of messages is 1 to 1,000. `receivedAt`: ms since the epoch. */
      messages: size(array(withHandle({ receivedAt: number(), flags: array(string()) })), 1, MOST_MESSAGES),
      replaces: optional(object({ folderId: string(), uid: integer() })),
    }),
    reply: object({
      uidValidity: number(),
      emails: array(object({ emailId: string(), uid: integer() })),
      folderModseqs,
    }),
    /** `noSuchEmail`: the email to replace does not exist. `unstored`: see `deliver`. */
    refusals: ['noSuchFolder', 'noSuchEmail', 'noSuchFlag', 'tooManyKeywords', 'overQuota', 'unstored'],
    onRepeat: ({ messages }) => onRepeatOf(messages[0]!),
  }),
  /**
   * Places imported mail. A repetition with the same ids places nothing again. It is not announced as new mail, and filters do not apply.
   * Missing folders are created; when the account may have no more folders, the mail goes to Archive. Keywords above the account's limit
   * are dropped.
   */
  placeImported: command({
    payload: object({
      /** The number of messages is 1 to 1,000. */
      messages: size(
        array(
          object({
            inboundId: string(),
            blob: string(),
            summary: messageSummary,
            /** ms since the epoch. */
            receivedAt: number(),
            /** The path of the folder. */
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
   * Adds, removes or replaces flags. `\Deleted` belongs to a placement: `noSuchFlag` for emails that are selected by id. `tooManyEmails`
   * also when the keywords of the emails exceed 4 MiB together.
   */
  storeFlags: command({
    payload: refine(
      object({
        selection,
        mode: enums(['add', 'remove', 'replace']),
        flags: array(string()),
        /** A modseq, only for selections by UID: emails that changed later are left alone, and `modified` lists them. */
        unchangedSince: optional(number()),
      }),
      'storeFlags',
      ({ selection: by, unchangedSince }) => unchangedSince === undefined || 'uids' in by,
    ),
    /**
     * `changed`: the number of emails whose flags changed; `missing`: ids without an email of this account. `folderModseqs`: only for
     * selections by UID; every change has the second modseq. `keywords`: the named ones as the account spells them.
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
   * Emails that are selected by UID all arrive in the folder under new UIDs, without `\Deleted`. If the folder holds the email with
   * `\Deleted`, that placement ends; if it holds it without, another email with the same message arrives (`tooManyEmails` for more than
   * 1,000 of these, or 4 MiB of their rows). The latter also happens to an email that would be in Drafts and in another folder. An email
   * that is selected by id and is already in the folder without `\Deleted` stays.
   */
  copy: command({
    payload: object({ selection, toFolderId: string() }),
    /** `count`: the number of emails that arrived. */
    reply: object({ count: integer(), ...uidsFromTo }),
    /** `overQuota`: emails would be duplicated, and there is no room for them. */
    refusals: ['noSuchFolder', 'tooManyEmails', 'overQuota'],
    onRepeat: 'remembered',
  }),
  /**
   * Moves emails out of one folder: `fromFolderId`, or for UIDs their own folder by default. They arrive as with `copy`; within the same
   * folder they get new UIDs. Emails that are selected only by id leave every folder and keep their labels, except into Trash and Junk;
   * into a label they only leave the inbox, Trash and Junk.
   */
  move: command({
    payload: object({ selection, toFolderId: string(), fromFolderId: optional(string()) }),
    /**
     * `count`: the number of emails that arrived or left another folder. Unless `isComplete`, only the first emails have moved, as many as
     * the bounds of `copy` allow; the command must be repeated for the rest.
     */
    reply: object({ count: integer(), isComplete: boolean(), ...uidsFromTo }),
    refusals: ['noSuchFolder', 'noSuchSource', 'tooManyEmails'],
    onRepeat: 'remembered',
  }),
  /** Ends placements with `\Deleted`, at most 2,500 per call; an email in no other folder is deleted. */
  expunge: command({
    payload: object({ folderId: string(), uids: optional(uidRanges) }),
    /** `isComplete`: no other placement is left to expunge. */
    reply: object({ uids: uidRanges, isComplete: boolean() }),
    refusals: ['noSuchFolder'],
    onRepeat: 'remembered',
  }),
  /** Deletes the emails with all their placements for good. `missing`: ids without an email of this account. */
  remove: command({
    payload: object({ emailIds: array(string()) }),
    reply: object({ removed: integer(), missing: array(string()) }),
    onRepeat: 'remembered',
  }),
  /**
   * Deletes emails that are in one of some folders, at most 20 ids or roles: an email that another folder shows leaves these folders, any
   * other is deleted for good. Emails that these folders do not show stay. It is not a member of `remove`, because owners of 0.2.0 would
   * ignore that member and delete everything.
   */
  removeFrom: command({
    payload: object({ emailIds: array(string()), inFolders: size(array(string()), 1, 20) }),
    /** `removed`: the number of emails that have left the folders; `missing`: ids without an email of this account. */
    reply: object({ removed: integer(), missing: array(string()) }),
    onRepeat: 'remembered',
  }),
};
