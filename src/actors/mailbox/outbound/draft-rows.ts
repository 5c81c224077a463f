// Drafts follow the folder Drafts: an email that enters Drafts becomes a draft, and when it leaves Drafts the draft ends, whichever command
// places or removes the email. The transaction passes every record to `follow`, so commands need not do this. A command that changes a
// draft itself names the draft's email before it places the email.
//
// If the plan needs the row of an email that entered Drafts, `unread` names the email; the row is read from the store, and the commands are
// planned again.
import { type Change, type NewEmail, placementsIn, removedIn } from '../../../store/changes/changes.js';
import type { OutboundRow } from '../../../store/outbound.js';
import type { EmailReads } from '../state/email-reads.js';
import type { OutboundChanges } from './changes.js';
import { MOST_DRAFTS } from './draft-emails.js';

interface Dependencies {
  readonly draftsId: string;
  readonly reads: EmailReads;
  readonly outbound: OutboundChanges;
  readonly now: number;
  otherId(): string;
  /** Returns an email that the batch has added. */
  added(emailId: string): NewEmail | undefined;
  id(slot: number): string;
}

export class DraftRows {
  /** Emails whose rows the plan needs and does not have. */
  readonly unread = new Set<string>();
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Records how a change of emails or placements changes drafts. */
  follow(change: Change): void {
    switch (change.type) {
      case 'EmailAdded': {
        const { email, placements } = change.payload;
        if (this.#isAmong(placements)) this.#enter(email.id);
        return;
      }
      case 'EmailPlaced':
        if (!this.#isAmong([change.payload])) return;
        for (const { emailId } of placementsIn(change.payload)) this.#enter(emailId);
        return;
      case 'EmailExpunged':
        if (!this.#isAmong([change.payload])) return;
        for (const { emailId } of placementsIn(change.payload)) this.#leave(emailId, change.payload);
        return;
      case 'EmailRemoved':
        if (!this.#isAmong(change.payload.placements)) return;
        for (const { emailId } of removedIn(change.payload)) this.#leave(emailId, change.payload);
        return;
      case 'FolderDeleted': {
        const { placed } = change.payload;
        if (placed === null || !this.#isAmong([placed])) return;
        for (const { emailId } of placed.emails) this.#enter(emailId);
      }
    }
  }

  /** The drafts of these emails in a folder, as a field of a record about them. */
  draftsAmong(slots: readonly number[], folderId: string): { readonly draftIds?: readonly string[] } {
    const { outbound, draftsId, id } = this.#dependencies;
    if (folderId !== draftsId || outbound.drafts.size === 0) return {};
    const draftIds = slots.flatMap((slot) => outbound.drafts.draftOf(id(slot)) ?? []);
    return draftIds.length === 0 ? {} : { draftIds };
  }

  #isAmong(placements: readonly { readonly folderId: string }[]): boolean {
    return placements.some(({ folderId }) => folderId === this.#dependencies.draftsId);
  }

  #leave(emailId: string, { isHidden }: { readonly isHidden?: true }): void {
    const { outbound } = this.#dependencies;
    this.unread.delete(emailId);
    const draftId = outbound.drafts.draftOf(emailId);
    if (draftId !== undefined) outbound.remove(draftId, isHidden);
  }

  /** Beyond the limit, the email does not become a draft. @throws the fault that prevented reading its row */
  #enter(emailId: string): void {
    const { outbound, reads, now, otherId, added } = this.#dependencies;
    const { drafts } = outbound;
    if (drafts.draftOf(emailId) !== undefined || drafts.size + this.unread.size >= MOST_DRAFTS) return;
    const email = added(emailId) ?? reads.rows.get(emailId);
    if (email === undefined) {
      if (reads.fault !== undefined) throw reads.fault;
      this.unread.add(emailId);
      return;
    }
    const { blob, fromAddress: sender, subject, inReplyTo, references, size } = email;
    const row: OutboundRow = {
      ...newDraft(otherId(), now),
      emailId,
      blob,
      sender,
      subject,
      inReplyTo,
      references,
      size,
    };
    outbound.put(row, undefined, { recipients: 'all' });
  }
}

/** Returns a draft without its message. */
export function newDraft(id: string, now: number): Omit<OutboundRow, 'blob' | 'emailId'> {
  return {
    id,
    status: 'Draft',
    sender: '',
    subject: '',
    messageId: null,
    inReplyTo: null,
    references: [],
    size: 0,
    createdAt: now,
    updatedAt: now,
    queuedAt: null,
    sentAt: null,
    retryCount: 0,
    nextRetryAt: null,
    heldUntil: null,
    lastError: null,
    attempt: null,
    dsnDue: null,
    dsnAt: null,
    delayReported: false,
    dsn: null,
    awaitsRelease: false,
    machine: null,
    recipients: [],
  };
}
