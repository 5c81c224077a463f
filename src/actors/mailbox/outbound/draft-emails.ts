// Maps the drafts of a mailbox to their emails in Drafts, and back. All of them are in memory: an account can create at most MOST_DRAFTS,
// but cancelled emails become drafts beyond that number.
import type { DraftEmail } from '../../../store/outbound.js';

export const MOST_DRAFTS = 1_000;

// Approximate memory of a draft: two ids as text, and their entries.
const DRAFT_OCTETS = 300;

export class DraftEmails {
  readonly #emails = new Map<string, string>();
  readonly #drafts = new Map<string, string>();

  constructor(drafts: Iterable<DraftEmail> = []) {
    for (const draft of drafts) this.set(draft);
  }

  get size(): number {
    return this.#emails.size;
  }

  get octets(): number {
    return this.#emails.size * DRAFT_OCTETS;
  }

  /** The draft whose email this is. */
  draftOf(emailId: string): string | undefined {
    return this.#drafts.get(emailId);
  }

  /** Replaces the draft's earlier email. */
  set({ id, emailId }: DraftEmail): void {
    this.delete(id);
    this.#emails.set(id, emailId);
    this.#drafts.set(emailId, id);
  }

  /** Returns false when there is no such draft. */
  delete(id: string): boolean {
    const emailId = this.#emails.get(id);
    if (emailId !== undefined) this.#drafts.delete(emailId);
    return this.#emails.delete(id);
  }

  *[Symbol.iterator](): Iterator<DraftEmail> {
    for (const [id, emailId] of this.#emails) yield { id, emailId };
  }
}
