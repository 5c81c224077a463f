// Which shard an account belongs to: a pure function of its id, the same on every node and permanently, because accounts record
// it and leases are based on it. The lease store decides who owns a shard.
import { isUuid } from '../mail-format/ids.js';

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const HYPHEN = 45;

/** Computes 32-bit FNV-1a over the id's 16 octets, folded, modulo `shards`. `accountId` is a UUID in upper or lower case. */
export function shardOf(accountId: string, shards: number): number {
  if (!isUuid(accountId)) throw new RangeError(`not a UUID: ${accountId}`);
  let hash = FNV_OFFSET;
  for (let i = 0; i < accountId.length; i += 2) {
    if (accountId.charCodeAt(i) === HYPHEN) i++;
    const octet = (digit(accountId.charCodeAt(i)) << 4) | digit(accountId.charCodeAt(i + 1));
    hash = Math.imul(hash ^ octet, FNV_PRIME);
  }
  // The low bits of FNV alone are weak; its authors advise to fold in the high half for small ranges.
  return ((hash ^ (hash >>> 16)) >>> 0) % shards;
}

/** Value of a hexadecimal digit in upper or lower case: letters have bit 64, and 1 to 6 below it. */
function digit(code: number): number {
  return (code & 15) + (code & 64 ? 9 : 0);
}
