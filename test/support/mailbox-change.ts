// A change of a mailbox that changes nothing, to be filled by tests of the store.
import type { MailboxChange } from '../../src/store/mailboxes.js';

export function emptyChange(accountId: string, epoch: number, modseqBefore: number): MailboxChange {
  return {
    accountId,
    epoch,
    modseqBefore,
    modseqAfter: modseqBefore + 1,
    emailsAdded: [],
    emailsFlagged: [],
    emailsRemoved: [],
    placed: [],
    unplaced: [],
    folders: [],
    foldersAdded: [],
    foldersRemoved: [],
    filters: [],
    filtersRemoved: [],
    filtersDeferred: [],
    deferralsEnded: [],
    blobsReleased: [],
    events: [],
    inbound: [],
    remembered: [],
    outbound: [],
    outboundRemoved: [],
    outboundAttempts: [],
    handedOver: [],
  };
}
