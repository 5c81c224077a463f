// Detects other nodes that do not answer on the bus. The bus has no subscription of a crashed node, which is noticed long before its leases
// expire; a node that only changes its bus server answers the second ping. If the bus servers are split, a node that does not answer may
// still renew its entry in the store. Such a node is alive but unreachable, and is not considered gone again before it has answered.

import { pause } from '../../../concurrency/time-bounds.js';
import { clock } from '../../../store/clock.js';
import type { ClusterView } from '../../../store/leases.js';
import { PACKET_VERSION, type RequestPacket } from '../transport/packet.js';
import { nodeSubject } from '../transport/subjects.js';
import { NoResponders, type Transport } from '../transport/transport.js';
import { MAILBOX_ROLE } from './placement.js';

export interface PeerListener {
  /** Called once when the node stops answering. */
  unreachable(node: string): void;
  /** Called when the node answers again. Its publications of the time between may not have arrived here. */
  reachable(node: string): void;
}

const PING_MS = 500;
const CONFIRM_MS = 250;
/** The least time between two suspicions of a node, however many asks find no owner. */
const SUSPECT_AGAIN_MS = 50;

export class FailureDetector {
  readonly #transport: Transport;
  readonly #self: string;
  readonly #listener: PeerListener;
  /** Node → the time when it stopped answering, by the monotonic clock. */
  readonly #goneSince = new Map<string, number>();
  readonly #aliveUnreachable = new Set<string>();
  readonly #pinged = new Set<string>();
  readonly #suspectedAt = new Map<string, number>();
  #stopped = false;

  constructor(transport: Transport, self: string, listener: PeerListener) {
    this.#transport = transport;
    this.#self = self;
    this.#listener = listener;
  }

  get gone(): ReadonlySet<string> {
    return new Set(this.#goneSince.keys());
  }

  /** Nodes that renew their entries in the store but do not answer. */
  get unreachable(): ReadonlySet<string> {
    return this.#aliveUnreachable;
  }

  /**
   * Pings the node, unless it is known to be gone or was pinged a moment ago. A ping of the last heartbeat does not count, because it may
   * never be answered. `confirmed`: another node has already pinged twice.
   */
  suspect(node: string, confirmed = false): void {
    if (this.#stopped || node === this.#self || this.#goneSince.has(node)) return;
    const now = performance.now();
    if (!confirmed && now - (this.#suspectedAt.get(node) ?? -SUSPECT_AGAIN_MS) < SUSPECT_AGAIN_MS) return;
    this.#suspectedAt.set(node, now);
    void this.#ping(node, confirmed);
  }

  /** Called with the view of every heartbeat; `began` is the heartbeat's start by the monotonic clock. */
  update({ nodes, leases }: ClusterView, began: number): void {
    const rows = new Map(nodes.map((row) => [row.id, row]));
    for (const [node, since] of this.#goneSince) {
      const row = rows.get(node);
      if (row === undefined || row.expired) this.#goneSince.delete(node);
      else if (row.silentMs < began - since && row.state !== 'cut off') {
        this.#goneSince.delete(node);
        this.#aliveUnreachable.add(node);
      }
    }
    for (const known of [this.#aliveUnreachable, this.#suspectedAt]) {
      for (const node of known.keys()) if (!rows.has(node)) known.delete(node);
    }
    const owners = new Set(leases.map(({ nodeId }) => nodeId));
    for (const { id, expired, roles } of nodes) {
      if (!expired && (owners.has(id) || roles.includes(MAILBOX_ROLE))) this.#verify(id);
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  #verify(node: string): void {
    if (this.#stopped || node === this.#self || this.#pinged.has(node)) return;
    this.#pinged.add(node);
    void this.#ping(node, false).finally(() => this.#pinged.delete(node));
  }

  async #ping(node: string, confirmed: boolean): Promise<void> {
    const isNew = () => !this.#stopped && !this.#goneSince.has(node) && !this.#aliveUnreachable.has(node);
    let answers = await this.#answers(node);
    if (answers === false && !confirmed && isNew()) {
      await pause(CONFIRM_MS);
      if (this.#stopped) return;
      answers = await this.#answers(node);
    }
    if (answers === true) {
      const wasGone = this.#goneSince.delete(node);
      if ((this.#aliveUnreachable.delete(node) || wasGone) && !this.#stopped) this.#listener.reachable(node);
    } else if (answers === false && isNew()) {
      this.#goneSince.set(node, performance.now());
      this.#listener.unreachable(node);
    }
  }

  /** Undefined when the bus gives no answer in time. */
  async #answers(node: string): Promise<boolean | undefined> {
    const deadline = clock.now() + PING_MS;
    const ping: RequestPacket = { v: PACKET_VERSION, id: '', accountId: '', name: 'ping', payload: null, deadline };
    try {
      const reply = await this.#transport.request(nodeSubject(node), ping, PING_MS);
      return reply.kind === 'fault' ? undefined : true;
    } catch (error) {
      return error instanceof NoResponders ? false : undefined;
    }
  }
}
