// The coalesced effect of a list of changes: one row per changed thing. The statement of the commit and the state of the actor are made
// from it. What the list adds and removes again is left out; of several changes of a row the last one counts.

import type { PackedIds } from '../../mail-format/packed-ids.js';
import { joinedSets, threadIds } from '../../mail-format/threads/thread.js';
import type {
  AnnotationRow,
  DueMail,
  EmailRow,
  FilterRow,
  FilterRun,
  FiltersAwaitingBody,
  FolderDefinition,
  LocalDelivery,
  RunBatch,
} from '../mailbox-rows.js';
import type { Suppression } from '../outbound.js';
import type { Answered } from '../vacation.js';
import { type Change, type ChangeOf, flaggedIn, packedIn, placementsIn, removedIn } from './changes.js';
import { type CoalescedOutboundChanges, OutboundCoalescer } from './coalesced-outbound.js';
import { type CoalescedPlacements, PlacementCoalescer, type PlacementsTogether } from './coalesced-placements.js';
import { type CoalescedSieve, SieveCoalescer } from './coalesced-sieve.js';
import { LazyMap, LazySet } from './lazy-map.js';

/** A new email, and the message ids by which the store finds its thread; emails of one thread have the same ids. */
export interface AddedEmail extends EmailRow {
  readonly threadIds: readonly string[];
}

interface FlaggedEmail {
  readonly id: string;
  readonly flags: number;
  /** Present when they changed. */
  readonly keywords?: readonly string[];
  readonly modseq: number;
}

/** Emails that get the same flags from one record, and the same keywords when it names some. */
interface FlaggedTogether {
  readonly change: ChangeOf<'FlagsChanged'>;
  readonly ids: PackedIds;
}

export interface CoalescedChanges extends CoalescedOutboundChanges {
  /** Ascending by id. */
  readonly emailsAdded: readonly AddedEmail[];
  /** Records in order, which apply before `emailsFlagged`. They may include emails that are removed. */
  readonly flaggedTogether: readonly FlaggedTogether[];
  readonly emailsFlagged: readonly FlaggedEmail[];
  readonly emailsRemoved: readonly string[];
  /** Placements by folder; removed folders are left out. */
  readonly placements: ReadonlyMap<string, CoalescedPlacements>;
  readonly foldersAdded: readonly FolderDefinition[];
  readonly foldersChanged: readonly FolderDefinition[];
  readonly foldersRemoved: readonly string[];
  /** Annotations of the account and of folders that are not removed. */
  readonly annotations: readonly AnnotationRow[];
  readonly filters: readonly FilterRow[];
  readonly filtersRemoved: readonly string[];
  readonly filtersAwaitingBody: readonly FiltersAwaitingBody[];
  /** Emails for which no filter waits any more. */
  readonly bodyFiltersEnded: readonly string[];
  readonly filterRuns: readonly FilterRun[];
  readonly filterRunBatches: readonly RunBatch[];
  readonly filterRunsRemoved: readonly string[];
  /** Undefined when no Sieve script has changed. */
  readonly sieve: CoalescedSieve | undefined;
  readonly dueMail: readonly DueMail[];
  readonly dueMailEnded: readonly string[];
  readonly vacationAnswered: readonly Answered[];
  /** Keys of senders that are not among the answered ones any more. */
  readonly vacationForgotten: readonly string[];
  readonly suppressions: readonly Suppression[];
  /** Addresses that are not suppressed any more. */
  readonly suppressionsRemoved: readonly string[];
  /** Blobs of mail that was not kept. */
  readonly blobsReleased: readonly string[];
  readonly localDeliveries: readonly LocalDelivery[];
  /** Undefined when nothing was chosen. `at`: time of the last choice, in ms since the epoch. */
  readonly preferences: { readonly chosen: Readonly<Record<string, unknown>>; readonly at: number } | undefined;
}

/** Up to this many ids are searched one by one in all ids of a record. */
const MOST_SEARCHED = 32;

const COALESCED = Symbol('coalesced');

/**
 * Computes the coalesced once per list, which must not change afterwards. The list itself keeps it, because a weak map costs the
 * garbage collector more.
 */
export function coalesce(changes: readonly Change[]): CoalescedChanges {
  const list: readonly Change[] & { [COALESCED]?: CoalescedChanges } = changes;
  if (list[COALESCED] === undefined) {
    const coalescer = new ChangeCoalescer();
    for (const change of changes) coalescer.take(change);
    Object.defineProperty(list, COALESCED, { value: coalescer.result() });
  }
  return list[COALESCED]!;
}

class ChangeCoalescer {
  readonly #added = new LazyMap<string, EmailRow>();
  readonly #flaggedTogether: FlaggedTogether[] = [];
  readonly #flagged = new LazyMap<string, FlaggedEmail>();
  readonly #removed = new LazySet<string>();
  readonly #placements = new Map<string, PlacementCoalescer>();
  readonly #foldersAdded = new LazyMap<string, FolderDefinition>();
  readonly #foldersChanged = new LazyMap<string, FolderDefinition>();
  readonly #foldersRemoved = new LazySet<string>();
  /** The key is the folder and the name. */
  readonly #annotations = new LazyMap<string, AnnotationRow>();
  readonly #filters = new LazyMap<string, FilterRow>();
  readonly #filtersRemoved = new LazySet<string>();
  readonly #awaitingBody = new LazyMap<string, FiltersAwaitingBody>();
  readonly #bodyFiltersEnded = new LazySet<string>();
  readonly #filterRuns = new LazyMap<string, FilterRun>();
  readonly #filterRunBatches: RunBatch[] = [];
  readonly #filterRunsRemoved: string[] = [];
  #sieve: SieveCoalescer | undefined;
  readonly #dueMail = new LazyMap<string, DueMail>();
  readonly #dueMailEnded: string[] = [];
  readonly #answered = new LazyMap<string, Answered>();
  readonly #forgotten = new LazySet<string>();
  readonly #suppressions = new LazyMap<string, Suppression>();
  readonly #suppressionsRemoved = new LazySet<string>();
  readonly #released: string[] = [];
  readonly #outbound = new OutboundCoalescer();
  readonly #localDeliveries: LocalDelivery[] = [];
  #preferences: CoalescedChanges['preferences'];

  // biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table with a row per kind of change
  take(change: Change): void {
    switch (change.type) {
      case 'EmailAdded': {
        const { email, placements } = change.payload;
        this.#added.set(email.id, { modseq: change.seq, ...email });
        for (const { folderId, uid } of placements) this.#folder(folderId).placeAdded(uid, email.id, change.seq);
        return;
      }
      case 'EmailPlaced':
        this.#place(change);
        return;
      case 'EmailExpunged':
        this.#expunge(change);
        return;
      case 'EmailRemoved':
        for (const removed of removedIn(change.payload)) this.#remove(removed, change.seq);
        return;
      case 'FlagsChanged':
        this.#flag(change);
        return;
      case 'DeletedChanged':
        this.#mark(change);
        return;
      case 'FolderCreated':
        this.#foldersAdded.set(change.payload.folder.id, change.payload.folder);
        return;
      case 'FolderChanged': {
        const { folder } = change.payload;
        (this.#foldersAdded.has(folder.id) ? this.#foldersAdded : this.#foldersChanged).set(folder.id, folder);
        return;
      }
      case 'FolderDeleted':
        this.#deleteFolder(change);
        return;
      case 'AnnotationsChanged': {
        const { folderId, entries } = change.payload;
        for (const entry of entries) this.#annotations.set(`${folderId} ${entry.name}`, { folderId, ...entry });
        return;
      }
      case 'FilterChanged':
        this.#filters.set(change.payload.filter.id, change.payload.filter);
        return;
      case 'FilterDeleted':
        this.#filters.delete(change.payload.filterId);
        this.#filtersRemoved.add(change.payload.filterId);
        return;
      case 'FiltersAwaitBody':
        this.#awaitingBody.set(change.payload.emailId, change.payload);
        this.#bodyFiltersEnded.delete(change.payload.emailId);
        return;
      case 'BodyFiltersEnded':
        this.#awaitingBody.delete(change.payload.emailId);
        this.#bodyFiltersEnded.add(change.payload.emailId);
        return;
      case 'FilterRunChanged':
        this.#filterRuns.set(change.payload.run.id, change.payload.run);
        return;
      case 'FilterRunApplied':
        this.#filterRunBatches.push(change.payload);
        return;
      case 'FilterRunRemoved':
        this.#filterRuns.delete(change.payload.runId);
        this.#filterRunsRemoved.push(change.payload.runId);
        return;
      case 'SieveScriptStored':
      case 'SieveScriptDeleted':
      case 'SieveScriptActivated':
      case 'SieveKeyTracked':
        this.#sieve ??= new SieveCoalescer();
        this.#sieve.take(change);
        return;
      case 'AutomaticMailDue':
        this.#dueMail.set(change.payload.due.id, change.payload.due);
        return;
      case 'AutomaticMailEnded':
        this.#dueMail.delete(change.payload.id);
        this.#dueMailEnded.push(change.payload.id);
        this.#released.push(change.payload.blob);
        return;
      case 'VacationAnswered':
        this.#answer(change.payload);
        return;
      case 'SuppressionAdded':
        this.#suppressions.delete(change.payload.address);
        this.#suppressions.set(change.payload.address, change.payload);
        this.#suppressionsRemoved.delete(change.payload.address);
        return;
      case 'SuppressionRemoved':
        this.#suppressions.delete(change.payload.address);
        this.#suppressionsRemoved.add(change.payload.address);
        return;
      case 'MailDiscarded':
        this.#released.push(change.payload.blob);
        return;
      case 'OutboundChanged':
        this.#outbound.change(change);
        return;
      case 'RecipientChanged':
        this.#outbound.changeRecipient(change.payload);
        return;
      case 'OutboundRemoved':
        this.#released.push(...this.#outbound.remove(change.payload.outboundId));
        return;
      case 'DeliveryAttempted':
        this.#outbound.attempt(change.payload);
        return;
      case 'DeliveredLocally':
        this.#localDeliveries.push(change.payload);
        return;
      case 'PreferencesChanged':
        this.#preferences = { chosen: { ...this.#preferences?.chosen, ...change.payload.chosen }, at: change.at };
        return;
      case 'EmailAnnounced':
      case 'UnreadCountChanged':
        return;
    }
  }

  #answer({ key, until, forgotten }: ChangeOf<'VacationAnswered'>['payload']): void {
    for (const one of forgotten) {
      this.#answered.delete(one);
      this.#forgotten.add(one);
    }
    this.#forgotten.delete(key);
    this.#answered.delete(key);
    this.#answered.set(key, { key, until });
  }

  #place(change: ChangeOf<'EmailPlaced'>): void {
    const folder = this.#folder(change.payload.folderId);
    const together = togetherIn(change);
    if (together !== undefined) folder.placeTogether(together);
    else for (const { emailId, uid } of placementsIn(change.payload)) folder.place(uid, emailId, change.seq, change.at);
  }

  #expunge(change: ChangeOf<'EmailExpunged'>): void {
    const folder = this.#folder(change.payload.folderId);
    const together = togetherIn(change);
    if (together !== undefined) folder.expungeTogether(together);
    else for (const { emailId, uid } of placementsIn(change.payload)) folder.expunge(uid, emailId, change.seq);
  }

  result(): CoalescedChanges {
    return {
      emailsAdded: threaded(this.#added.values()),
      flaggedTogether: this.#flaggedTogether,
      emailsFlagged: this.#flagged.values(),
      emailsRemoved: this.#removed.values(),
      placements: new Map([...this.#placements].map(([folderId, coalescer]) => [folderId, coalescer.result()])),
      foldersAdded: this.#foldersAdded.values(),
      foldersChanged: this.#foldersChanged.values(),
      foldersRemoved: this.#foldersRemoved.values(),
      annotations: this.#annotations.values(),
      filters: this.#filters.values(),
      filtersRemoved: this.#filtersRemoved.values(),
      filtersAwaitingBody: this.#awaitingBody.values(),
      bodyFiltersEnded: this.#bodyFiltersEnded.values(),
      filterRuns: this.#filterRuns.values(),
      filterRunBatches: this.#filterRunBatches,
      filterRunsRemoved: this.#filterRunsRemoved,
      sieve: this.#sieve?.result(),
      dueMail: this.#dueMail.values(),
      dueMailEnded: this.#dueMailEnded,
      vacationAnswered: this.#answered.values(),
      vacationForgotten: this.#forgotten.values(),
      suppressions: this.#suppressions.values(),
      suppressionsRemoved: this.#suppressionsRemoved.values(),
      blobsReleased: this.#released,
      localDeliveries: this.#localDeliveries,
      preferences: this.#preferences,
      ...this.#outbound.result(),
    };
  }

  #folder(id: string): PlacementCoalescer {
    let folder = this.#placements.get(id);
    if (folder === undefined) {
      folder = new PlacementCoalescer();
      this.#placements.set(id, folder);
    }
    return folder;
  }

  #mark({ seq: modseq, payload }: ChangeOf<'DeletedChanged'>): void {
    const folder = this.#folder(payload.folderId);
    for (const { emailId, uid } of placementsIn(payload)) folder.mark(uid, emailId, payload.isDeleted, modseq);
  }

  #remove({ emailId, placements }: Omit<ChangeOf<'EmailRemoved'>['payload'], 'others'>, seq: number): void {
    for (const { folderId, uid } of placements) this.#folder(folderId).expunge(uid, emailId, seq);
    this.#flagged.delete(emailId);
    const added = this.#added.get(emailId);
    if (added === undefined) this.#removed.add(emailId);
    else {
      this.#added.delete(emailId);
      this.#released.push(added.blob);
    }
  }

  #flag(change: ChangeOf<'FlagsChanged'>): void {
    const { seq: modseq, payload } = change;
    const { flags, keywords } = payload;
    const ids = packedIn(payload);
    if (ids !== undefined && !this.#hasAny(ids)) {
      this.#flaggedTogether.push({ change, ids });
      return;
    }
    const changed = { flags, modseq, ...(keywords === undefined ? {} : { keywords }) };
    for (const id of flaggedIn(payload)) {
      const added = this.#added.get(id);
      if (added === undefined) this.#flagged.set(id, { id, ...this.#flagged.get(id), ...changed });
      else this.#added.set(id, { ...added, ...changed });
    }
  }

  /**
   * Whether the list has added one of the emails, or changed its flags in another record. For many ids, texts cost less than
   * searches.
   */
  #hasAny(ids: PackedIds): boolean {
    const single = [...this.#added.keys(), ...this.#flagged.keys()];
    if (single.length < MOST_SEARCHED) return single.some((id) => ids.has(id));
    for (const id of ids) if (this.#added.has(id) || this.#flagged.has(id)) return true;
    return false;
  }

  #deleteFolder(change: ChangeOf<'FolderDeleted'>): void {
    const { seq, at, payload } = change;
    const { folderId, placed } = payload;
    this.#placements.delete(folderId);
    for (const [key, row] of this.#annotations.entries()) if (row.folderId === folderId) this.#annotations.delete(key);
    this.#foldersChanged.delete(folderId);
    if (!this.#foldersAdded.delete(folderId)) this.#foldersRemoved.add(folderId);
    for (const { emailId, uid } of placed?.emails ?? []) this.#folder(placed!.folderId).place(uid, emailId, seq, at);
  }
}

/** Undefined when the record has no packed ids. */
function togetherIn({ seq, at, payload }: ChangeOf<'EmailPlaced' | 'EmailExpunged'>): PlacementsTogether | undefined {
  const ids = packedIn(payload);
  return ids && { firstUid: payload.uid, ids, modseq: seq, savedAt: at };
}

/** New emails that share a message id form one thread, named after the first of them; the store searches the ids of all. */
function threaded(emails: readonly EmailRow[]): AddedEmail[] {
  if (emails.length === 1) return [{ threadIds: threadIds(emails[0]!), ...emails[0]! }];
  const ids = emails.map(threadIds);
  const groups = joinedSets(ids);
  const shared = new Map<number, Set<string>>();
  groups.forEach((group, i) => {
    const known = shared.get(group);
    if (known === undefined) shared.set(group, new Set(ids[i]!));
    else for (const id of ids[i]!) known.add(id);
  });
  return emails.map((email, i) => {
    const group = groups[i]!;
    return { threadIds: [...shared.get(group)!], ...email, threadId: emails[group]!.threadId };
  });
}
