// Rows of emails that are to become drafts, read from the store for the commands that are being planned.
import type { EmailSummaryRow } from '../../../store/mailbox-rows.js';
import type { MailboxStore } from '../../../store/mailboxes.js';

export class DraftReads {
  readonly #rows = new Map<string, EmailSummaryRow>();
  #fault: unknown;

  /** @throws the fault that kept the row from being read */
  get(emailId: string): EmailSummaryRow | undefined {
    const row = this.#rows.get(emailId);
    if (row === undefined && this.#fault !== undefined) throw this.#fault;
    return row;
  }

  /** Never rejects: the plan of the command that asks for a row fails as the reading did. */
  async read(store: Pick<MailboxStore, 'summaries'>, accountId: string, emailIds: Iterable<string>): Promise<void> {
    const ids = [...emailIds];
    try {
      for (const row of await store.summaries(accountId, ids)) this.#rows.set(row.id, row);
      if (ids.some((id) => !this.#rows.has(id))) this.#fault = new Error('an email in memory is not in the store');
    } catch (fault) {
      this.#fault = fault;
    }
  }

  clear(): void {
    this.#rows.clear();
    this.#fault = undefined;
  }
}
