// Completions of commands that failed: one exhaustive table for refusals of a mailbox, one for kinds of
// fault (RFC 5530). A new refusal or kind does not compile until IMAP has a completion for it. Texts are fixed: none repeats
// input of the client.
import { type FaultKind, faultKind, type MailboxRefusal } from '../faults.js';
import { bad, type Completion, no, Refused } from './completion.js';
import { CommandSyntaxError } from './wire/command-reader.js';

const BUG = no('Internal error', 'SERVERBUG');
const BUSY = no('Temporary failure, try again later', 'UNAVAILABLE');
const FULL = no('The server has no room for this now, try again later', 'LIMIT');

const REFUSALS: Readonly<Record<MailboxRefusal, Completion>> = {
  noSuchFolder: no('There is no such mailbox', 'NONEXISTENT'),
  noSuchParent: no('There is no such superior mailbox', 'NONEXISTENT'),
  noSuchSource: no('There is no such mailbox', 'NONEXISTENT'),
  noSuchEmail: no('The message is gone', 'EXPUNGEISSUED'),
  nameTaken: no('There is a mailbox of this name', 'ALREADYEXISTS'),
  nameTooLong: no('The name is too long or has too many levels', 'LIMIT'),
  nameHasSlash: no('The name has the hierarchy separator', 'CANNOT'),
  systemFolder: no('This mailbox cannot be changed', 'CANNOT'),
  intoItself: no('A mailbox cannot become its own inferior', 'CANNOT'),
  tooMany: no('The account has too many mailboxes', 'LIMIT'),
  tooLarge: no('The name of an annotation is too long, or the annotations of the account are too large', 'LIMIT'),
  tooManyEmails: no('Too many messages for one command', 'LIMIT'),
  tooManyRuns: no('The account has too many runs of filters', 'LIMIT'),
  noSuchRun: no('There is no such run of a filter', 'NONEXISTENT'),
  tooManyExpressions: no('The account has too many filters with regular expressions', 'LIMIT'),
  overQuota: no('The mailbox is full', 'OVERQUOTA'),
  tooManyKeywords: no('The account has too many keywords', 'LIMIT'),
  searchTooLarge: no('Too many messages have these words for a search, search for words that fewer have', 'LIMIT'),
  noSuchFlag: no('A flag is neither a system flag nor a valid keyword', 'CANNOT'),
  // Refusals of operations that IMAP never calls.
  noSuchLabel: BUG,
  noSuchScript: BUG,
  scriptActive: BUG,
  scriptExists: BUG,
  tooManyScripts: BUG,
  scriptTooLarge: BUG,
  noSuchFilter: BUG,
  noSuchThread: BUG,
  noSuchOutbound: BUG,
  noSuchSuppression: BUG,
  draftChanged: BUG,
  outboundUnderWay: BUG,
  sendingSuspended: BUG,
  overLimit: BUG,
  overMessageLimit: BUG,
  notUnclaimed: BUG,
  attemptUnderWay: BUG,
  unstored: BUG,
};

const FAULTS: Readonly<Record<FaultKind, Completion>> = {
  unavailable: BUSY,
  'no-room': FULL,
  'no-account': BUSY,
  failed: BUG,
  bug: BUG,
};

/** `role` says that the mailbox is the target of messages; the client may create it (RFC 9051 §6.3.12). */
export function refusalCompletion(refusal: MailboxRefusal, role?: 'target'): Completion {
  if (role === 'target' && refusal === 'noSuchFolder') return no('There is no such mailbox', 'TRYCREATE');
  return REFUSALS[refusal] ?? BUG;
}

/** Returns the completion of a command that threw an error. */
export function completionOf(error: unknown): Completion {
  if (error instanceof Refused) return error.completion;
  if (error instanceof CommandSyntaxError) return bad(error.message);
  return FAULTS[faultKind(error)];
}

/** Tells whether the error is a fault of this program, which is logged with its stack. */
export function isBug(error: unknown): boolean {
  return completionOf(error) === BUG;
}
