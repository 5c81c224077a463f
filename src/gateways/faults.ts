// Every fault and every refusal of a mailbox that can reach a gateway. `faultKind` classifies errors once for all protocols; the reply
// tables of gateways are records of these kinds and of the refusals, so a new one does not compile until every protocol has a reply to it.
import type { MailboxProtocol } from '../actors/mailbox/protocol.js';
import type { ActorFault } from '../actors/runtime/errors.js';
import type { Name, Refusal } from '../actors/runtime/protocol.js';
import type { ProviderUnavailable } from '../auth/oidc/bounded-json.js';
import { Fault } from '../concurrency/fault.js';
import type { DecoderBusy, DecodingAbandoned } from '../message-content/decode/decoder.js';
import type { SpoolFault } from '../message-content/spool/errors.js';
import type { StoreFault } from '../store/errors.js';

type GatewayFault = StoreFault | SpoolFault | ActorFault | DecoderBusy | DecodingAbandoned | ProviderUnavailable;

/**
 * `unavailable`: a service that the request needs does not answer now. `no-room`: the disk or the spool is full. `no-account`: the account
 * is gone. `failed`: the owner of the mailbox failed, and has logged the reason. `bug`: the error is none of these faults.
 */
export type FaultKind = 'unavailable' | 'no-room' | 'no-account' | 'failed' | 'bug';

export type MailboxRefusal = { [N in Name<MailboxProtocol>]: Refusal<MailboxProtocol, N> }[Name<MailboxProtocol>];

const KINDS: Readonly<Record<GatewayFault['code'], FaultKind>> = {
  'store-unavailable': 'unavailable',
  'store-locked': 'unavailable',
  'store-conflict': 'unavailable',
  'store-failed': 'unavailable',
  'spool-full': 'no-room',
  'spool-memory': 'no-room',
  'spool-failed': 'unavailable',
  unreachable: 'unavailable',
  overloaded: 'unavailable',
  'no-such-account': 'no-account',
  unsupported: 'unavailable',
  'no-uid-left': 'no-room',
  failed: 'failed',
  'decoder-busy': 'unavailable',
  'decoding-abandoned': 'unavailable',
  'provider-unavailable': 'unavailable',
  'provider-refused': 'unavailable',
};

/** PostgreSQL's disk_full, and the codes of the file system. */
const NO_SPACE = new Set<unknown>(['53100', 'ENOSPC', 'EDQUOT']);
const DEEPEST_CAUSE = 5;

/** Classifies anything thrown, for a gateway that has no reply of its own to it. */
export function faultKind(error: unknown): FaultKind {
  if (isOutOfSpace(error)) return 'no-room';
  return error instanceof Fault && Object.hasOwn(KINDS, error.code) ? KINDS[error.code as GatewayFault['code']] : 'bug';
}

function isOutOfSpace(error: unknown): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < DEEPEST_CAUSE; cause = cause.cause, depth++) {
    if (NO_SPACE.has((cause as NodeJS.ErrnoException).code)) return true;
  }
  return false;
}
