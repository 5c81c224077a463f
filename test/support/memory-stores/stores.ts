// All stores in memory over the same rows.
import type { BlobStore } from '../../../src/store/blobs.js';
import type { EventLog } from '../../../src/store/events.js';
import type { InboundStore } from '../../../src/store/inbound.js';
import type { MailboxStore } from '../../../src/store/mailboxes.js';
import type { PreferenceStore } from '../../../src/store/preferences.js';
import type { SearchStore } from '../../../src/store/search.js';
import { memoryEvents } from './events.js';
import { memoryInbound } from './inbound.js';
import { memoryMailboxes } from './mailboxes.js';
import { memorySearch } from './search.js';
import type { MemoryTables } from './tables.js';

/** The ports that a mailbox needs. */
export interface MailboxStores {
  readonly mailboxes: MailboxStore;
  readonly events: EventLog;
  readonly inbound: InboundStore;
  readonly search: SearchStore;
  readonly preferences: PreferenceStore;
}

export function memoryStores(tables: MemoryTables, blobs: Pick<BlobStore, 'put' | 'index'>): MailboxStores {
  return {
    mailboxes: memoryMailboxes(tables, blobs),
    events: memoryEvents(tables),
    inbound: memoryInbound(tables, blobs),
    search: memorySearch(tables, blobs),
    preferences: {
      async choices(accountId) {
        const account = tables.accounts.get(accountId);
        return account && (account.preferences ?? { chosen: {}, updatedAt: new Date(0) });
      },
    },
  };
}
