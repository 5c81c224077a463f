// Revocations of keys reach the other nodes before they are answered: each node is asked over the bus to forget the keys, and replies when
// it has. A node caches credentials (auth/credentials) only while its leases are current and it can be asked. So a node that hangs has
// forgotten them after the lease time, and nobody waits longer for it. Revocations by a command, and by a node that is cut off from the
// bus, reach nodes only by the notification of the database.
import type { Logger } from 'pino';
import type { Ownership } from '../../actors/runtime/ownership/ownership.js';
import { PACKET_VERSION, type RequestPacket } from '../../actors/runtime/transport/packet.js';
import { revocationSubject } from '../../actors/runtime/transport/subjects.js';
import { NoResponders, type Transport } from '../../actors/runtime/transport/transport.js';
import { CoalescedReads } from '../../concurrency/coalesced-reads.js';
import { clock } from '../../store/clock.js';
import { newId } from '../../store/ids/new-id.js';
import type { LeaseStore, NodeRow } from '../../store/leases.js';

export interface RevocationsOptions {
  readonly transport: Pick<Transport, 'request' | 'respond' | 'connected$' | 'lagMs'>;
  readonly ownership: Pick<Ownership, 'nodeId' | 'leasePeriod'>;
  readonly leases: Pick<LeaseStore, 'view'>;
  /** The lease time in ms. */
  readonly ttlMs: number;
  readonly log: Pick<Logger, 'warn'>;
  /** ms of a monotonic clock. */
  readonly now?: () => number;
}

export class Revocations {
  readonly #options: RevocationsOptions;
  readonly #now: () => number;
  /** Coalesces the views, because many devices that renew their keys at the same time cause many revocations. */
  readonly #views: CoalescedReads<{ readonly nodes: readonly NodeRow[] }>;
  #forget: (keyId: string) => void = () => {};
  /** The time from which all other nodes reach this one. */
  #reachedFrom = Number.POSITIVE_INFINITY;
  #cuts = 0;

  constructor(options: RevocationsOptions) {
    this.#options = options;
    const { now = () => performance.now() } = options;
    this.#now = now;
    this.#views = new CoalescedReads(() => options.leases.view());
  }

  /** Within one period this node is asked about each revocation before that is answered; undefined: it may not be asked. */
  get period(): number | undefined {
    const { leasePeriod } = this.#options.ownership;
    // Both numbers only rise, so no two periods have the same sum.
    return leasePeriod === undefined || this.#now() < this.#reachedFrom ? undefined : leasePeriod + this.#cuts;
  }

  /** `forget` is called for each key that is revoked through any node with a bus. Returns the function that ends this. */
  listen(forget: (keyId: string) => void): () => void {
    const { transport, ownership } = this.#options;
    this.#forget = forget;
    const registration = transport.respond(revocationSubject(ownership.nodeId), async ({ payload }) => {
      for (const keyId of payload as readonly string[]) forget(keyId);
      return { kind: 'reply', reply: null };
    });
    const connection = transport.connected$.subscribe((isConnected) => {
      if (!isConnected) this.#cuts++;
      this.#reachedFrom = isConnected ? this.#now() + transport.lagMs : Number.POSITIVE_INFINITY;
    });
    return () => {
      connection.unsubscribe();
      this.#reachedFrom = Number.POSITIVE_INFINITY;
      this.#forget = () => {};
      registration.end();
    };
  }

  /** Resolves when no node caches the keys any more; their revocation is already committed. */
  async announce(keyIds: readonly string[]): Promise<void> {
    const { ownership, log } = this.#options;
    for (const keyId of keyIds) this.#forget(keyId);
    try {
      const { nodes } = await this.#views.of('nodes');
      const others = nodes.filter(({ id, bus, expired }) => id !== ownership.nodeId && bus === 'nats' && !expired);
      await Promise.all(others.map(({ id }) => this.#ask(id, keyIds)));
    } catch (err) {
      log.warn({ err, keyIds }, 'other nodes hear of revoked keys by the notification of the database alone');
    }
  }

  async #ask(nodeId: string, keyIds: readonly string[]): Promise<void> {
    const { transport, ttlMs, log } = this.#options;
    const deadline = clock.now() + ttlMs;
    const request: RequestPacket = {
      v: PACKET_VERSION,
      id: newId(),
      accountId: '',
      name: 'forget',
      payload: keyIds,
      deadline,
    };
    try {
      const reply = await transport.request(revocationSubject(nodeId), request, ttlMs);
      if (reply.kind === 'fault')
        log.warn({ nodeId, keyIds, why: reply.message }, 'a node has not confirmed that it forgot revoked keys');
    } catch (err) {
      // The node caches nothing: it is cut off, has just started, or has ended.
      if (err instanceof NoResponders) return;
      log.warn({ err, nodeId, keyIds }, 'a node has not confirmed that it forgot revoked keys');
    }
  }
}
