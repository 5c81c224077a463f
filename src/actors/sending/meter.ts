// What the limits of recipients report to the metrics of the node.
import type { ExceededLimit } from './recipient-limits.js';

export interface SendingMeter {
  /** A limit has refused a message. */
  refused(limit: Pick<ExceededLimit, 'of' | 'period'>): void;
  /** A sudden change has suspended an account. */
  suspended(): void;
}

export const NO_SENDING_METER: SendingMeter = { refused() {}, suspended() {} };
