// Replies to commands that failed: an exhaustive table of the kinds of fault (RFC 3206). A new kind does not compile until POP3 has a
// reply for it. Texts are fixed: none repeats input of the client.
import { type FaultKind, faultKind } from '../faults.js';
import { err, type Pop3Reply, RefusedCommand } from './replies.js';

const BUG = err('Internal error', 'SYS/PERM');
const BUSY = err('Temporary failure, try again later', 'SYS/TEMP');

const FAULTS: Readonly<Record<FaultKind, Pop3Reply>> = {
  unavailable: BUSY,
  'no-room': BUSY,
  'no-account': err('The account is gone', 'SYS/PERM'),
  failed: BUG,
  bug: BUG,
};

/** Returns the reply to a command that threw an error. */
export function replyOf(error: unknown): Pop3Reply {
  return error instanceof RefusedCommand ? error.reply : FAULTS[faultKind(error)];
}

/** Tells whether the error is a fault of this program, which is logged with its stack. */
export function isBug(error: unknown): boolean {
  return replyOf(error) === BUG;
}
