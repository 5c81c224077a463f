// The searches of a node take turns at the database: accounts in turn, and within one in the order of their arrival. Without
// turns the driver deals statements out to connections that are busy, where a short one waits behind whatever it meets.
import { FairSemaphore } from '../../bounds/fair-semaphore.js';
import type { SearchStore } from '../../store/search.js';

/**
 * `atOnce`: searches that the database works on at a time. A turn is left for accounts beside one that searches without end. Gateways
 * bound how many wait.
 */
export function searchTurns(store: SearchStore, atOnce: number): SearchStore {
  const turns = new FairSemaphore({ total: atOnce, share: Math.max(1, atOnce - 1) });
  return {
    ...store,
    matches: (accountId, ...question) => turns.run(accountId, () => store.matches(accountId, ...question)),
  };
}
