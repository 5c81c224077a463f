// Assembles the delivery queue of a node: transports to hosted and to remote domains, DSNs to senders, and the queue that uses them. It
// stops before the mailboxes, because it reports to them.
import type { Logger } from 'pino';
import type { DeliveryTransport } from '../../actors/delivery/delivery-transport.js';
import { type HostedTransport, localDeliveryTransport } from '../../actors/delivery/local-transport.js';
import { DeliveryQueue } from '../../actors/delivery/queue.js';
import type { QueueWakeup } from '../../actors/delivery/queue-wakeup.js';
import { DeliveryScheduler } from '../../actors/delivery/scheduler/scheduler.js';
import { SenderDsns } from '../../actors/delivery/sender-dsn.js';
import type { DeliveryMailboxes } from '../../actors/mailbox/outbound/delivery-protocol.js';
import type { Ownership } from '../../actors/runtime/ownership/ownership.js';
import type { RetryPolicy } from '../../machines/outbound-email/retry.js';
import type { BlobStore } from '../../store/blobs.js';
import { newId } from '../../store/ids/new-id.js';
import type { OutboundStore } from '../../store/outbound.js';
import type { Config } from '../config/config.js';
import type { Lifecycle } from '../lifecycle.js';
import type { Metrics } from '../metrics/metrics.js';

/** Delivers to remote domains. */
export interface RemoteTransport extends DeliveryTransport {
  /** The number of settings whose smart hosts refuse the credentials. */
  readonly relayLogins: { readonly refusing: number };
  /** Closes connections that are kept for the next message. */
  close(): Promise<void>;
}

export interface QueueParts {
  readonly store: OutboundStore;
  readonly blobs: BlobStore;
  readonly mailboxes: DeliveryMailboxes;
  readonly hosted: HostedTransport;
  readonly ownership: Ownership;
  readonly queueWakeup: QueueWakeup;
  /** The incarnation of this process in its entry of the store. */
  readonly incarnation: string;
  readonly retry: RetryPolicy;
  readonly remote: RemoteTransport;
}

/** The time reserved for transports to end, and for the last reports. */
const STOP_MS = 1_000;
/** The most time that the queue may take. */
const AT_MOST_MS = 5_000;
const TRANSPORT_STOP_MS = 500;

export function openQueue(
  config: Config,
  log: Logger,
  lifecycle: Lifecycle,
  metrics: Metrics | undefined,
  { store, blobs, mailboxes, hosted, ownership, queueWakeup, incarnation, retry, remote }: QueueParts,
): DeliveryQueue {
  const { hostname, leaseTtlMs, outboundPollMs: pollMs } = config;
  const watched = metrics && { meter: metrics.deliveries };
  lifecycle.add('delivery transport', () => remote.close(), TRANSPORT_STOP_MS, TRANSPORT_STOP_MS);
  const scheduler = new DeliveryScheduler();
  const queue = new DeliveryQueue({
    store,
    scheduler,
    mailboxes,
    deliveryTransport: localDeliveryTransport(hosted, remote),
    dsns: new SenderDsns({
      store,
      blobs,
      mailboxes,
      hostname,
      retry,
      newId,
      log,
      ...watched,
    }),
    ownership,
    queueWakeup,
    incarnation,
    leaseTtlMs,
    pollMs,
    newId,
    log,
    ...watched,
  });
  lifecycle.add('delivery queue', () => queue.stop(), STOP_MS, AT_MOST_MS);
  metrics?.watchQueue(queue.status);
  return queue;
}
