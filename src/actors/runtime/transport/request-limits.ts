// Bounds what is under way to one node: the number of requests, and the octets of messages in them. Each account has a share of both, so a
// slow node delays only what is for it, and a busy account on it only what is for that account.
import { KeyedLimiter, type Reservation } from '../../../concurrency/keyed-limiter.js';
import { dynamicShare } from '../../../concurrency/share-policies.js';

export interface RequestLimitsOptions {
  /** The most requests that wait for one node. */
  readonly requests?: number;
  /** The most octets of messages in them. */
  readonly octets?: number;
}

/** What one request uses. */
export interface RequestUsage {
  release(): void;
}

const MAX_REQUESTS = 10_000;
const MAX_OCTETS = 4 * 1024 * 1024;
/** Limits that are not used are forgotten when there are more than this. */
const MAX_IDLE = 1_000;
/** No address is empty. */
const UNKNOWN_NODE = '';

export class RequestLimits {
  readonly #maxRequests: number;
  readonly #maxOctets: number;
  readonly #requests = new Map<string, KeyedLimiter>();
  readonly #octets = new Map<string, KeyedLimiter>();

  constructor({ requests = MAX_REQUESTS, octets = MAX_OCTETS }: RequestLimitsOptions = {}) {
    this.#maxRequests = requests;
    this.#maxOctets = octets;
  }

  /**
   * `node`: its address; undefined when it is not known. Then the requests of the subject have limits of their own, but the octets share
   * those of all unknown nodes, which may be one. Returns what is exhausted if the request must not be sent.
   */
  reserve(
    node: string | undefined,
    subject: string,
    accountId: string,
    octets: number,
  ): RequestUsage | 'requests' | 'octets' {
    const requests = limiter(this.#requests, node ?? subject, this.#maxRequests);
    const place = requests.reserve(accountId);
    if (place === undefined) return 'requests';
    if (octets === 0) return place;
    const room = limiter(this.#octets, node ?? UNKNOWN_NODE, this.#maxOctets).reserve(accountId, octets);
    if (room !== undefined) return new BothReservations(place, room);
    place.release();
    return 'octets';
  }
}

function limiter(limiters: Map<string, KeyedLimiter>, key: string, total: number): KeyedLimiter {
  const known = limiters.get(key);
  if (known !== undefined) return known;
  if (limiters.size >= MAX_IDLE) for (const [idle, { used }] of limiters) if (used === 0) limiters.delete(idle);
  const added = new KeyedLimiter(dynamicShare({ total }));
  limiters.set(key, added);
  return added;
}

class BothReservations implements RequestUsage {
  readonly #place: Reservation;
  readonly #room: Reservation;

  constructor(place: Reservation, room: Reservation) {
    this.#place = place;
    this.#room = room;
  }

  release(): void {
    this.#place.release();
    this.#room.release();
  }
}
