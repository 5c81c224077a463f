// Implements the meter of durable consumers (push subscriptions, webhooks) with prom-client, and their gauges, which a scrape reads. Accounts and
// hosts are not labels, because their number is unlimited.
import type { Consumers } from '../../actors/consumers/consumers.js';
import type { ConsumerMeter } from '../../actors/consumers/protocol.js';
import type { Families } from './families.js';

export type MeasuredConsumers = Pick<Consumers, 'accounts' | 'active' | 'waiting' | 'resting'>;

/** In seconds: from a push service nearby to one that never answers, with the wait for it. */
const ATTEMPTS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

export function consumerMeter(families: Families): ConsumerMeter {
  const attempts = families.histogram(
    'consumer_attempt_duration_seconds',
    'Attempts to deliver a change to a push subscription or webhook (kind); outcome: delivered, failed (comes again), deferred (something is busy), dropped, or gone (the consumer has ended).',
    ATTEMPTS,
    ['kind', 'outcome'],
  );
  return { attempted: (kind, outcome, ms) => attempts.observe({ kind, outcome }, ms / 1000) };
}

export function watchConsumers(families: Families, consumers: MeasuredConsumers): void {
  families.gauge(
    'consumer_accounts',
    'Accounts with push subscriptions or webhooks on the shards of this node.',
    () => consumers.accounts,
  );
  families.gauge('consumer_accounts_active', 'Accounts of these whose consumers run.', () => consumers.active);
  families.gauge('consumer_accounts_waiting', 'Accounts of these that wait for a place.', () => consumers.waiting);
  families.gauge('consumer_accounts_resting', 'Accounts of these that wait for a retry.', () => consumers.resting);
}
