// Octets of message bodies that sessions have read at once and not written yet: a client that does not read holds them for as
// long as it likes. Whoever gets no more of them reads one message at a time.
import { FairSemaphore } from '../../../bounds/fair-semaphore.js';
import { FixedShares } from '../../../bounds/fixed-shares.js';

/** Of this process, by account. */
export const readAhead = new FixedShares({ total: 128 * 1024 * 1024, share: 16 * 1024 * 1024 });

/** Readings of many bodies that are under way, by account: the store has few connections, and accounts take turns. */
export const bodyReads = new FairSemaphore({ total: 4, share: 3 });
