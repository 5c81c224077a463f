// Which other nodes answer on the bus. A node that died has no subscription there, which is known at once, long before its
// leases run out; one that only changes its bus server is back before it is asked a second time. The bus may be wrong (its
// servers may be split): who then still renews its entry in the store is alive after all, and is not taken for gone again
// before it has answered.

import { pause } from '../../bounds/time-bounds.js';
import { clock } from '../../store/clock.js';
import type { ClusterView } from '../../store/leases.js';
import { PACKET_VERSION, type RequestPacket } from './packet.js';
import { MAILBOX_ROLE } from './placement.js';
import { nodeSubject } from './subjects.js';
import { NoResponders, type Transport } from './transport.js';

export interface PeerNews {
  /** Nobody answers for the node; told once. */
  gone(node: string): void;
  /** It answers again: what it published meanwhile may not have been heard here. */
  heard(node: string): void;
}

const PING_MS = 500;
const CONFIRM_MS = 250;
/** However many askers miss its shards. */
const SUSPECT_AGAIN_MS = 50;

export class FailureDetector {
  readonly #transport: Transport;
  readonly #self: string;
  readonly #news: PeerNews;
  /** Node → when it was found out, by the monotonic clock. */
  readonly #goneSince = new Map<string, number>();
  readonly #aliveAfterAll = new Set<string>();
  readonly #asked = new Set<string>();
  readonly #suspectedAt = new Map<string, number>();
  #stopped = false;

  constructor(transport: Transport, self: string, news: PeerNews) {
    this.#transport = transport;
    this.#self = self;
    this.#news = news;
  }

  get gone(): ReadonlySet<string> {
    return new Set(this.#goneSince.keys());
  }

  /** They renew their entries in the store, and do not answer. */
  get unheard(): ReadonlySet<string> {
    return this.#aliveAfterAll;
  }

  /**
   * Asks the node whether it is there, unless that is known or was asked a moment ago. A heartbeat's question may be out
   * that nobody will answer. `confirmed`: another node has asked twice.
   */
  suspect(node: string, confirmed = false): void {
    if (this.#stopped || node === this.#self || this.#goneSince.has(node)) return;
    const now = performance.now();
    if (!confirmed && now - (this.#suspectedAt.get(node) ?? -SUSPECT_AGAIN_MS) < SUSPECT_AGAIN_MS) return;
    this.#suspectedAt.set(node, now);
    void this.#ask(node, confirmed);
  }

  /** With every heartbeat; `began`: when it did, by the monotonic clock. */
  look({ nodes, leases }: ClusterView, began: number): void {
    const rows = new Map(nodes.map((row) => [row.id, row]));
    for (const [node, since] of this.#goneSince) {
      const row = rows.get(node);
      if (row === undefined || row.expired) this.#goneSince.delete(node);
      else if (row.silentMs < began - since && row.state !== 'cut off') {
        this.#goneSince.delete(node);
        this.#aliveAfterAll.add(node);
      }
    }
    for (const known of [this.#aliveAfterAll, this.#suspectedAt]) {
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
    if (this.#stopped || node === this.#self || this.#asked.has(node)) return;
    this.#asked.add(node);
    void this.#ask(node, false).finally(() => this.#asked.delete(node));
  }

  async #ask(node: string, confirmed: boolean): Promise<void> {
    const isNews = () => !this.#stopped && !this.#goneSince.has(node) && !this.#aliveAfterAll.has(node);
    let answers = await this.#answers(node);
    if (answers === false && !confirmed && isNews()) {
      await pause(CONFIRM_MS);
      if (this.#stopped) return;
      answers = await this.#answers(node);
    }
    if (answers === true) {
      const wasGone = this.#goneSince.delete(node);
      if ((this.#aliveAfterAll.delete(node) || wasGone) && !this.#stopped) this.#news.heard(node);
    } else if (answers === false && isNews()) {
      this.#goneSince.set(node, performance.now());
      this.#news.gone(node);
    }
  }

  /** Undefined: cannot be told. */
  async #answers(node: string): Promise<boolean | undefined> {
    const deadline = clock.now() + PING_MS;
    const ping: RequestPacket = { v: PACKET_VERSION, id: '', accountId: '', name: 'ping', payload: null, deadline };
    try {
      await this.#transport.request(nodeSubject(node), ping, PING_MS);
      return true;
    } catch (error) {
      return error instanceof NoResponders ? false : undefined;
    }
  }
}
