// Port: deliveries that begin with the commit that queues their email, on the node that has both the mailbox and the deliveries
// of its shard: one commit saved. Slots are reserved before a batch is planned, so that planning has their number as data. The
// commit assigns them to emails, and deliveries begin in them after it. Slots without a delivery are released after the batch.
import type { Reply } from '../../runtime/protocol.js';
import type { DeliveryProtocol } from './delivery-protocol.js';

/** What a delivery needs to know of its email. */
export type StartedDelivery = Reply<DeliveryProtocol, 'startDelivery'>;

export interface DeliverySlots {
  /** Undefined when deliveries of the account do not begin on this node, or not now; else up to `wanted` slots. */
  reserve(accountId: string, wanted: number): ReservedSlots | undefined;
}

/** The queue of the node that delivers for an account. */
export interface AccountQueue {
  /** Shards that the node delivers for; none when no node does. */
  readonly shards: readonly number[];
  /**
   * By ids, the account's emails that are Sending and wait for a permit to deliver to a domain, with this many before them. Empty where the node
   * is another one.
   */
  readonly waiting: ReadonlyMap<string, { readonly domain: string; readonly ahead: number }>;
}

export interface ReservedSlots {
  /** Slots that no email has yet. */
  readonly count: number;
  /** Incarnation of this node, which makes the deliveries. */
  readonly by: string;
  /** Before the commit, so that the queue does not take an email that it finds in the store for an interrupted one. */
  assign(outboundId: string, deliveryId: string): AssignedSlot;
  /** Returns the slots that no email has. */
  release(): void;
}

/** One of the two is called, once. */
export interface AssignedSlot {
  /** The commit is done. Must not throw. */
  begin(started: StartedDelivery): void;
  /** The commit failed, or its result is unknown: the slot is reserved again. A delivery that is in the store is found there. */
  release(): void;
}
