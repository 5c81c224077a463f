// Public keys of signers. mailauth reads them from DNS, and they are kept as long as the resolver keeps its answers: making a key from its
// text costs as much as verifying a signature.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { getPublicKey } from 'mailauth/lib/tools.js';
import { lruCache } from '../../concurrency/lru-cache.js';
import type { Lookups } from './lookups.js';

export interface PublicKey {
  readonly key: KeyObject;
  /** The DNS record of the key. */
  readonly record: string;
}

/** RFC 8301 §3.2. */
export const LEAST_BITS = 1024;

const REMEMBERED = 2000;
const REMEMBERED_MS = 60_000;

export class PublicKeys {
  readonly #remembered = lruCache<string, PublicKey>(REMEMBERED, { ttl: REMEMBERED_MS });

  /** Rejects with `code` as mailauth does: a DNS code, EINVALIDVER, EINVALIDTYPE, EINVALIDVAL, ESHORTKEY. */
  async find(kind: 'DKIM' | 'ARC', name: string, lookups: Lookups): Promise<PublicKey> {
    const known = this.#remembered.get(name);
    if (known !== undefined) return known;
    const { publicKey, rr } = await getPublicKey(kind, name, LEAST_BITS, lookups.resolve);
    const found = { key: createPublicKey(publicKey), record: rr };
    this.#remembered.set(name, found);
    return found;
  }
}
