// Rows of emails that are to become drafts, read from the store for the commands that are being planned.
import type { EmailSummaryRow } from '../../../store/mailbox-rows.js';
import type { MailboxStore } from '../../../store/mailboxes.js';

export interface DraftReads {
  /** By id of the email. */
  readonly rows: ReadonlyMap<string, EmailSummaryRow>;
  /** Why a row is missing. */
  readonly fault?: unknown;
}

export const NO_DRAFT_READS: DraftReads = { rows: new Map() };

/** What was read before, and the rows of these emails. Never rejects: the plan of the command that asks for a row fails. */
export async function readDrafts(
  store: Pick<MailboxStore, 'summaries'>,
  accountId: string,
  before: DraftReads,
  emailIds: Iterable<string>,
): Promise<DraftReads> {
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
