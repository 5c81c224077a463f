// Limits the octets of message bodies that sessions have read and not yet written, because a client that does not read can hold
// them indefinitely. A session that gets no more of them reads one message at a time.
import { FairSemaphore } from '../../../concurrency/fair-semaphore.js';
import { KeyedLimiter } from '../../../concurrency/keyed-limiter.js';
import { fixedShare } from '../../../concurrency/share-policies.js';

/** Octets of this process, by account. */
export const readAhead = new KeyedLimiter(fixedShare({ total: 128 * 1024 * 1024, share: 16 * 1024 * 1024 }));

/** Concurrent readings of many bodies, by account: the store has few connections, and accounts take turns. */
export const bodyReads = new FairSemaphore({ total: 4, share: 3 });
