// Reads what a plan needs and has not been read, and stores edited messages, so that the commands can be planned again.
import type { BlobStore } from '../../../store/blobs.js';
import type { MailboxStore } from '../../../store/mailboxes.js';
import type { Prefetched } from '../commands/prefetch.js';
import { readCopies, type UnreadCopies } from '../outbound/copy-reads.js';
import { type EditedMessages, storeEdited } from '../sieve/edited-messages.js';
import { readEmails } from './email-reads.js';

export interface Unread {
  /** Ids of emails whose rows are needed. */
  readonly emails: ReadonlySet<string>;
  readonly copies: UnreadCopies;
  /** Messages with edited headers. */
  readonly edited: EditedMessages['unread'];
}

export const isAllRead = ({ emails, copies, edited }: Unread): boolean => emails.size + copies.size + edited.size === 0;

interface Sources {
  readonly store: Pick<MailboxStore, 'summaries' | 'submittedCopies' | 'appendedMessageIds' | 'outboundRows'>;
  readonly blobs: Pick<BlobStore, 'index' | 'read' | 'put'>;
}

/** Adds the missing reads to the earlier ones. Never rejects: instead, the plan of the command that needs them fails. */
export async function readAlso(
  { store, blobs }: Sources,
  accountId: string,
  before: Prefetched,
  { emails, copies, edited: wanted }: Unread,
): Promise<Prefetched> {
  const [emailReads, copyReads, edited] = await Promise.all([
    emails.size === 0 ? before.emailReads : readEmails(store, accountId, before.emailReads, emails),
    copies.size === 0 ? before.copyReads : readCopies(store, accountId, before.copyReads, copies),
    wanted.size === 0 ? before.edited : storeEdited(blobs, accountId, before.edited, wanted),
  ]);
  return { ...before, emailReads, copyReads, edited };
}
