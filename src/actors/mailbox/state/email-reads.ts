// Rows of emails that a plan asks for and that memory does not have. They are read from the store, then the commands are planned again: for
// an email that becomes a draft, or one whose message a new email gets.
import type { NewEmail } from '../../../store/changes/changes.js';
import type { EmailSummaryRow } from '../../../store/mailbox-rows.js';
import type { MailboxStore } from '../../../store/mailboxes.js';

export interface EmailReads {
  /** Keyed by email id. */
  readonly rows: ReadonlyMap<string, EmailSummaryRow>;
  /** The reason why a row is missing. */
  readonly fault?: unknown;
}

export const NO_EMAIL_READS: EmailReads = { rows: new Map() };

/** Adds the rows of these emails to those that were read before. Never rejects: instead, the plan of the command that needs a row fails. */
export async function readEmails(
  store: Pick<MailboxStore, 'summaries'>,
  accountId: string,
  before: EmailReads,
  emailIds: Iterable<string>,
): Promise<EmailReads> {
  const ids = [...emailIds];
  const rows = new Map(before.rows);
  try {
    for (const row of await store.summaries(accountId, ids)) rows.set(row.id, row);
    if (ids.every((id) => rows.has(id))) return { ...before, rows };
    return { rows, fault: new Error('an email in memory is not in the store') };
  } catch (fault) {
    return { rows, fault };
  }
}

/** The rows of emails that the commands of a transaction ask for. */
export class EmailRows {
  /** Emails whose rows the plan needs and does not have. */
  readonly unread = new Set<string>();
  readonly #reads: EmailReads;
  readonly #added: (emailId: string) => NewEmail | undefined;

  /** `added`: returns an email that the batch has added. */
  constructor(reads: EmailReads, added: (emailId: string) => NewEmail | undefined) {
    this.#reads = reads;
    this.#added = added;
  }

  /** Undefined when the row must be read first. @throws the fault that prevented reading it */
  get(emailId: string): EmailSummaryRow | undefined {
    const row = this.#added(emailId) ?? this.#reads.rows.get(emailId);
    if (row !== undefined) return row;
    if (this.#reads.fault !== undefined) throw this.#reads.fault;
    this.unread.add(emailId);
    return undefined;
  }
}
