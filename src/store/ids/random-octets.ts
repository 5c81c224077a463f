// Random octets for ids. The system is asked for many at once, because one request costs more than making an id.
import { randomFillSync } from 'node:crypto';

const POOL_OCTETS = 4096;

/** Returns a function that gives `octets` random octets, at most 4,096, each of them once. */
export function randomOctets(): (octets: number) => Uint8Array {
  let pool = Buffer.alloc(0);
  let used = 0;
  return (octets) => {
    if (used + octets > pool.length) {
      // A new buffer is made, because somebody may still hold a piece of the old one.
      pool = randomFillSync(Buffer.allocUnsafeSlow(POOL_OCTETS));
      used = 0;
    }
    used += octets;
    return pool.subarray(used - octets, used);
  };
}
