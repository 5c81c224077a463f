// Limits a node's concurrent searches in the database: accounts in turn, searches of one account in order of arrival. Otherwise the driver
// would send statements to busy connections, where a short one waits behind a long one.

import { FairSemaphore } from '../../../concurrency/fair-semaphore.js';
import type { SearchStore } from '../../../store/search.js';

/**
 * `atOnce`: the searches that the database runs at a time. One account cannot use all permits, so that one is left for others. Gateways
 * limit the number of waiting searches.
 */
export function withSearchSemaphore(store: SearchStore, atOnce: number): SearchStore {
  const semaphore = new FairSemaphore({ total: atOnce, share: Math.max(1, atOnce - 1) });
  return {
    ...store,
    matches: (accountId, ...question) => semaphore.run(accountId, () => store.matches(accountId, ...question)),
    fieldTexts: (accountId, ...question) => semaphore.run(accountId, () => store.fieldTexts(accountId, ...question)),
  };
}
