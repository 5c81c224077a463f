// The memory for request bodies, reserved from the first octet until the request is answered. Octets that have arrived count, not announced
// ones. A key (an account, or the client's address before the account is known) may use as much as is left for all others: half of
// the memory when alone, an equal part among several. A request that finds no room gets 503.
import { KeyedLimiter, type Reservation } from '../../../concurrency/keyed-limiter.js';
import { dynamicShare } from '../../../concurrency/share-policies.js';
import type { HttpRequest } from '../exchange.js';
import { unavailable } from '../problem.js';

/** The first octets of every body are not counted, so requests of the usual size are served however large others are. */
const FREE_OCTETS = 64 * 1024;

/** `total`: octets of all bodies together. */
export const bodyLimiter = (total: number): KeyedLimiter => new KeyedLimiter(dynamicShare({ total, factor: 1 }));

/** Reads a body in pieces, and adds what has arrived to the reservation. @throws Problem 413 or 503; BodyError */
export async function readBodyPieces(
  request: Pick<HttpRequest, 'body'>,
  limit: number,
  memory: Reservation,
  take: (piece: Uint8Array) => Promise<void> | void,
): Promise<void> {
  let received = 0;
  await request.body(limit, (piece) => {
    received += piece.length;
    if (!memory.resize(Math.max(0, received - FREE_OCTETS))) throw unavailable();
    return take(piece);
  });
}
