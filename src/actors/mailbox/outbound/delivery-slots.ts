// Port: deliveries that begin with the commit that queues their email, on a node that has both the mailbox and the deliveries of its shard;
// this saves one commit. Slots are reserved before a batch is planned, so their number is an input of the plan. The commit assigns them to
// emails; afterwards deliveries begin in them, and unused slots are released.
import type { Reply } from '../../runtime/protocol.js';
import type { DeliveryProtocol } from './delivery-protocol.js';

/** The facts of an email that its delivery needs. */
export type StartedDelivery = Reply<DeliveryProtocol, 'startDelivery'>;

export interface DeliverySlots {
  /** Reserves up to `wanted` slots; undefined when deliveries of the account cannot begin on this node now. */
  reserve(accountId: string, wanted: number): ReservedSlots | undefined;
}

/** The queue of the node that delivers for an account. */
export interface AccountQueue {
  /** The shards that the node delivers for; empty when no node does. */
  readonly shards: readonly number[];
  /**
   * The account's emails by id that are Sending and wait for a permit to deliver to a domain, each with the number of deliveries before it.
   * Empty when another node delivers.
   */
  readonly waiting: ReadonlyMap<string, { readonly domain: string; readonly ahead: number }>;
}

export interface ReservedSlots {
  /** The number of slots without an email. */
  readonly count: number;
  /** The incarnation of this node, which makes the deliveries. */
  readonly by: string;
  /** Must be called before the commit: otherwise the queue would find the email in the store and treat its delivery as interrupted. */
  assign(outboundId: string, deliveryId: string): AssignedSlot;
  /** Returns the slots without an email. */
  release(): void;
}

/** Exactly one of the two methods is called, once. */
export interface AssignedSlot {
  /** Called when the commit is done. Must not throw. */
  begin(started: StartedDelivery): void;
  /** Called when the commit failed or its result is unknown: the slot is reserved again. If the delivery was stored, the queue finds it. */
  release(): void;
}
