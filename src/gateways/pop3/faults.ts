// Replies to commands that failed, one exhaustive table (RFC 3206): a new fault does not compile until POP3 has a reply for it.
// Texts are fixed: none repeats octets of the client.
import { type FaultCode, rowOf } from '../faults.js';
import { err, type Pop3Reply, RefusedCommand } from './replies.js';

const BUG = err('Internal error', 'SYS/PERM');
const BUSY = err('Temporary failure, try again later', 'SYS/TEMP');

const FAULTS: Readonly<Record<FaultCode, Pop3Reply>> = {
  'store-unavailable': BUSY,
  'store-locked': BUSY,
  'store-conflict': BUSY,
  'store-failed': BUSY,
  'spool-full': BUSY,
  'spool-memory': BUSY,
  'spool-failed': BUSY,
  unreachable: BUSY,
  overloaded: BUSY,
  'no-such-account': err('The account is gone', 'SYS/PERM'),
  unsupported: BUSY,
  failed: BUG,
  'decoder-busy': BUSY,
  'decoding-abandoned': BUSY,
  'provider-unavailable': BUSY,
  'provider-refused': BUSY,
};

/** The end of a command that threw something. */
export function replyOf(error: unknown): Pop3Reply {
  return error instanceof RefusedCommand ? error.reply : (rowOf(FAULTS, error) ?? BUG);
}

/** Whether the error is a fault of this program, to be logged with its stack. */
export function isBug(error: unknown): boolean {
  return replyOf(error) === BUG;
}
