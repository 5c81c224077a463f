// Replies to commands that failed: an exhaustive table of the kinds of fault (RFC 3206). A new kind does not compile until POP3 has a
// reply for it. Texts are fixed: none repeats octets of the client.
import { type FaultKind, faultKind } from '../faults.js';
import { err, Refused, type Reply } from './replies.js';

const BUG = err('Internal error', 'SYS/PERM');
const BUSY = err('Temporary failure, try again later', 'SYS/TEMP');

const FAULTS: Readonly<Record<FaultKind, Reply>> = {
  unavailable: BUSY,
  'no-room': BUSY,
  'no-account': err('The account is gone', 'SYS/PERM'),
  failed: BUG,
  bug: BUG,
};

/** The end of a command that threw something. */
export function replyOf(error: unknown): Reply {
  return error instanceof Refused ? error.reply : FAULTS[faultKind(error)];
}

/** Whether the error is a fault of this program, to be logged with its stack. */
export function isBug(error: unknown): boolean {
  return replyOf(error) === BUG;
}
