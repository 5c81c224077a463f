// The search of actors that are never searched: nothing becomes searchable.
import type { MailboxSearch } from '../../src/actors/mailbox/search/search.js';

export const NO_SEARCH: MailboxSearch = {
  store: {
    matches: async () => ({ ids: new Uint8Array(0), segments: 0 }),
    fieldTexts: async () => new Map(),
  },
  indexing: { note() {}, async reach() {} },
  merging: { removed() {} },
};
