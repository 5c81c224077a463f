// Word of outbound mail that is due at once, from the mailbox that has committed it to whoever delivers for its shard: a
// call on this node, a packet to another. A hint: whoever delivers looks at the store all the same, now and then.

import { shardOf } from '../../store/shard.js';
import type { DeliverySlots, ReservedDelivery, Room } from '../mailbox/outbound/delivery-slots.js';
import type { Ownership } from '../runtime/ownership.js';
import { type DuePacket, PACKET_VERSION, type RecheckPacket } from '../runtime/packet.js';
import { deliverySubject } from '../runtime/subjects.js';
import type { Transport } from '../runtime/transport.js';
import { deliverer } from './delivery-placement.js';

export interface Woken extends DeliverySlots {
  due(accountId: string, outboundId: string): void;
  /** Something may be due that was not told. */
  look(): void;
}

export interface DueNotifierOptions {
  readonly transport: Pick<Transport, 'publish' | 'subscribe' | 'breaks$'>;
  readonly ownership: Pick<Ownership, 'nodeId' | 'shards' | 'view'>;
}

export class DueNotifier implements DeliverySlots {
  readonly #options: DueNotifierOptions;
  #woken: Woken | undefined;

  constructor(options: DueNotifierOptions) {
    this.#options = options;
  }

  /** To be called after the commit. */
  note(accountId: string, outboundId: string): void {
    const { transport, ownership } = this.#options;
    const { view, nodeId, shards } = ownership;
    const node = view && deliverer(view, shardOf(accountId, shards));
    if (node === nodeId) this.#woken?.due(accountId, outboundId);
    else if (node !== undefined)
      transport.publish(deliverySubject(node), { v: PACKET_VERSION, kind: 'due', accountId, outboundId });
  }

  /** Undefined unless this node has the role and delivers for the shard. */
  room(accountId: string): Room | undefined {
    return this.#woken?.room(accountId);
  }

  hold(accountId: string, outboundId: string, attemptId: string): ReservedDelivery {
    return this.#woken!.hold(accountId, outboundId, attemptId);
  }

  /** Tells `woken` of what this node is to deliver, whichever node has it from its mailbox. Returns how to end it. */
  listen(woken: Woken): () => void {
    const { transport, ownership } = this.#options;
    this.#woken = woken;
    const registration = transport.subscribe<DuePacket | RecheckPacket>(deliverySubject(ownership.nodeId), (packet) => {
      if (packet.kind === 'due') woken.due(packet.accountId, packet.outboundId);
      else woken.look();
    });
    const breaks = transport.breaks$.subscribe(() => woken.look());
    return () => {
      this.#woken = undefined;
      registration.end();
      breaks.unsubscribe();
    };
  }
}
