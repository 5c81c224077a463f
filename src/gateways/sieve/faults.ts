// Replies to commands that failed: one exhaustive table for kinds of fault, and one for the refusals of a mailbox (RFC 5804 §1.3). Texts are
// fixed: none repeats input of the client.
import { type FaultKind, faultKind, type MailboxRefusal } from '../faults.js';
import { no, type SieveReply } from './replies.js';

const BUG = no('Internal error');
const BUSY = no('Temporary failure, try again later', 'TRYLATER');
export const TOO_LARGE = no('The script is too large, or the scripts of the account are', 'QUOTA/MAXSIZE');

const FAULTS: Readonly<Record<FaultKind, SieveReply>> = {
  unavailable: BUSY,
  'no-room': BUSY,
  'no-account': no('The account is gone'),
  failed: BUG,
  bug: BUG,
};

const REFUSALS: Readonly<Partial<Record<MailboxRefusal, SieveReply>>> = {
  noSuchScript: no('There is no such script', 'NONEXISTENT'),
  scriptExists: no('There is a script of this name', 'ALREADYEXISTS'),
  scriptActive: no('The script is active', 'ACTIVE'),
  tooManyScripts: no('The account has too many scripts', 'QUOTA/MAXSCRIPTS'),
  scriptTooLarge: TOO_LARGE,
};

/** Returns the reply to a command that the mailbox has refused. */
export function refused(refusal: MailboxRefusal): SieveReply {
  return REFUSALS[refusal] ?? BUG;
}

/** Returns the reply to a command that threw an error. */
export function replyOf(error: unknown): SieveReply {
  return FAULTS[faultKind(error)];
}

/** Tells whether the error is a fault of this program, which is logged with its stack. */
export function isBug(error: unknown): boolean {
  return replyOf(error) === BUG;
}
