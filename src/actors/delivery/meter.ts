// Port: metrics of outbound delivery. Gauges (emails in flight, delay of the queue) are in the queue's status.
import type { DsnKind, OutboundStatus } from '../../store/outbound.js';
import type { RecipientOutcome } from './delivery-transport.js';

export interface DeliveryMeter {
  /** Counts the outcomes of one domain's recipients in one delivery, `ms` after it began. */
  attempted(outcomes: readonly RecipientOutcome['kind'][], ms: number): void;
  /** Counts a delivery that is over; `ageMs`: the time since the email was created. `interrupted`: the node stops. */
  ended(status: OutboundStatus | 'interrupted' | 'superseded', ageMs: number): void;
  /** Counts a DSN to the sender (RFC 3464). */
  reported(kind: DsnKind): void;
}

export const NO_DELIVERY_METER: DeliveryMeter = { attempted() {}, ended() {}, reported() {} };
