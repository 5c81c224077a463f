// Random octets for ids, a few at a time: the system is asked for many at once, because asking costs more than what is done
// with them.
import { randomFillSync } from 'node:crypto';

const POOL_OCTETS = 4096;

/** Gives that many random octets, at most 4,096, each of them once. */
export function randomOctets(): (octets: number) => Uint8Array {
  let pool = Buffer.alloc(0);
  let used = 0;
  return (octets) => {
    if (used + octets > pool.length) {
      // Not the old one filled anew: somebody may hold a piece of it still.
      pool = randomFillSync(Buffer.allocUnsafeSlow(POOL_OCTETS));
      used = 0;
    }
    used += octets;
    return pool.subarray(used - octets, used);
  };
}
