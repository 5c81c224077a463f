// Port: what is measured of the delivery of outbound mail. Gauges (emails in flight, how far behind the queue is) are in the
// queue's status.
import type { OutboundStatus, ReportKind } from '../../store/outbound.js';
import type { RecipientOutcome } from './delivery-transport.js';

export interface DeliveryMeter {
  /** Outcomes of the recipients of one domain in one delivery, `ms` after it began. */
  attempted(outcomes: readonly RecipientOutcome['kind'][], ms: number): void;
  /** A delivery is over; `ageMs`: since the email was created. `interrupted`: the node stops. */
  ended(status: OutboundStatus | 'interrupted' | 'superseded', ageMs: number): void;
  /** The sender was notified (RFC 3464). */
  reported(kind: ReportKind): void;
}

export const NO_DELIVERY_METER: DeliveryMeter = { attempted() {}, ended() {}, reported() {} };
