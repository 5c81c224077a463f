// The drafts of a mailbox and the emails in Drafts that stand for them, found both ways. In memory as a whole: of new ones an account
// has at most MOST_DRAFTS; emails that were cancelled are drafts again beyond it.
import type { DraftEmail } from '../../../store/outbound.js';

export const MOST_DRAFTS = 1_000;

// Rough memory of one: two ids as text, and their entries.
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

  /** The draft that the email stands for. */
  draftOf(emailId: string): string | undefined {
    return this.#drafts.get(emailId);
  }

  /** In place of what the draft had before. */
  set({ id, emailId }: DraftEmail): void {
    this.delete(id);
    this.#emails.set(id, emailId);
    this.#drafts.set(emailId, id);
  }

  /** False when there is no such draft. */
  delete(id: string): boolean {
    const emailId = this.#emails.get(id);
    if (emailId !== undefined) this.#drafts.delete(emailId);
    return this.#emails.delete(id);
  }

  *[Symbol.iterator](): Iterator<DraftEmail> {
    for (const [id, emailId] of this.#emails) yield { id, emailId };
  }
}
