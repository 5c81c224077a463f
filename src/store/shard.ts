// Which shard an account belongs to: a pure function of its id, the same on every node and for ever, because accounts
// record it and leases are given out by it. Who owns a shard is the lease store's business.
import { isUuid } from '../mail/ids.js';

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** 32-bit FNV-1a over the id's 16 octets, folded, modulo `shards`. `accountId` is a UUID in any case. */
export function shardOf(accountId: string, shards: number): number {
  if (!isUuid(accountId)) throw new RangeError(`not a UUID: ${accountId}`);
  const digits = accountId.replaceAll('-', '');
  let hash = FNV_OFFSET;
  for (let i = 0; i < 32; i += 2) {
    hash = Math.imul(hash ^ Number.parseInt(digits.slice(i, i + 2), 16), FNV_PRIME);
  }
  // The low bits of FNV alone are weak; folding the high half in is what its authors advise for small ranges.
  return ((hash ^ (hash >>> 16)) >>> 0) % shards;
}
