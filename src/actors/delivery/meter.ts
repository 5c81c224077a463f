// Port: what is measured of the delivery of outbound mail. What somebody else reads when it looks (emails in flight, how far
// behind the queue is) is in the queue's standing.
import type { OutboundStatus } from '../../store/outbound.js';
import type { RecipientOutcome } from './courier.js';

export interface DeliveryMeter {
  /** What became of the recipients of one domain in one delivery, `ms` after it began. */
  attempted(outcomes: readonly RecipientOutcome['kind'][], ms: number): void;
  /** A delivery is over; `ageMs`: since the email was made. `interrupted`: the node stops. */
  ended(status: OutboundStatus | 'interrupted' | 'superseded', ageMs: number): void;
  /** The sender was told (RFC 3464). */
  reported(kind: 'failed' | 'delayed'): void;
}

export const NO_DELIVERY_METER: DeliveryMeter = { attempted() {}, ended() {}, reported() {} };
