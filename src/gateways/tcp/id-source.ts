// New identifiers for transactions and deliveries: mail/ids needs a clock and random octets, this has them. Ids of one
// source rise, so rows inserted in order of arrival stay in order.
import { randomFillSync } from 'node:crypto';
import { uuidV7 } from '../../mail/ids.js';

const OCTETS = 8;

export function idSource(): () => string {
  const pool = Buffer.allocUnsafeSlow(512 * OCTETS);
  let used = pool.length;
  let last = 0;
  let sequence = 0;
  return () => {
    if (used === pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    const now = Date.now();
    if (now > last) {
      last = now;
      sequence = 0;
    } else if (++sequence > 4095) {
      last++;
      sequence = 0;
    }
    used += OCTETS;
    return uuidV7(last, sequence, pool.subarray(used - OCTETS, used));
  };
}
