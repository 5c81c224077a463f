// The mailbox in memory: what its actor knows without asking the store. Only committed changes evolve it. Many mailboxes only receive mail
// for a long time, so rarely needed parts are created on first use.

import { isUuid } from '../../../mail-format/ids.js';
import { ListedSenders, NO_SENDERS, type SenderLists } from '../../../mail-format/senders.js';
import { type CoalescedChanges, coalesce } from '../../../store/changes/coalesced-changes.js';
import type { CoalescedPlacements } from '../../../store/changes/coalesced-placements.js';
import { LazyMap } from '../../../store/changes/lazy-map.js';
import { isImportId } from '../../../store/imports.js';
import type {
  FilterRow,
  FilterRun,
  FiltersAwaitingBody,
  FolderCounters,
  SystemRole,
} from '../../../store/mailbox-rows.js';
import type {
  ClaimedAccount,
  MailboxChange,
  MailboxStore,
  PlacementPage,
  RememberedReply,
  SmallMailbox,
  ThreadChange,
} from '../../../store/mailboxes.js';
import { type Forwarding, NO_FORWARDING } from '../../../store/preferences.js';
import { NO_VACATION, type Vacation } from '../../../store/vacation.js';
import type { Loaded } from '../../runtime/behavior.js';
import { inOrder } from '../filters/filter-match.js';
import { OutboundMemory } from '../outbound/memory.js';
import type { SendingMemory } from '../outbound/sending-memory.js';
import { SearchMemory } from '../search/search-memory.js';
import { SieveScripts } from '../sieve/sieve-scripts.js';
import { Annotations } from './annotations.js';
import { DueMailMemory } from './due-mail-memory.js';
import { EmailColumns } from './email-columns.js';
import { FolderColumns, type SlotPlacement } from './folder-columns.js';
import { Summaries } from './summaries.js';
import { ThreadColumn } from './thread-column.js';

/** Deliveries that are remembered, so that a repeated one is answered without the store. */
const REMEMBERED_DELIVERIES = 1_000;
/** Replies that are remembered: more than the commands that may be repeated at a time. */
const REMEMBERED_REPLIES = 1_000;
/** Approximate memory of remembered entries: an id as text, and a reply with its id. */
const ID_OCTETS = 100;
const REPLY_OCTETS = 400;
/** Approximate memory of an empty part that is created on first use. */
const PART_OCTETS = 2_000;
const WORN_SLOTS = 50_000;
const NOBODY_LISTED = new ListedSenders(NO_SENDERS);

/** The choices that decide what becomes of mail. */
interface Choices {
  readonly senders?: SenderLists;
  readonly forwarding?: Forwarding;
  readonly vacation?: Vacation;
}

export class MailboxState {
  readonly accountId: string;
  /** The epoch of the ownership under which the mailbox was loaded. */
  readonly epoch: number;
  readonly isUnclaimed: boolean;
  modseq: number;
  /** At this modseq, threads of older emails may have changed: the store has joined some, or the mailbox was loaded. */
  threadsAt: number;
  readonly emails = new EmailColumns();
  readonly folders = new Map<string, FolderColumns>();
  /** Sorted by the order of evaluation. */
  filters: readonly FilterRow[] = [];
  senders = NOBODY_LISTED;
  /** Filters that wait for bodies, by email id. */
  readonly awaitingBody = new LazyMap<string, FiltersAwaitingBody>();
  /** Runs of filters over existing mail, in the order in which they began. */
  readonly filterRuns = new LazyMap<string, FilterRun>();
  #sieve: SieveScripts | undefined;
  /** In the order in which the mail arrived. */
  readonly dueMail = new DueMailMemory();
  forwarding = NO_FORWARDING;
  vacation = NO_VACATION;
  /** What the `duplicate` test of scripts has seen, by key: until when it is a duplicate. */
  readonly sieveKeys = new LazyMap<string, number>();
  /** Senders who have got a vacation reply, by key: when they may get another one; the first of these comes first. */
  readonly answered = new LazyMap<string, number>();
  #annotations: Annotations | undefined;
  #search: SearchMemory | undefined;
  #outbound: OutboundMemory | undefined;
  #threads: ThreadColumn | undefined;
  /** Undefined until the account sends. */
  sending: SendingMemory | undefined;
  readonly summaries: Summaries;
  /** Inbound ids whose delivery is known to be done. */
  #delivered: Set<string> | undefined;
  #replies: Map<string, RememberedReply> | undefined;

  constructor(accountId: string, epoch: number, account: ClaimedAccount) {
    this.accountId = accountId;
    this.summaries = new Summaries(accountId);
    this.epoch = epoch;
    this.isUnclaimed = account.isUnclaimed;
    this.modseq = account.modseq;
    this.threadsAt = account.modseq;
  }

  folderOf(role: SystemRole): FolderColumns {
    for (const folder of this.folders.values()) {
      if (folder.row.role === role) return folder;
    }
    throw new Error(`account ${this.accountId} has no ${role} folder`);
  }

  get sieve(): SieveScripts {
    this.#sieve ??= new SieveScripts();
    return this.#sieve;
  }

  get annotations(): Annotations {
    this.#annotations ??= new Annotations();
    return this.#annotations;
  }

  get search(): SearchMemory {
    this.#search ??= new SearchMemory(this.emails);
    return this.#search;
  }

  get outbound(): OutboundMemory {
    this.#outbound ??= new OutboundMemory();
    return this.#outbound;
  }

  get threads(): ThreadColumn {
    this.#threads ??= new ThreadColumn(this.emails);
    return this.#threads;
  }

  markedFolders(): readonly FolderColumns[] {
    return [...this.folders.values()].filter(({ deletedCount }) => deletedCount > 0);
  }

  /** Whether the email exists and some folder shows it (docs/interface/mail.md, "Hidden mail"). */
  isShown(slot: number): boolean {
    if (slot < 0 || !this.emails.isAlive(slot)) return false;
    let isMarked = false;
    for (const folder of this.folders.values()) isMarked ||= folder.isDeleted(slot);
    if (!isMarked) return true;
    for (const folder of this.folders.values()) if (folder.shows(slot)) return true;
    return false;
  }

  /** The slot of an email that a folder shows, or -1. */
  findShown(id: string): number {
    const slot = isUuid(id) ? this.emails.find(id) : -1;
    return this.isShown(slot) ? slot : -1;
  }

  get octets(): number {
    let octets = this.emails.octets + this.summaries.octets;
    for (const part of [this.#search, this.#outbound, this.#annotations, this.#sieve, this.sending, this.#threads])
      if (part !== undefined) octets += PART_OCTETS + part.octets;
    octets += (this.#delivered?.size ?? 0) * ID_OCTETS + (this.#replies?.size ?? 0) * REPLY_OCTETS;
    octets += this.dueMail.octets + (this.answered.size + this.sieveKeys.size) * ID_OCTETS;
    for (const folder of this.folders.values()) octets += folder.octets;
    return octets;
  }

  get needsCompaction(): boolean {
    return this.emails.dead > WORN_SLOTS && this.emails.dead * 2 > this.emails.size;
  }

  /** Applies the changes of threads that the last evolved commit has made. */
  changeThreads(change: ThreadChange): void {
    // A column that is made later would not know that it must be read again.
    if (change === 'unsettled') this.threads.changed(change);
    else this.#threads?.changed(change);
    if (change !== 'grown') this.threadsAt = this.modseq;
    if (change === 'unsettled') this.summaries.close();
    else this.summaries.threadsChanged({ areJoined: change === 'joined' });
  }

  isDelivered(inboundId: string): boolean {
    return this.#delivered?.has(inboundId) === true;
  }

  rememberDelivered(inboundIds: readonly string[]): void {
    if (inboundIds.length === 0) return;
    this.#delivered ??= new Set();
    for (const id of inboundIds) this.#delivered.add(id);
    for (const id of this.#delivered) {
      if (this.#delivered.size <= REMEMBERED_DELIVERIES) break;
      this.#delivered.delete(id);
    }
  }

  rememberReplies(replies: readonly RememberedReply[]): void {
    if (replies.length === 0) return;
    this.#replies ??= new Map();
    for (const reply of replies) this.#replies.set(reply.id, reply);
    for (const id of this.#replies.keys()) {
      if (this.#replies.size <= REMEMBERED_REPLIES) break;
      this.#replies.delete(id);
    }
  }

  recall(id: string): RememberedReply | undefined {
    return this.#replies?.get(id);
  }

  /** Applies a committed change. */
  evolve(change: MailboxChange): void {
    const coalesced = coalesce(change.changes);
    this.summaries.evolve(coalesced, this.emails);
    for (const email of coalesced.emailsAdded) this.emails.append(email);
    this.#threads?.evolve(coalesced.emailsAdded);
    this.#evolveFlags(coalesced);
    this.#evolveFolders(coalesced, change.counters);
    for (const id of coalesced.emailsRemoved) this.emails.kill(this.emails.find(id));
    if (coalesced.filters.length + coalesced.filtersRemoved.length > 0) {
      const replaced = new Set([...coalesced.filtersRemoved, ...coalesced.filters.map(({ id }) => id)]);
      this.filters = inOrder([...this.filters.filter(({ id }) => !replaced.has(id)), ...coalesced.filters]);
    }
    for (const waiting of coalesced.filtersAwaitingBody) this.awaitingBody.set(waiting.emailId, waiting);
    for (const id of coalesced.bodyFiltersEnded) this.awaitingBody.delete(id);
    for (const run of coalesced.filterRuns) this.filterRuns.set(run.id, run);
    for (const id of coalesced.filterRunsRemoved) this.filterRuns.delete(id);
    if (coalesced.sieve !== undefined) {
      const { scripts, removed, active, tracked, untracked } = coalesced.sieve;
      for (const { name, content } of scripts) this.sieve.set(name, content);
      for (const name of removed) this.sieve.delete(name);
      if (active !== undefined) this.sieve.activate(active);
      for (const key of untracked) this.sieveKeys.delete(key);
      for (const { key, until } of tracked) this.sieveKeys.append(key, until);
    }
    for (const due of coalesced.dueMail) this.dueMail.set(due.id, due);
    for (const id of coalesced.dueMailEnded) this.dueMail.delete(id);
    for (const key of coalesced.vacationForgotten) this.answered.delete(key);
    for (const { key, until } of coalesced.vacationAnswered) this.answered.append(key, until);
    for (const annotation of coalesced.annotations) this.annotations.set(annotation);
    this.#evolveChoices(coalesced);
    const { outbound, outboundRemoved, suppressions, suppressionsRemoved } = coalesced;
    const isOutbound = outbound.length + outboundRemoved.length + suppressions.length + suppressionsRemoved.length > 0;
    if (isOutbound) this.outbound.evolve(coalesced);
    if (change.sent !== undefined) this.sending?.evolve(change.sent);
    this.modseq = change.modseqAfter;
    this.rememberDelivered(change.inbound.filter((id) => !isImportId(id)));
    this.rememberReplies(change.remembered);
  }

  #evolveChoices({ preferences }: CoalescedChanges): void {
    if (preferences === undefined) return;
    const { senders, forwarding, vacation } = preferences.chosen as Choices;
    if (senders !== undefined) this.senders = new ListedSenders(senders);
    this.forwarding = forwarding ?? this.forwarding;
    this.vacation = vacation ?? this.vacation;
  }

  #evolveFlags({ flaggedTogether, emailsFlagged }: CoalescedChanges): void {
    const marked = this.markedFolders();
    for (const { change: record, ids } of flaggedTogether) {
      const { flags, keywords } = record.payload;
      const slots = this.#slotsOf(ids.octets);
      for (const folder of marked) folder.reflag(slots, flags);
      this.emails.setFlagsOfAll(slots, flags, record.seq);
      if (keywords !== undefined) this.emails.setKeywordsOfAll(slots, keywords);
    }
    for (const { id, flags, keywords, modseq } of emailsFlagged) {
      const slot = this.emails.find(id);
      for (const folder of marked) folder.reflag([slot], flags);
      this.emails.setFlags(slot, flags, keywords, modseq);
    }
  }

  #slotsOf(packed: Uint8Array): number[] {
    const slots: number[] = [];
    this.emails.eachSlot(packed, (slot) => slots.push(slot));
    return slots;
  }

  #evolveFolders(coalesced: CoalescedChanges, counters: readonly FolderCounters[]): void {
    for (const id of coalesced.foldersRemoved) {
      this.folders.delete(id);
      this.#annotations?.deleteFolder(id);
    }
    for (const folder of coalesced.foldersAdded) {
      const row = { ...folder, uidNext: 1, total: 0, unread: 0, highestModseq: 0 };
      this.folders.set(folder.id, new FolderColumns(row, this.emails));
    }
    for (const [folderId, placements] of coalesced.placements) {
      const folder = this.folders.get(folderId)!;
      // Placements end first, because an email that was removed and placed again has a new UID.
      for (const { slots, modseq } of this.#expunged(placements)) folder.unplaceAll(slots, modseq);
      const { placed, marked } = placements;
      folder.placeAll(this.#placed(placements));
      for (const row of [...marked, ...placed.filter(({ isDeleted }) => isDeleted)]) {
        folder.setDeleted(this.emails.find(row.emailId), row.isDeleted, row.modseq);
      }
    }
    for (const row of [...coalesced.foldersChanged, ...counters]) {
      const folder = this.folders.get(row.id)!;
      folder.row = { ...folder.row, ...row };
    }
  }

  #placed({ placed, placedTogether }: CoalescedPlacements): readonly SlotPlacement[] {
    const placements = placed.map(({ emailId, uid, modseq }) => ({ slot: this.emails.find(emailId), uid, modseq }));
    for (const { firstUid, ids, modseq } of placedTogether) {
      this.emails.eachSlot(ids.octets, (slot, i) => placements.push({ slot, uid: firstUid + i, modseq }));
    }
    return placements;
  }

  /** The ended placements by ascending modseq. */
  #expunged({
    expunged,
    expungedTogether,
  }: CoalescedPlacements): readonly { readonly slots: number[]; readonly modseq: number }[] {
    const runs: { readonly slots: number[]; readonly modseq: number }[] = [];
    for (const { emailId, modseq } of expunged) {
      if (runs.at(-1)?.modseq !== modseq) runs.push({ slots: [], modseq });
      runs.at(-1)!.slots.push(this.emails.find(emailId));
    }
    for (const { ids, modseq } of expungedTogether) {
      runs.push({ slots: this.#slotsOf(ids.octets), modseq });
    }
    return runs.sort((a, b) => a.modseq - b.modseq);
  }
}

/** Claims the account and loads its mailbox: after the claim no other owner can change it, so all parts are read at once. */
export async function loadMailbox(
  store: MailboxStore,
  accountId: string,
  epoch: number,
): Promise<Loaded<MailboxState>> {
  const account = await store.claim(accountId, epoch);
  if (account.kind !== 'claimed') return account;
  const state = new MailboxState(accountId, epoch, account);
  const { overview, keywords, placements } = await contentsOf(store, account, state);
  for (const { names, emailIds } of keywords) {
    state.emails.eachSlot(emailIds, (slot) => state.emails.loadKeywords(slot, names));
  }
  for (const row of overview.folders) state.folders.set(row.id, new FolderColumns(row, state.emails));
  for (const page of placements) state.folders.get(page.folderId)?.load(page);
  const { floor, folders } = overview.expunged;
  for (const page of folders) state.folders.get(page.folderId)?.loadExpunged(page);
  for (const folder of state.folders.values()) {
    folder.pruneExpunged(floor);
    folder.trim();
  }
  state.emails.trim();
  state.filters = inOrder(overview.filters);
  for (const run of overview.filterRuns) state.filterRuns.set(run.id, run);
  for (const due of overview.dueMail) state.dueMail.set(due.id, due);
  for (const waiting of overview.filtersAwaitingBody) state.awaitingBody.set(waiting.emailId, waiting);
  for (const { name, content } of overview.sieveScripts) state.sieve.set(name, content);
  if (overview.activeSieveScript !== null) state.sieve.activate(overview.activeSieveScript);
  for (const annotation of overview.annotations) state.annotations.set(annotation);
  if (overview.senders !== null) state.senders = new ListedSenders(overview.senders);
  state.forwarding = overview.forwarding ?? NO_FORWARDING;
  state.vacation = overview.vacation ?? NO_VACATION;
  for (const { key, until } of overview.answered) state.answered.set(key, until);
  for (const { key, until } of overview.sieveKeys) state.sieveKeys.set(key, until);
  if (overview.drafts.length > 0) state.outbound.loadDrafts(overview.drafts);
  for (const suppression of overview.suppressions) state.outbound.suppress(suppression);
  state.rememberReplies(overview.remembered);
  return { kind: 'loaded', state };
}

/** Reads what the claim does not contain; emails are loaded into the state as they arrive. */
async function contentsOf(
  store: MailboxStore,
  { mailbox }: ClaimedAccount,
  { accountId, emails }: MailboxState,
): Promise<Omit<SmallMailbox, 'emails'>> {
  if (mailbox !== undefined) {
    for (const page of mailbox.emails) emails.load(page);
    return mailbox;
  }
  const placements: PlacementPage[] = [];
  const [overview, keywords] = await Promise.all([
    store.overview(accountId),
    store.keywords(accountId),
    each(store.emails(accountId), (page) => emails.load(page)),
    each(store.placements(accountId), (page) => placements.push(page)),
  ]);
  return { overview, keywords, placements };
}

async function each<T>(pages: AsyncIterable<T>, take: (page: T) => void): Promise<void> {
  for await (const page of pages) take(page);
}
