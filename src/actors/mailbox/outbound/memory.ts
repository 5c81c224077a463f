// Outbound mail in a mailbox's memory: rows of emails in the queue, so that a delivery need not read what its mailbox has
// just written, the drafts, and how many emails have which status. All of it bounded, all of it only what the store has as well.
import type { MessageSummary } from '../../../mail/summary.js';
import type { OutboundCounts } from '../../../store/mailboxes.js';
import type { NetChange } from '../../../store/net-changes.js';
import type { DraftEmail, OutboundRow, OutboundStatus } from '../../../store/outbound.js';
import { DraftEmails } from './draft-emails.js';

const MOST_ROWS = 1_000;
const MOST_RECIPIENTS = 10_000;
// Rough memory of what is kept, machine included.
const ROW_OCTETS = 3_000;
const RECIPIENT_OCTETS = 1_000;

export interface RememberedOutbound {
  readonly row: OutboundRow;
  /** Of its message; absent when it has not been needed since the mailbox was loaded. */
  readonly summary?: MessageSummary | undefined;
}

export class OutboundMemory {
  /** Least recently changed first. */
  readonly #rows = new Map<string, RememberedOutbound>();
  #recipients = 0;
  readonly #counts = new Map<OutboundStatus, number>();
  #drafts = new DraftEmails();

  get octets(): number {
    return this.#rows.size * ROW_OCTETS + this.#recipients * RECIPIENT_OCTETS + this.#drafts.octets;
  }

  /** Not to be changed. */
  get drafts(): DraftEmails {
    return this.#drafts;
  }

  loadDrafts(drafts: Iterable<DraftEmail>): void {
    this.#drafts = new DraftEmails(drafts);
  }

  /** Undefined while it has not been learnt. */
  count(status: OutboundStatus): number | undefined {
    return status === 'Draft' ? this.#drafts.size : this.#counts.get(status);
  }

  get(id: string): RememberedOutbound | undefined {
    return this.#rows.get(id);
  }

  /** That this email is the copy of. */
  withCopy(emailId: string): RememberedOutbound | undefined {
    for (const known of this.#rows.values()) if (known.row.emailId === emailId) return known;
    return undefined;
  }

  /** Takes counts in that were read while the mailbox was at `modseq`; those of another moment are of no use later. */
  learn({ modseq, counts }: OutboundCounts, at: number): void {
    if (modseq !== at) return;
    for (const [status, count] of counts) this.#counts.set(status, count);
  }

  evolve({ outbound, outboundRemoved }: NetChange): void {
    for (const { outbound: changed, before, row, summary } of outbound) {
      const { id, status } = changed;
      if (status === 'Draft') this.#drafts.set(changed);
      else this.#drafts.delete(id);
      const known = this.#forget(id);
      if (row !== undefined && isInFlight(row)) this.#remember({ row, summary: summary ?? known?.summary });
      if (before !== null) this.#add(before, -1);
      this.#add(status, 1);
    }
    for (const id of outboundRemoved) {
      // Which status a final email had is not known here: counts are learnt again.
      if (!this.#drafts.delete(id)) this.#counts.clear();
      this.#forget(id);
    }
  }

  #add(status: OutboundStatus, by: number): void {
    const count = this.#counts.get(status);
    if (count !== undefined) this.#counts.set(status, count + by);
  }

  #remember(entry: RememberedOutbound): void {
    this.#rows.set(entry.row.id, entry);
    this.#recipients += entry.row.recipients.length;
    for (const id of this.#rows.keys()) {
      if (this.#rows.size <= MOST_ROWS && this.#recipients <= MOST_RECIPIENTS) break;
      this.#forget(id);
    }
  }

  #forget(id: string): RememberedOutbound | undefined {
    const known = this.#rows.get(id);
    if (known === undefined) return undefined;
    this.#rows.delete(id);
    this.#recipients -= known.row.recipients.length;
    return known;
  }
}

function isInFlight({ status, reportDue }: OutboundRow): boolean {
  return status === 'Queued' || status === 'Sending' || reportDue !== null;
}
