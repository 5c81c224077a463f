// Port: deliveries that begin with the commit that queues their email, on the node that has both the mailbox and the shard's
// deliveries: the mailbox need not be asked a second time. Places are counted while a batch is planned, held before its
// commit, and begun or given back after it.
import type { Reply } from '../../runtime/protocol.js';
import type { DeliveryProtocol } from './delivery-protocol.js';

/** A delivery as its mailbox has begun it. */
export type Begun = Reply<DeliveryProtocol, 'startDelivery'>;

export interface Room {
  /** Deliveries of the account that may begin now; true until the turn of the event loop is over. */
  readonly places: number;
  /** Incarnation of this node, which makes them. */
  readonly by: string;
}

/** A place that is held: one of the two is called, once. */
export interface ReservedDelivery {
  /** The commit that begins it is done. Must not throw. */
  begin(begun: Begun): void;
  /** The commit failed, or nobody knows whether it happened: what is begun in the store is found there. */
  release(): void;
}

export interface DeliverySlots {
  /** Undefined when the delivery is not to begin here, or not now. */
  room(accountId: string): Room | undefined;
  /** Within what `room` said in this turn. */
  hold(accountId: string, outboundId: string, attemptId: string): ReservedDelivery;
}
