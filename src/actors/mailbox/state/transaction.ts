// The transaction of one commit: the changes of a batch of commands, each a record, and a view of the mailbox as if they were committed
// (changed-mailbox.ts), so that later commands of the batch see the changes of earlier ones.
import type { RetryPolicy } from '../../../machines/outbound-email/retry.js';
import { isUuid } from '../../../mail-format/ids.js';
import type { ListedSenders } from '../../../mail-format/senders.js';
import type { AnnouncedEmail, Change, ChangeContent, ChangeOf, NewEmail } from '../../../store/changes/changes.js';
import type { InlineMessages } from '../../../store/inline/inline-messages.js';
import type { Usage } from '../../../store/limits/quotas.js';
import type { FolderDefinition, Placement } from '../../../store/mailbox-rows.js';
import type { MailboxChange, RememberedReply } from '../../../store/mailboxes.js';
import { hasRoom } from '../../quotas/room.js';
import type { PlanContext } from '../../runtime/behavior.js';
import { NOTHING_PREFETCHED, type Prefetched } from '../commands/prefetch.js';
import { FilterChanges } from '../filters/filter-changes.js';
import { OutboundChanges } from '../outbound/changes.js';
import { SubmittedCopies } from '../outbound/copy-reads.js';
import { DraftRows } from '../outbound/draft-rows.js';
import { SendingChanges } from '../outbound/sending-changes.js';
import { SieveChanges } from '../sieve/sieve-changes.js';
import type { Annotations } from './annotations.js';
import { BatchIds } from './batch-ids.js';
import { ChangedMailbox } from './changed-mailbox.js';
import { DueMailChanges } from './due-mail.js';
import { EmailRows } from './email-reads.js';
import type { FolderChanges } from './folder-changes.js';
import { grouped } from './grouped.js';
import { areSameKeywords, inKeywordOrder } from './keyword-order.js';
import { HIDDEN, NamedEmails } from './named-emails.js';
import type { MailboxState } from './state.js';
import { TransactionMessages } from './transaction-messages.js';
import type { Unread } from './unread.js';

interface TransactionContext extends PlanContext {
  readonly retry: RetryPolicy;
  readonly inlineMessages: Pick<InlineMessages, 'find' | 'decline'>;
}

/** `keywords`: in keyword order, when they change for each of the emails. */
export interface FlagsOfAll {
  readonly flags: number;
  readonly changed: number;
  readonly keywords?: readonly string[];
}

export class MailboxTransaction {
  readonly state: MailboxState;
  readonly now: number;
  readonly folders: FolderChanges;
  readonly filters: FilterChanges;
  readonly sieve: SieveChanges;
  readonly outbound: OutboundChanges;
  readonly dueMail: DueMailChanges;
  readonly sending: SendingChanges;
  readonly retryPolicy: RetryPolicy;
  readonly emailRows: EmailRows;
  readonly copies: SubmittedCopies;
  readonly prefetched: Prefetched;
  readonly messages: TransactionMessages;
  readonly #context: TransactionContext;
  readonly #mailbox: ChangedMailbox;
  readonly #named: NamedEmails;
  readonly #draftRows: DraftRows;
  readonly #changes: Change[] = [];
  readonly #consumed = new Set<string>();
  /** Deliveries that happen once, although they may be repeated with an inbound row. */
  readonly #remembered: RememberedReply[] = [];
  #modseq: number;
  readonly #ids: BatchIds;

  constructor(state: MailboxState, context: TransactionContext, prefetched: Prefetched = NOTHING_PREFETCHED) {
    const record = (change: ChangeContent) => this.#record(change);
    this.state = state;
    this.now = context.now;
    this.filters = new FilterChanges(state, record);
    this.sieve = new SieveChanges(state, record);
    this.outbound = new OutboundChanges(state, prefetched.outbound, record, prefetched.slots);
    this.sending = new SendingChanges(state, prefetched.sending, context.now);
    this.dueMail = new DueMailChanges(state, record, () => this.otherId());
    this.#mailbox = new ChangedMailbox(state, this.filters, this.sieve, this.outbound, this.dueMail);
    this.folders = this.#mailbox.folders;
    this.#named = new NamedEmails(this.#mailbox);
    this.#draftRows = new DraftRows({
      draftsId: state.folderOf('drafts').row.id,
      reads: prefetched.emailReads,
      outbound: this.outbound,
      now: context.now,
      otherId: () => this.otherId(),
      added: (id) => this.#mailbox.emails.added(id),
      id: (slot) => this.id(slot),
    });
    this.emailRows = new EmailRows(prefetched.emailReads, (id) => this.#mailbox.emails.added(id));
    this.copies = new SubmittedCopies(this, prefetched.copyReads);
    this.retryPolicy = context.retry;
    this.messages = new TransactionMessages(context.inlineMessages, state.accountId, prefetched.edited);
    this.prefetched = prefetched;
    this.#context = context;
    this.#modseq = state.modseq;
    this.#ids = new BatchIds(state.emails, context);
  }

  get epoch(): number {
    return this.#context.epoch;
  }

  /** Begins the change of one command: the records that follow have the next modseq. */
  begin(): number {
    return ++this.#modseq;
  }

  isConsumed(inboundId: string): boolean {
    const isAccepted = this.messages.shared.some(({ id }) => id === inboundId);
    return isAccepted || this.#consumed.has(inboundId) || this.state.isDelivered(inboundId);
  }

  consume(inboundId: string): void {
    this.#consumed.add(inboundId);
  }

  /** The commit writes nothing if an earlier one has remembered the delivery. */
  remember(inboundId: string, reply: unknown): void {
    this.#remembered.push({ id: inboundId, reply });
  }

  /** The slot of an email that exists after the batch so far, or -1. `id` must be a UUID. */
  find(id: string): number {
    return this.#mailbox.emails.find(id);
  }

  /** One more than the last slot. */
  get slotsEnd(): number {
    return this.#mailbox.emails.size;
  }

  id(slot: number): string {
    return this.#mailbox.emails.id(slot);
  }

  flags(slot: number): number {
    return this.#mailbox.emails.flags(slot);
  }

  /** Returns the flags when all these emails have the same; undefined otherwise. */
  sharedFlags(slots: readonly number[]): number | undefined {
    return this.#mailbox.emails.sharedFlags(slots);
  }

  /** Returns the keywords when all these emails have the same; undefined otherwise. */
  sharedKeywords(slots: readonly number[]): readonly string[] | undefined {
    return this.#mailbox.emails.sharedKeywords(slots);
  }

  keywords(slot: number): readonly string[] {
    return this.#mailbox.emails.keywords(slot);
  }

  /** Keywords of the account by their lower-case names, in the spelling that was used first. */
  keywordNames(): ReadonlyMap<string, string> {
    return this.#mailbox.emails.keywordNames();
  }

  /** Octets of the message. */
  sizeOf(slot: number): number {
    return this.#mailbox.emails.sizeOf(slot);
  }

  receivedAt(slot: number): number {
    return this.#mailbox.emails.receivedAt(slot);
  }

  /** The modseq of the email's last change or, with a folder, of the last change of the email or its placement. */
  modseq(slot: number, folderId?: string): number {
    const email = this.#mailbox.emails.modseq(slot);
    return folderId === undefined ? email : Math.max(email, this.folders.modseq(folderId, slot));
  }

  /** What the mailbox uses after the batch so far. */
  get usage(): Usage {
    return this.#mailbox.emails.usage;
  }

  /** Whether these messages would exceed the quota of the account or of its domain. */
  exceedsQuota(added: Usage): boolean {
    const { quota } = this.prefetched;
    return quota !== undefined && !hasRoom({ ...quota, used: this.usage }, added);
  }

  added(id: string): NewEmail | undefined {
    return this.#mailbox.emails.added(id);
  }

  /** Emails with this Message-Id that the batch has added, newest first. */
  addedWith(messageId: string): readonly NewEmail[] {
    return this.#mailbox.emails.addedWith(messageId);
  }

  get senders(): ListedSenders {
    return this.#mailbox.senders;
  }

  get annotations(): Annotations {
    return this.#mailbox.annotations;
  }

  /** The slot of an email that some folder shows after the batch so far, or -1. */
  findShown(id: string): number {
    const slot = isUuid(id) ? this.find(id) : -1;
    return slot >= 0 && this.folders.isShown(slot) ? slot : -1;
  }

  isDeleted(slot: number, folderId: string): boolean {
    return this.folders.isDeleted(folderId, slot);
  }

  /** Makes the id of a new email: above every email id of the mailbox, even if the clock goes back. */
  newId(): string {
    return this.#ids.ofEmail();
  }

  otherId(): string {
    return this.#ids.other();
  }

  /** Uniform in [0, 1). */
  random(): number {
    return Buffer.from(this.#context.random(4)).readUInt32BE() / 2 ** 32;
  }

  /** Adds an email with an id from `newId`. `isNew`: clients are told of new mail. */
  add(email: NewEmail, folderIds: readonly string[], { isNew }: { readonly isNew: boolean }): readonly Placement[] {
    const placements = folderIds.map((folderId) => ({ folderId, uid: this.folders.row(folderId)!.uidNext }));
    const added = { ...email, keywords: inKeywordOrder(email.keywords) };
    this.#record({ type: 'EmailAdded', payload: { email: added, placements, isNew } });
    return placements;
  }

  /** Gives emails these flags and, if given, these keywords. Emails that already have them are skipped. */
  setFlags(slots: readonly number[], flags: number, keywords?: readonly string[]): void {
    const ordered = keywords === undefined ? undefined : inKeywordOrder(keywords);
    const others = (slot: number) => ordered !== undefined && !areSameKeywords(ordered, this.keywords(slot));
    const groups = grouped(slots, (slot) => (flags ^ this.flags(slot)) * 2 + (others(slot) ? 1 : 0));
    for (const [key, group] of groups) {
      if (key === 0) continue;
      this.setAlike(group, { flags, changed: key >> 1, ...(key % 2 === 1 && { keywords: ordered! }) });
    }
  }

  /** Gives emails these flags; `changed` bits must differ for each of them. */
  setAlike(slots: readonly number[], change: FlagsOfAll): void {
    for (const [alike, hidden] of this.#named.apart(slots)) {
      this.#record({ type: 'FlagsChanged', payload: { ...change, ...this.#named.emails(alike), ...hidden } }, alike);
    }
  }

  /** Sets `\Deleted` in a folder that holds the emails. */
  setDeleted(slots: readonly number[], folderId: string, isDeleted: boolean): void {
    const changed = slots.filter((slot) => this.isDeleted(slot, folderId) !== isDeleted);
    const groups = grouped(changed, (slot) => isDeleted && !this.folders.isKeptElsewhere(slot, folderId));
    for (const [isHidden, alike] of groups) {
      const draftIds = this.#draftRows.draftsAmong(alike, folderId);
      const payload = { folderId, ...this.#named.placements(alike, folderId), isDeleted, ...draftIds };
      this.#record({ type: 'DeletedChanged', payload: { ...payload, ...(isHidden && HIDDEN) } }, alike);
    }
  }

  /** Places emails in a folder that holds none of them; they get the folder's next UIDs, in order. Each slot must occur once. */
  place(slots: readonly number[], folderId: string): void {
    if (slots.length === 0) return;
    const uid = this.folders.row(folderId)!.uidNext;
    this.#record({ type: 'EmailPlaced', payload: { folderId, uid, ...this.#named.emails(slots) } }, slots);
  }

  /** Removes emails, each once, from a folder that holds them; when the batch ends, other folders must hold them. */
  unplace(slots: readonly number[], folderId: string): void {
    this.#expunge(slots, folderId, { areDraftsKept: false });
  }

  /** Ends placements of emails, each once, that `place` creates again in the same command: a draft stays a draft. */
  displace(slots: readonly number[], folderId: string): void {
    // Clients are told of the drafts that become visible again.
    if (this.folders.row(folderId)!.role === 'drafts') this.setDeleted(slots, folderId, false);
    this.#expunge(slots, folderId, { areDraftsKept: true });
  }

  #expunge(slots: readonly number[], folderId: string, { areDraftsKept }: { readonly areDraftsKept: boolean }): void {
    const leaving = (slot: number) => {
      if (this.isDeleted(slot, folderId)) return 'isHidden';
      return areDraftsKept || this.folders.isKeptElsewhere(slot, folderId) ? 'isShown' : 'leavesHidden';
    };
    for (const [kind, alike] of grouped(slots, leaving)) {
      const left = kind === 'isShown' ? {} : { [kind]: true };
      const payload = { folderId, ...this.#named.placements(alike, folderId), ...left };
      this.#record({ type: 'EmailExpunged', payload }, alike, { areDraftsKept });
    }
  }

  /** Removes the emails, each given once, with all their placements. */
  remove(slots: readonly number[]): void {
    for (const slot of slots) this.filters.endBodyFilters(this.id(slot));
    for (const [all, hidden] of this.#named.apart(slots)) {
      for (const group of grouped(all, (slot) => this.folders.holding(slot).join()).values()) {
        this.#record({ type: 'EmailRemoved', payload: { ...this.#named.everywhere(group), ...hidden } }, group);
      }
    }
  }

  /** Creates an empty folder. */
  createFolder(folder: FolderDefinition): void {
    this.#record({ type: 'FolderCreated', payload: { folder } });
  }

  changeFolder(id: string, changed: Partial<Omit<FolderDefinition, 'id' | 'role'>>): void {
    const { uidNext: _uid, total: _total, unread: _unread, highestModseq: _modseq, ...folder } = this.folders.row(id)!;
    this.#record({ type: 'FolderChanged', payload: { folder: { ...folder, ...changed } } });
  }

  /** Deletes a folder with its placements. `placed`: its emails that are placed in another folder. */
  deleteFolder(id: string, placed?: { readonly folderId: string; readonly slots: readonly number[] }): void {
    const { role } = this.folders.row(id)!;
    if (placed === undefined || placed.slots.length === 0) {
      this.#record({ type: 'FolderDeleted', payload: { folderId: id, role, placed: null } });
      return;
    }
    const { folderId, slots } = placed;
    const { uidNext } = this.folders.row(folderId)!;
    const emails = slots.map((slot, i) => ({ emailId: this.id(slot), uid: uidNext + i }));
    this.#record({ type: 'FolderDeleted', payload: { folderId: id, role, placed: { folderId, emails } } });
  }

  /** Sets annotations of a folder, or of the account (null); null removes one. */
  annotate(folderId: string | null, entries: ChangeOf<'AnnotationsChanged'>['payload']['entries']): void {
    this.#record({ type: 'AnnotationsChanged', payload: { folderId, entries } });
  }

  /** Replaces values of preferences. */
  choosePreferences(chosen: ChangeOf<'PreferencesChanged'>['payload']['chosen']): void {
    this.#record({ type: 'PreferencesChanged', payload: { chosen } });
  }

  /** Announces an email to clients as if it had just arrived. */
  announce(email: AnnouncedEmail): void {
    this.#record({ type: 'EmailAnnounced', payload: email });
  }

  /** Records mail that is not kept: its octets may be deleted. */
  discard(blob: string, inboundId?: string): void {
    this.#record({ type: 'MailDiscarded', payload: { blob, ...(inboundId !== undefined && { inboundId }) } });
  }

  /** Tells clients the number of unread emails in the inbox, if it differs from the last one that they were told. */
  announceUnread({ always = false }: { readonly always?: boolean } = {}): void {
    const unread = this.folders.shownUnread(this.folders.rowOf('inbox').id);
    if (always || unread !== this.#mailbox.announcedUnread)
      this.#record({ type: 'UnreadCountChanged', payload: { unread } });
  }

  /** Applies records of a log unchanged. */
  replay(changes: readonly Change[]): void {
    for (const change of changes) {
      this.#modseq = change.seq;
      this.#changes.push(change);
      this.#mailbox.apply(change);
    }
  }

  /** What the plan needs and has not been read: the plan must not be committed unless this is empty. */
  get unread(): Unread {
    const emails = new Set([...this.#draftRows.unread, ...this.emailRows.unread]);
    return { emails, copies: this.copies.unread, edited: this.messages.edited.unread };
  }

  /** Returns the change to commit; undefined when nothing changes. */
  change(remembered: readonly RememberedReply[]): MailboxChange | undefined {
    if (this.#modseq === this.state.modseq) return undefined;
    return {
      accountId: this.state.accountId,
      epoch: this.#context.epoch,
      modseqBefore: this.state.modseq,
      modseqAfter: this.#modseq,
      changes: this.#changes,
      counters: this.folders.counters(),
      usage: this.usage,
      sent: this.sending.counted,
      inbound: [...this.#consumed],
      contents: this.messages.contents,
      shared: this.messages.shared,
      remembered: [...remembered, ...this.#remembered],
      keywordsOf: (emailId) => this.keywords(this.find(emailId)),
    };
  }

  /** `slots`: the existing emails of the record. */
  #record(content: ChangeContent, slots?: readonly number[], { areDraftsKept = false } = {}): void {
    const change = { seq: this.#modseq, at: this.now, ...content } as Change;
    this.#changes.push(change);
    this.#mailbox.apply(change, slots);
    if (!areDraftsKept) this.#draftRows.follow(change);
  }
}
