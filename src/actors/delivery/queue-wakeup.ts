// Wakes the delivery queue: a mailbox that has committed due mail tells the node that delivers for its shard, by a call on this node or by
// a packet to another. Wake-ups are hints: the queue also reads the store periodically.

import { shardOf } from '../../store/shard.js';
import type { AccountQueue, DeliverySlots, ReservedSlots } from '../mailbox/outbound/delivery-slots.js';
import type { Ownership } from '../runtime/ownership/ownership.js';
import { type DuePacket, PACKET_VERSION, type RecheckPacket } from '../runtime/transport/packet.js';
import { deliverySubject } from '../runtime/transport/subjects.js';
import type { Transport } from '../runtime/transport/transport.js';
import { deliverer, shardsOf } from './delivery-placement.js';
import type { WaitingDomain } from './scheduler/scheduler.js';

/** The delivery queue of this node. */
export interface QueueListener extends DeliverySlots {
  due(accountId: string, outboundId: string): void;
  /** Wake-ups may have been lost: the store must be read. */
  read(): void;
  /** Emails of the account whose deliveries wait. */
  waitingOf(accountId: string): ReadonlyMap<string, WaitingDomain>;
}

const NO_QUEUE: AccountQueue = { shards: [], waiting: new Map() };

export interface QueueWakeupOptions {
  readonly transport: Pick<Transport, 'publish' | 'subscribe' | 'breaks$'>;
  readonly ownership: Pick<Ownership, 'nodeId' | 'shards' | 'view'>;
}

export class QueueWakeup implements DeliverySlots {
  readonly #options: QueueWakeupOptions;
  #listener: QueueListener | undefined;

  constructor(options: QueueWakeupOptions) {
    this.#options = options;
  }

  /** Must be called after the commit. */
  wake(accountId: string, outboundId: string): void {
    const { transport, ownership } = this.#options;
    const { view, nodeId, shards } = ownership;
    const node = view && deliverer(view, shardOf(accountId, shards));
    if (node === nodeId) this.#listener?.due(accountId, outboundId);
    else if (node !== undefined)
      transport.publish(deliverySubject(node), { v: PACKET_VERSION, kind: 'due', accountId, outboundId });
  }

  /** The queue of the node that delivers for the account, according to this node's view. */
  queueOf(accountId: string): AccountQueue {
    const { view, nodeId, shards } = this.#options.ownership;
    const node = view && deliverer(view, shardOf(accountId, shards));
    if (view === undefined || node === undefined) return NO_QUEUE;
    const waiting = node === nodeId ? this.#listener?.waitingOf(accountId) : undefined;
    return { shards: shardsOf(view, node), waiting: waiting ?? NO_QUEUE.waiting };
  }

  /** Undefined unless this node has the role and delivers for the shard. */
  reserve(accountId: string, wanted: number): ReservedSlots | undefined {
    return this.#listener?.reserve(accountId, wanted);
  }

  /** Passes wake-ups for this node to its queue. Returns a function that ends this. */
  listen(listener: QueueListener): () => void {
    const { transport, ownership } = this.#options;
    this.#listener = listener;
    const registration = transport.subscribe<DuePacket | RecheckPacket>(deliverySubject(ownership.nodeId), (packet) => {
      if (packet.kind === 'due') listener.due(packet.accountId, packet.outboundId);
      else listener.read();
    });
    const breaks = transport.breaks$.subscribe(() => listener.read());
    return () => {
      this.#listener = undefined;
      registration.end();
      breaks.unsubscribe();
    };
  }
}
