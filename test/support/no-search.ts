// For actors that nobody searches: nothing is ever made searchable.
import type { MailboxSearch } from '../../src/actors/mailbox/search.js';

export const NO_SEARCH: MailboxSearch = {
  store: {
    unindexed: async () => [],
    outdated: async () => [],
    outdatedAccounts: async () => [],
    put: async () => [],
    matches: async () => new Uint8Array(0),
    completions: async () => [],
  },
  indexing: { note() {}, async reach() {} },
  renewal: { pages: 0 },
};
