// Reads what a plan needs and has not been read, so that the commands can be planned again.
import type { MailboxStore } from '../../../store/mailboxes.js';
import type { Prefetched } from '../commands/prefetch.js';
import { readCopies, type UnreadCopies } from '../outbound/copy-reads.js';
import { readEmails } from './email-reads.js';

export interface Unread {
  /** Ids of emails whose rows are needed. */
  readonly emails: ReadonlySet<string>;
  readonly copies: UnreadCopies;
}

export const isAllRead = ({ emails, copies }: Unread): boolean => emails.size + copies.size === 0;

/** Adds the missing reads to the earlier ones. Never rejects: instead, the plan of the command that needs them fails. */
export async function readAlso(
  store: Pick<MailboxStore, 'summaries' | 'submittedCopies' | 'appendedMessageIds' | 'outboundRows'>,
  accountId: string,
  before: Prefetched,
  { emails, copies }: Unread,
): Promise<Prefetched> {
  const [emailReads, copyReads] = await Promise.all([
    emails.size === 0 ? before.emailReads : readEmails(store, accountId, before.emailReads, emails),
    copies.size === 0 ? before.copyReads : readCopies(store, accountId, before.copyReads, copies),
  ]);
  return { ...before, emailReads, copyReads };
}
