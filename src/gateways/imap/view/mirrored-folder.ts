// A folder mirror that follows the owner of the mailbox: changes of the account's log make the mirror stale, and `sync` asks
// the owner (decision 0043). One request runs at a time. A `sync` during a request waits for the next one, so that a
// change made before the call is in the mirror when the call returns.
import type { MailboxEvent, Mailboxes } from '../../../actors/mailbox/protocol.js';
import { changeOfBits, changeOfKeywords } from './expected-flags.js';
import { FlagJournal } from './flag-journal.js';
import type { FolderMirror, FolderModseqs, StoredFlags } from './folder-mirror.js';
import { MirrorColumns } from './mirror-columns.js';
import { type OwnerChanges, readChanges } from './owner-changes.js';
import type { PositionSet } from './position-set.js';

/** ms until a failed `sync` is repeated for watchers. */
const RETRY_MS = 1000;

export interface MirrorOptions {
  readonly mailboxes: Mailboxes;
  /** Messages per page; the owner's own bound when absent. */
  readonly pageSize?: number | undefined;
  /** Called when a session closes the mirror. */
  onClose(mirror: MirroredFolder): void;
}

export class MirroredFolder implements FolderMirror {
  readonly accountId: string;
  /** The path under which the folder was opened. */
  readonly path: string;
  /** Until `isLoaded` it is the role of a system folder, and empty for another folder whose id is not known yet. */
  folderId: string;
  uidValidity = 0;
  uidNext = 1;
  modseq = 0;
  expungedAt = 0;
  isGone = false;
  /** Whether the owner has reported the contents of the folder at least once. */
  isLoaded = false;
  readonly journal = new FlagJournal();
  readonly #options: MirrorOptions;
  #columns = new MirrorColumns();
  /** Whether `heard` gets every event of the account. */
  #isFollowing = false;
  /** Whether events may have been missed since the last request to the owner. */
  #isDoubtful = true;
  /** The highest modseq of an event that may concern the folder. */
  #heard = 0;
  /** The mirror has all changes of the account up to this modseq. */
  #settled = 0;
  readonly #watchers = new Set<() => void>();
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;

  constructor(accountId: string, path: string, folderId: string, options: MirrorOptions) {
    this.accountId = accountId;
    this.path = path;
    this.folderId = folderId;
    this.#options = options;
  }

  get count(): number {
    return this.#columns.count;
  }

  get uids(): Uint32Array {
    return this.#columns.uids;
  }

  get keywords(): ReadonlySet<string> {
    return this.#columns.keywords;
  }

  get octets(): number {
    return this.#columns.octets;
  }

  get isStale(): boolean {
    return this.#isBehind || (!this.isGone && !this.#isFollowing);
  }

  get isCurrent(): boolean {
    return !this.#isBehind && this.#settled === this.#position;
  }

  get #position(): number | undefined {
    return this.#options.mailboxes.of(this.accountId).position;
  }

  indexOf(uid: number): number {
    return this.#columns.indexOf(uid);
  }

  flagsAt(index: number): number {
    return this.#columns.flagsAt(index);
  }

  bitsAt(index: number): number {
    return this.#columns.bitsAt(index);
  }

  withBit(bit: number): PositionSet {
    return this.#columns.withBit(bit);
  }

  isDeletedAt(index: number): boolean {
    return this.#columns.isDeletedAt(index);
  }

  keywordsAt(index: number): readonly string[] {
    return this.#columns.keywordsAt(index);
  }

  modseqAt(index: number): number {
    return this.#columns.modseqAt(index);
  }

  /** Returns changed messages among the first `end`. */
  uidsChangedAfter(modseq: number, end: number): Uint32Array {
    return this.#columns.uidsChangedAfter(modseq, end);
  }

  watch(callback: () => void): () => void {
    this.#watchers.add(callback);
    if (this.isStale) this.#follow();
    return () => {
      this.#watchers.delete(callback);
      if (this.#watchers.size > 0) return;
      clearTimeout(this.#retry);
      this.#retry = undefined;
    };
  }

  close(): void {
    this.#options.onClose(this);
  }

  /** Called with new events of the account's log. */
  heard(events: readonly MailboxEvent[]): void {
    const before = this.#heard;
    for (const event of events) {
      const isNew = event.seq > this.#heard && event.seq > this.modseq;
      if (isNew && (!this.isLoaded || concerns(event, this.folderId))) this.#heard = event.seq;
    }
    if (this.#heard > before) this.#follow();
  }

  changedAt(modseq: number): void {
    if (modseq > this.modseq) this.#heard = Math.max(this.#heard, modseq);
    if (this.#isBehind) this.#follow();
  }

  /** From now on `heard` gets every event. */
  followed(): void {
    this.#isFollowing = true;
    this.#isDoubtful = true;
    this.#follow();
  }

  /** Events may be missed until `followed` is called. */
  unfollowed(): void {
    this.#isFollowing = false;
  }

  takeFlags(uids: ArrayLike<number>, change: StoredFlags, modseqs: FolderModseqs | undefined): boolean {
    // A pending reply may predate the change, and a gap in the modseqs means that the mirror lacks another change.
    if (this.#running !== undefined || this.isGone || modseqs?.before !== this.modseq) return false;
    const keywords = changeOfKeywords(change);
    if (keywords === undefined || (change.mode === 'replace' && this.keywords.size > 0)) return false;
    const { after } = modseqs;
    if (after === this.modseq) return true;
    const changed = this.#columns.changeFlags(uids, changeOfBits(change), keywords, after);
    this.journal.add(changed, this.count);
    this.modseq = after;
    this.#settled = Math.max(this.#settled, after);
    this.#tellWatchers();
    return true;
  }

  sync(): Promise<void> {
    if (this.#running === undefined) return this.#start();
    this.#next ??= this.#running.then(
      () => this.#startNext(),
      () => this.#startNext(),
    );
    return this.#next;
  }

  #startNext(): Promise<void> {
    this.#next = undefined;
    return this.#start();
  }

  #start(): Promise<void> {
    const running = this.#ask().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  async #ask(): Promise<void> {
    if (this.isGone) return;
    const heard = this.#heard;
    const position = this.#position ?? 0;
    this.#isDoubtful = false;
    let hasChanged: boolean;
    try {
      hasChanged = await this.#catchUp();
    } catch (err) {
      this.#isDoubtful = true;
      this.#retryLater();
      throw err;
    }
    this.#settled = Math.max(heard, this.modseq, position);
    if (hasChanged) this.#tellWatchers();
    if (this.#isBehind) this.#follow();
  }

  #tellWatchers(): void {
    for (const callback of [...this.#watchers]) callback();
  }

  /** Whether an event that concerns the folder arrived since the last request to the owner, or may have been missed. */
  get #isBehind(): boolean {
    return !this.isGone && (this.#isDoubtful || this.#heard > this.#settled);
  }

  /** Syncs for watchers. */
  #follow(): void {
    if (this.#watchers.size === 0 || this.#next !== undefined) return;
    // A failure is retried later.
    this.sync().catch(() => {});
  }

  async #catchUp(): Promise<boolean> {
    const { mailboxes, pageSize } = this.#options;
    const mailbox = mailboxes.of(this.accountId);
    let hasChanged = false;
    for (;;) {
      const since = this.isLoaded ? this.modseq : null;
      const changes = await readChanges(mailbox, {
        accountId: this.accountId,
        folderId: this.folderId,
        since,
        pageSize,
      });
      if (changes === undefined || (this.isLoaded && changes.uidValidity !== this.uidValidity)) return this.#end();
      if (this.isLoaded && changes.modseq === this.modseq && !changes.isWhole) return hasChanged;
      if (!this.#take(changes)) return this.#end();
      hasChanged = true;
      if (changes.pages.length === 1) return true;
    }
  }

  /** Returns false when the changes contradict the mirror: the folder is another one with the same name. */
  #take({ folderId, uidValidity, uidNext, modseq, isWhole, pages }: OwnerChanges): boolean {
    if (isWhole) {
      const columns = new MirrorColumns();
      for (const page of pages) columns.apply(page);
      if (!columns.isWithin(this.#columns, this.uidNext)) return false;
      if (columns.indexOf(this.uidNext) < this.#columns.count) this.expungedAt = modseq;
      this.#columns = columns;
      this.journal.clear();
    } else {
      for (const page of pages) {
        if (this.#columns.isContradictedBy(page)) return false;
        const changed = this.#columns.apply(page);
        this.journal.add(changed, this.count);
        if (page.expunged.length > 0) this.expungedAt = modseq;
      }
    }
    this.folderId = folderId;
    this.uidValidity = uidValidity;
    this.uidNext = uidNext;
    this.modseq = modseq;
    this.isLoaded = true;
    return true;
  }

  #end(): boolean {
    this.isGone = true;
    return true;
  }

  #retryLater(): void {
    if (this.#watchers.size === 0 || this.#retry !== undefined) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#follow();
    }, RETRY_MS).unref();
  }
}

/** Tells whether an event may have changed the contents of the folder. */
function concerns({ type, payload }: MailboxEvent, folderId: string): boolean {
  switch (type) {
    case 'EmailAdded':
    case 'EmailRemoved':
      return payload.placements.some((placement) => placement.folderId === folderId);
    case 'EmailPlaced':
    case 'EmailExpunged':
    case 'DeletedChanged':
      return payload.folderId === folderId;
    case 'FolderDeleted':
      return payload.folderId === folderId || payload.placed?.folderId === folderId;
    // The event does not say in which folders the email is.
    case 'FlagsChanged':
      return true;
    default:
      return false;
  }
}
