// Outbound mail in a mailbox's memory: rows of emails in the queue, so that a delivery need not read what its mailbox has just written; the
// drafts; and the number of emails per status. Everything is bounded and is also in the store.
import { LRUCache } from 'lru-cache';
import type { MessageSummary } from '../../../mail-format/summary.js';
import type { CoalescedChanges } from '../../../store/changes/coalesced-changes.js';
import { LazyMap } from '../../../store/changes/lazy-map.js';
import type { OutboundCounts } from '../../../store/mailboxes.js';
import type { DraftEmail, OutboundRow, OutboundStatus, Suppression } from '../../../store/outbound.js';
import { DraftEmails } from './draft-emails.js';

/** The limit for the rows of one mailbox: 10,000 recipients, or 2,500 emails with one. */
const MOST_OCTETS = 10_000_000;
// Approximate memory of an entry, including its machine.
const ROW_OCTETS = 3_000;
const RECIPIENT_OCTETS = 1_000;
const SUPPRESSION_OCTETS = 500;

export interface RememberedOutbound {
  readonly row: OutboundRow;
  /** The summary of its message; absent when it has not been needed since the mailbox was loaded. */
  readonly summary?: MessageSummary | undefined;
}

export class OutboundMemory {
  readonly #rows = new LRUCache<string, RememberedOutbound>({
    maxSize: MOST_OCTETS,
    sizeCalculation: ({ row }) => ROW_OCTETS + row.recipients.length * RECIPIENT_OCTETS,
  });
  readonly #counts = new Map<OutboundStatus, number>();
  #drafts = new DraftEmails();
  /** Keyed by address, oldest first. */
  readonly suppressions = new LazyMap<string, Suppression>();

  get octets(): number {
    return this.#rows.calculatedSize + this.#drafts.octets + this.suppressions.size * SUPPRESSION_OCTETS;
  }

  /** Must not be changed. */
  get drafts(): DraftEmails {
    return this.#drafts;
  }

  loadDrafts(drafts: Iterable<DraftEmail>): void {
    this.#drafts = new DraftEmails(drafts);
  }

  /** Adds or replaces the suppression of an address. */
  suppress(suppression: Suppression): void {
    this.suppressions.delete(suppression.address);
    this.suppressions.set(suppression.address, suppression);
  }

  /** Undefined until the number has been read. */
  count(status: OutboundStatus): number | undefined {
    return status === 'Draft' ? this.#drafts.size : this.#counts.get(status);
  }

  get(id: string): RememberedOutbound | undefined {
    return this.#rows.get(id);
  }

  /** Finds the outbound email whose copy this email is. */
  withCopy(emailId: string): RememberedOutbound | undefined {
    for (const known of this.#rows.values()) if (known.row.emailId === emailId) return known;
    return undefined;
  }

  /** Stores counts that were read while the mailbox was at `modseq`; counts of another state are ignored. */
  learn({ modseq, counts }: OutboundCounts, at: number): void {
    if (modseq !== at) return;
    for (const [status, count] of counts) this.#counts.set(status, count);
  }

  evolve({ outbound, outboundRemoved, suppressions, suppressionsRemoved }: CoalescedChanges): void {
    for (const address of suppressionsRemoved) this.suppressions.delete(address);
    for (const suppression of suppressions) this.suppress(suppression);
    for (const { outbound: changed, before, row, summary } of outbound) {
      const { id, status } = changed;
      if (status === 'Draft') this.#drafts.set(changed);
      else this.#drafts.delete(id);
      const known = this.#rows.peek(id);
      if (row !== undefined && isInFlight(row)) this.#rows.set(id, { row, summary: summary ?? known?.summary });
      else this.#rows.delete(id);
      if (before !== null) this.#add(before, -1);
      this.#add(status, 1);
    }
    for (const id of outboundRemoved) {
      // The status of a removed email is not known here, so counts are read again.
      if (!this.#drafts.delete(id)) this.#counts.clear();
      this.#rows.delete(id);
    }
  }

  #add(status: OutboundStatus, by: number): void {
    const count = this.#counts.get(status);
    if (count !== undefined) this.#counts.set(status, count + by);
  }
}

function isInFlight({ status, dsnDue }: OutboundRow): boolean {
  return status === 'Queued' || status === 'Sending' || dsnDue !== null;
}
