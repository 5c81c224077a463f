// Revocations of keys reach the other nodes before they are answered: each node is asked over the bus to forget the keys, and replies
// when it has. A node remembers credentials only while its leases are current (auth/credentials), so one that hangs has forgotten them when the
// lease time is over, and is not waited for any longer. Revocations by a command, which has no bus, reach nodes by the notification of
// the database alone.
import type { Logger } from 'pino';
import type { Ownership } from '../actors/runtime/ownership.js';
import { PACKET_VERSION, type RequestPacket } from '../actors/runtime/packet.js';
import { revocationSubject } from '../actors/runtime/subjects.js';
import { NoResponders, type Transport } from '../actors/runtime/transport.js';
import { newId } from '../ids/new-id.js';
import { clock } from '../store/clock.js';
import type { LeaseStore } from '../store/leases.js';

export interface RevocationsOptions {
  readonly transport: Pick<Transport, 'request' | 'respond'>;
  readonly ownership: Pick<Ownership, 'nodeId'>;
  readonly leases: Pick<LeaseStore, 'view'>;
  /** Of the leases, ms. */
  readonly ttlMs: number;
  readonly log: Pick<Logger, 'warn'>;
}

export class Revocations {
  readonly #options: RevocationsOptions;
  #forget: (keyId: string) => void = () => {};

  constructor(options: RevocationsOptions) {
    this.#options = options;
  }

  /** `forget` is called for each key that is revoked through any node with a bus. Returns how to end that. */
  listen(forget: (keyId: string) => void): () => void {
    const { transport, ownership } = this.#options;
    this.#forget = forget;
    const registration = transport.respond(revocationSubject(ownership.nodeId), async ({ payload }) => {
      for (const keyId of payload as readonly string[]) forget(keyId);
      return { kind: 'reply', reply: null };
    });
    return () => {
      this.#forget = () => {};
      registration.end();
    };
  }

  /** Resolves when no node remembers the keys, whose revocation is committed. */
  async announce(keyIds: readonly string[]): Promise<void> {
    const { ownership, leases, log } = this.#options;
    for (const keyId of keyIds) this.#forget(keyId);
    try {
      const { nodes } = await leases.view();
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
      await transport.request(revocationSubject(nodeId), request, ttlMs);
    } catch (err) {
      // It is of a version that asks the store each time, has just started, or has ended.
      if (err instanceof NoResponders) return;
      log.warn({ err, nodeId, keyIds }, 'a node has not confirmed that it forgot revoked keys');
    }
  }
}
