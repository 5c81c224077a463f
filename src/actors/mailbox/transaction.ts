// The transaction of one commit: what a batch of commands will change, read through as if it had happened already. Commands
// later in the batch see the earlier ones; no row stands twice in the change that comes out.

import type { RetryPolicy } from '../../machines/outbound-email/retry.js';
import { SEEN } from '../../mail/flags.js';
import { uuidV7 } from '../../mail/ids.js';
import { joinedSets, threadIds } from '../../mail/thread.js';
import type { AddedEmail, EmailRow, EventRow, MailboxChange, RememberedReply } from '../../store/mailboxes.js';
import type { PlanContext } from '../runtime/behavior.js';
import { FilterChanges } from './filter-changes.js';
import { FolderChanges } from './folder-changes.js';
import { OutboundChanges } from './outbound/changes.js';
import { NOTHING_PREFETCHED, type Prefetched } from './prefetch.js';
import type { MailboxEvent } from './protocol.js';
import type { MailboxState } from './state.js';

interface Placement {
  readonly folderId: string;
  readonly uid: number;
}

/** What planning for a mailbox needs besides. */
interface TransactionContext extends PlanContext {
  readonly retry: RetryPolicy;
}

export class MailboxTransaction {
  readonly state: MailboxState;
  readonly now: number;
  readonly folders: FolderChanges;
  readonly filters: FilterChanges;
  readonly outbound: OutboundChanges;
  readonly retryPolicy: RetryPolicy;
  /** What was read of the store for the commands of this batch. */
  readonly prefetched: Prefetched;
  readonly #context: TransactionContext;
  #modseq: number;
  #eventNumber = 0;
  readonly #added: EmailRow[] = [];
  readonly #flagged = new Map<number, { id: string; flags: number; modseq: number }>();
  readonly #removed = new Map<number, string>();
  readonly #events: EventRow[] = [];
  readonly #consumed = new Set<string>();
  readonly #released: string[] = [];
  #announcedUnread: number;
  #idTime: number;
  #idSequence: number;

  constructor(state: MailboxState, context: TransactionContext, prefetched: Prefetched = NOTHING_PREFETCHED) {
    this.state = state;
    this.now = context.now;
    this.folders = new FolderChanges(state);
    this.filters = new FilterChanges(state);
    this.outbound = new OutboundChanges(state, prefetched.outbound, prefetched.slots);
    this.retryPolicy = context.retry;
    this.prefetched = prefetched;
    this.#context = context;
    this.#modseq = state.modseq;
    this.#announcedUnread = state.folderOf('inbox').row.unread;
    this.#idTime = state.emails.newestIdTime;
    this.#idSequence = state.emails.newestIdSequence;
  }

  get epoch(): number {
    return this.#context.epoch;
  }

  /** Begins the change of one command: what follows gets the next modseq. */
  begin(): number {
    this.#eventNumber = 0;
    return ++this.#modseq;
  }

  isConsumed(inboundId: string): boolean {
    return this.#consumed.has(inboundId) || this.state.delivered.has(inboundId);
  }

  consume(inboundId: string): void {
    this.#consumed.add(inboundId);
  }

  /** The slot of an email that exists after the batch so far, or -1. */
  find(id: string): number {
    const slot = this.state.emails.find(id);
    return this.#removed.has(slot) ? -1 : slot;
  }

  flags(slot: number): number {
    return this.#flagged.get(slot)?.flags ?? this.state.emails.flags(slot);
  }

  /** A new email's id: above every id of the mailbox, whatever the clock does. */
  newId(): string {
    if (this.now > this.#idTime) {
      this.#idTime = this.now;
      this.#idSequence = 0;
    } else if (this.#idSequence >= 0xfff) {
      this.#idTime++;
      this.#idSequence = 0;
    } else {
      this.#idSequence++;
    }
    return uuidV7(this.#idTime, this.#idSequence, this.#context.random(8));
  }

  /** The id of anything but an email. */
  otherId(): string {
    return uuidV7(this.now, 0, this.#context.random(8));
  }

  /** Evenly from [0, 1). */
  random(): number {
    return Buffer.from(this.#context.random(4)).readUInt32BE() / 2 ** 32;
  }

  add(email: Omit<EmailRow, 'modseq'>, folderIds: readonly string[]): Placement[] {
    this.#added.push({ ...email, modseq: this.#modseq });
    const isUnread = (email.flags & SEEN) === 0;
    return folderIds.map((folderId) => ({
      folderId,
      uid: this.folders.place(folderId, email.id, -1, isUnread, this.#modseq),
    }));
  }

  /** Mail that is not kept: its bytes may go. */
  release(blob: string): void {
    this.#released.push(blob);
  }

  setFlags(slot: number, flags: number): void {
    const seenBefore = this.flags(slot) & SEEN;
    this.#flagged.set(slot, { id: this.state.emails.id(slot), flags, modseq: this.#modseq });
    if (seenBefore !== (flags & SEEN)) this.folders.recount(slot, seenBefore !== 0, this.#modseq);
  }

  place(slot: number, folderId: string): void {
    const emailId = this.state.emails.id(slot);
    const uid = this.folders.place(folderId, emailId, slot, this.#isUnread(slot), this.#modseq);
    this.emit('EmailPlaced', { emailId, folderId, uid });
  }

  unplace(slot: number, folderId: string): void {
    const emailId = this.state.emails.id(slot);
    const uid = this.folders.unplace(folderId, emailId, slot, this.#isUnread(slot), this.#modseq);
    this.emit('EmailUnplaced', { emailId, folderId, uid });
  }

  /** Places an email without telling of it: one of many, of which another event tells. */
  placeSilently(slot: number, folderId: string): void {
    this.folders.place(folderId, this.state.emails.id(slot), slot, this.#isUnread(slot), this.#modseq);
  }

  /** Removes every placement of the email and the email itself. */
  remove(slot: number): void {
    const emailId = this.state.emails.id(slot);
    const isUnread = this.#isUnread(slot);
    const placements = this.folders.holding(slot).map((folderId) => ({
      folderId,
      uid: this.folders.unplace(folderId, emailId, slot, isUnread, this.#modseq),
    }));
    this.#flagged.delete(slot);
    this.#removed.set(slot, emailId);
    this.filters.endDeferral(emailId);
    this.emit('EmailRemoved', { emailId, placements });
  }

  /** Tells of the inbox's unread emails if their number is another than was last told. */
  emitUnread(): void {
    const { unread } = this.folders.rowOf('inbox');
    if (unread !== this.#announcedUnread) this.emit('UnreadCountChanged', { unread });
  }

  emit<T extends MailboxEvent['type']>(type: T, payload: Extract<MailboxEvent, { type: T }>['payload']): void {
    if (type === 'UnreadCountChanged') this.#announcedUnread = this.folders.rowOf('inbox').unread;
    this.#events.push({ seq: this.#modseq, n: this.#eventNumber++, type, payload, at: this.now });
  }

  /** What to commit; undefined when nothing changes. */
  change(remembered: readonly RememberedReply[]): MailboxChange | undefined {
    if (this.#modseq === this.state.modseq) return undefined;
    return {
      accountId: this.state.accountId,
      epoch: this.#context.epoch,
      modseqBefore: this.state.modseq,
      modseqAfter: this.#modseq,
      emailsAdded: threaded(this.#added),
      emailsFlagged: [...this.#flagged.values()],
      emailsRemoved: [...this.#removed.values()],
      ...this.folders.change(),
      ...this.filters.change(),
      blobsReleased: this.#released,
      events: this.#events,
      inbound: [...this.#consumed],
      remembered,
      ...this.outbound.change(),
    };
  }

  #isUnread(slot: number): boolean {
    return (this.flags(slot) & SEEN) === 0;
  }
}

/** New emails that share an id are one thread, named after the first of them; the store looks for the ids of all. */
function threaded(emails: readonly EmailRow[]): AddedEmail[] {
  if (emails.length === 1) return [{ ...emails[0]!, threadIds: threadIds(emails[0]!) }];
  const ids = emails.map(threadIds);
  const groups = joinedSets(ids);
  const shared = new Map<number, Set<string>>();
  groups.forEach((group, i) => {
    shared.set(group, new Set([...(shared.get(group) ?? []), ...ids[i]!]));
  });
  return emails.map((email, i) => {
    const group = groups[i]!;
    return { ...email, threadId: emails[group]!.threadId, threadIds: [...shared.get(group)!] };
  });
}
