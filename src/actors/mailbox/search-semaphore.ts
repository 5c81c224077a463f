// A semaphore for the searches of a node at the database: accounts in turn, and within one in the order of their arrival. Without
// it the driver deals statements out to connections that are busy, where a short one waits behind whatever it meets.
import { FairSemaphore } from '../../bounds/fair-semaphore.js';
import type { SearchStore } from '../../store/search.js';

/**
 * `atOnce`: searches that the database works on at a time. A permit is left for accounts beside one that searches without end. Gateways
 * bound how many wait.
 */
export function withSearchSemaphore(store: SearchStore, atOnce: number): SearchStore {
  const semaphore = new FairSemaphore({ total: atOnce, share: Math.max(1, atOnce - 1) });
  return {
    ...store,
    matches: (accountId, ...question) => semaphore.run(accountId, () => store.matches(accountId, ...question)),
  };
}
