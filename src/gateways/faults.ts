// Every fault and every refusal of a mailbox that can reach a gateway. A gateway's tables to replies are records of these codes
// and words, so a new one does not compile until every protocol has a reply to it.
import type { MailboxProtocol } from '../actors/mailbox/protocol.js';
import type { ActorFault } from '../actors/runtime/errors.js';
import type { Name, Refusal } from '../actors/runtime/protocol.js';
import type { ProviderUnavailable } from '../auth/oidc/bounded-json.js';
import type { DecoderBusy, DecodingAbandoned } from '../decode/decoder.js';
import { Fault } from '../errors/fault.js';
import type { SpoolFault } from '../spool/errors.js';
import type { StoreFault } from '../store/errors.js';

type GatewayFault = StoreFault | SpoolFault | ActorFault | DecoderBusy | DecodingAbandoned | ProviderUnavailable;

export type FaultCode = GatewayFault['code'];

export type MailboxRefusal = { [N in Name<MailboxProtocol>]: Refusal<MailboxProtocol, N> }[Name<MailboxProtocol>];

/** The row of `table` for something that was thrown; undefined for anything but one of these faults. */
export function rowOf<Row>(table: Readonly<Record<FaultCode, Row>>, error: unknown): Row | undefined {
  return error instanceof Fault && Object.hasOwn(table, error.code) ? table[error.code as FaultCode] : undefined;
}
