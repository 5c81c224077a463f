// The mailbox as if the records of a batch were committed. Records are applied one after the other, so that later commands of the batch see
// the changes of earlier ones.
import { SEEN } from '../../../mail-format/flags.js';
import { ListedSenders, type SenderLists } from '../../../mail-format/senders.js';
import { type Change, type ChangeOf, flaggedIn, placementsIn, removedIn } from '../../../store/changes/changes.js';
import type { FilterChanges } from '../filters/filter-changes.js';
import type { OutboundChanges } from '../outbound/changes.js';
import type { SieveChanges } from '../sieve/sieve-changes.js';
import type { Annotations } from './annotations.js';
import type { DueMailChanges } from './due-mail.js';
import { EmailChanges } from './email-changes.js';
import { FolderChanges } from './folder-changes.js';
import type { MailboxState } from './state.js';

export class ChangedMailbox {
  readonly emails: EmailChanges;
  readonly folders: FolderChanges;
  /** The number of unread emails in the inbox that clients were told last. */
  announcedUnread: number;
  senders: ListedSenders;
  readonly #state: MailboxState;
  readonly #filters: FilterChanges;
  readonly #sieve: SieveChanges;
  readonly #outbound: OutboundChanges;
  readonly #dueMail: DueMailChanges;
  /** Undefined until the batch changes an annotation; the state's annotations are valid until then. */
  #annotations: Annotations | undefined;

  constructor(
    state: MailboxState,
    filters: FilterChanges,
    sieve: SieveChanges,
    outbound: OutboundChanges,
    dueMail: DueMailChanges,
  ) {
    this.#state = state;
    this.#filters = filters;
    this.#sieve = sieve;
    this.#outbound = outbound;
    this.#dueMail = dueMail;
    this.emails = new EmailChanges(state);
    this.folders = new FolderChanges(state);
    this.senders = state.senders;
    this.announcedUnread = state.folderOf('inbox').shownRow.unread;
  }

  get annotations(): Annotations {
    return this.#annotations ?? this.#state.annotations;
  }

  /** The only way to change this object. `slots`: the slots of the emails in the record, when the caller knows them. */
  // biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table with a row per kind of change
  apply(change: Change, slots?: readonly number[]): void {
    const { seq } = change;
    switch (change.type) {
      case 'EmailAdded': {
        const { email, placements } = change.payload;
        const slot = this.emails.add(email, seq);
        for (const { folderId, uid } of placements) this.folders.place(folderId, slot, uid, this.#isUnread(slot), seq);
        return;
      }
      case 'EmailPlaced':
        this.#place(change, slots);
        return;
      case 'EmailExpunged':
        this.#expunge(change, slots);
        return;
      case 'EmailRemoved':
        this.#remove(change, slots);
        return;
      case 'FlagsChanged':
        this.#flag(change, slots);
        return;
      case 'DeletedChanged':
        this.#mark(change, slots);
        return;
      case 'FolderCreated':
        this.folders.create(change.payload.folder, seq);
        return;
      case 'FolderChanged':
        this.folders.change(change.payload.folder, seq);
        return;
      case 'FolderDeleted':
        this.#deleteFolder(change);
        return;
      case 'AnnotationsChanged': {
        const { folderId, entries } = change.payload;
        const annotations = this.#ownAnnotations();
        for (const entry of entries) annotations.set({ folderId, ...entry });
        return;
      }
      case 'FilterChanged':
      case 'FilterDeleted':
      case 'FiltersAwaitBody':
      case 'BodyFiltersEnded':
      case 'FilterRunChanged':
      case 'FilterRunRemoved':
        this.#filters.apply(change);
        return;
      case 'SieveScriptStored':
      case 'SieveScriptDeleted':
      case 'SieveScriptActivated':
      case 'SieveKeyTracked':
        this.#sieve.apply(change);
        return;
      case 'OutboundChanged':
      case 'RecipientChanged':
      case 'OutboundRemoved':
      case 'SuppressionAdded':
      case 'SuppressionRemoved':
        this.#outbound.apply(change);
        return;
      case 'AutomaticMailDue':
      case 'AutomaticMailEnded':
      case 'VacationAnswered':
        this.#dueMail.apply(change);
        return;
      case 'UnreadCountChanged':
        this.announcedUnread = change.payload.unread;
        return;
      case 'EmailAnnounced':
      case 'MailDiscarded':
      case 'DeliveryAttempted':
      case 'DeliveredLocally':
      case 'FilterRunApplied':
        return;
      case 'PreferencesChanged':
        this.#choose(change);
        this.#dueMail.apply(change);
        return;
    }
  }

  #choose({ payload: { chosen } }: ChangeOf<'PreferencesChanged'>): void {
    const senders = chosen['senders'] as SenderLists | undefined;
    if (senders !== undefined) this.senders = new ListedSenders(senders);
  }

  #place(change: ChangeOf<'EmailPlaced'>, slots: readonly number[] | undefined): void {
    const { seq } = change;
    const { folderId, uid } = change.payload;
    const placed = slots ?? placementsIn(change.payload).map(({ emailId }) => this.emails.find(emailId));
    placed.forEach((slot, i) => {
      this.folders.place(folderId, slot, uid + i, this.#isUnread(slot), seq);
    });
  }

  #expunge(change: ChangeOf<'EmailExpunged'>, slots: readonly number[] | undefined): void {
    const { seq } = change;
    const { folderId } = change.payload;
    for (const slot of slots ?? placementsIn(change.payload).map(({ emailId }) => this.emails.find(emailId))) {
      this.folders.unplace(folderId, slot, this.#isUnread(slot), seq);
    }
  }

  #remove(change: ChangeOf<'EmailRemoved'>, slots: readonly number[] | undefined): void {
    const { seq } = change;
    const { placements } = change.payload;
    for (const slot of slots ?? removedIn(change.payload).map(({ emailId }) => this.emails.find(emailId))) {
      for (const { folderId } of placements) this.folders.unplace(folderId, slot, this.#isUnread(slot), seq);
      this.emails.remove(slot);
    }
  }

  #flag(change: ChangeOf<'FlagsChanged'>, slots: readonly number[] | undefined): void {
    const { seq } = change;
    const { flags, changed } = change.payload;
    const flagged = slots ?? flaggedIn(change.payload).map((emailId) => this.emails.find(emailId));
    this.emails.setFlags(change, flagged);
    this.folders.reflag(flagged, (changed & SEEN) === 0 ? 0 : (flags & SEEN) === 0 ? 1 : -1, seq);
  }

  #mark(change: ChangeOf<'DeletedChanged'>, slots: readonly number[] | undefined): void {
    const { seq } = change;
    const { folderId, isDeleted } = change.payload;
    for (const slot of slots ?? placementsIn(change.payload).map(({ emailId }) => this.emails.find(emailId))) {
      this.folders.setDeleted(folderId, slot, isDeleted, this.#isUnread(slot), seq);
    }
  }

  #deleteFolder(change: ChangeOf<'FolderDeleted'>): void {
    const { seq } = change;
    const { folderId, placed } = change.payload;
    this.folders.delete(folderId);
    if (this.annotations.count(folderId) > 0) this.#ownAnnotations().deleteFolder(folderId);
    for (const { emailId, uid } of placed?.emails ?? []) {
      const slot = this.emails.find(emailId);
      this.folders.place(placed!.folderId, slot, uid, this.#isUnread(slot), seq);
    }
  }

  #ownAnnotations(): Annotations {
    this.#annotations ??= this.#state.annotations.copy();
    return this.#annotations;
  }

  #isUnread(slot: number): boolean {
    return (this.emails.flags(slot) & SEEN) === 0;
  }
}
