// The meter of outbound mail on prom-client, and the status of the queue, which is read at a scrape. Domains are not labels, because their
// number is unlimited.
import type { DeliveryMeter } from '../../actors/delivery/meter.js';
import type { QueueStatus } from '../../actors/delivery/queue-status.js';
import { DSN_KINDS, OUTCOMES } from '../../mail-format/outbound-status.js';
import type { Families } from './families.js';

/** Seconds: from a remote host nearby to one that never answers. */
const ATTEMPTS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
/** Seconds: from an immediate delivery to the last retry. */
const AGES = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300, 900, 3_600, 14_400, 86_400, 432_000];

export type MeasuredQueue = Pick<QueueStatus, 'inFlight' | 'overdueMs' | 'lookAgeMs' | 'shards'>;

export function deliveryMeter(families: Families): DeliveryMeter {
  const outcomes = families.counter(
    'outbound_outcomes_total',
    'Outcomes of recipients, counted at every attempt: delivered, temporary or permanent.',
    ['outcome'],
  );
  const attempts = families.histogram(
    'outbound_attempt_duration_seconds',
    'Attempts at the recipients of one domain, over all hosts tried; outcome: the best of any recipient.',
    ATTEMPTS,
    ['outcome'],
  );
  const ages = families.histogram(
    'outbound_delivery_age_seconds',
    'From the creation of an email to the end of a delivery; status: of the email at that end.',
    AGES,
    ['status'],
  );
  const reports = families.counter(
    'outbound_reports_total',
    'Delivery status notifications given to senders (RFC 3464); kind: failed or delayed.',
    ['kind'],
  );
  for (const outcome of OUTCOMES) outcomes.inc({ outcome }, 0);
  for (const kind of DSN_KINDS) reports.inc({ kind }, 0);
  return {
    attempted(kinds, ms) {
      for (const outcome of kinds) outcomes.inc({ outcome });
      const best = OUTCOMES.find((outcome) => kinds.includes(outcome));
      if (best !== undefined) attempts.observe({ outcome: best }, ms / 1000);
    },
    ended: (status, ageMs) => ages.observe({ status: status.toLowerCase() }, ageMs / 1000),
    reported: (kind) => reports.inc({ kind }),
  };
}

export function watchQueue(families: Families, status: MeasuredQueue): void {
  families.gauge('outbound_in_flight', 'Emails that this node is delivering.', () => status.inFlight);
  families.gauge('outbound_shards', 'Shards that this node delivers for.', () => status.shards);
  families.gauge(
    'outbound_oldest_due_seconds',
    'Seconds since the oldest due email of these shards was due; 0 when none is.',
    () => status.overdueMs / 1000,
  );
  families.gauge('outbound_look_age_seconds', 'Seconds since the queue was last read.', () => status.lookAgeMs / 1000);
}
