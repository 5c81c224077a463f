// The draft of one commit: what a batch of commands will change, read through as if it had happened already. Commands
// later in the batch see the earlier ones; no row stands twice in the change that comes out.
import { SEEN } from '../../mail/flags.js';
import { uuidV7 } from '../../mail/ids.js';
import type { EmailRow, EventRow, FolderRow, MailboxChange, RememberedReply } from '../../store/mailboxes.js';
import type { PlanContext } from '../runtime/behavior.js';
import type { FolderColumns } from './folder-columns.js';
import type { MailboxEvent } from './protocol.js';
import type { MailboxState } from './state.js';

type Counters = { -readonly [K in keyof MailboxChange['folders'][number]]: FolderRow[K] };

export class MailboxDraft {
  readonly state: MailboxState;
  readonly now: number;
  readonly #context: PlanContext;
  #modseq: number;
  #eventNumber = 0;
  readonly #added: EmailRow[] = [];
  readonly #flagged = new Map<number, { id: string; flags: number; modseq: number }>();
  readonly #removed = new Map<number, string>();
  readonly #placed: MailboxChange['placed'][number][] = [];
  readonly #unplaced: MailboxChange['unplaced'][number][] = [];
  readonly #folders = new Map<string, Counters>();
  readonly #events: EventRow[] = [];
  readonly #consumed = new Set<string>();
  #idTime: number;
  #idSequence: number;

  constructor(state: MailboxState, context: PlanContext) {
    this.state = state;
    this.now = context.now;
    this.#context = context;
    this.#modseq = state.modseq;
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

  unread(folder: FolderColumns): number {
    return (this.#folders.get(folder.row.id) ?? folder.row).unread;
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

  add(email: Omit<EmailRow, 'modseq'>, folder: FolderColumns): void {
    this.#added.push({ ...email, modseq: this.#modseq });
    const counters = this.#counters(folder);
    this.#placed.push({ folderId: counters.id, uid: counters.uidNext, emailId: email.id, modseq: this.#modseq });
    counters.uidNext++;
    counters.total++;
    if ((email.flags & SEEN) === 0) counters.unread++;
  }

  setFlags(slot: number, flags: number): void {
    const seenBefore = this.flags(slot) & SEEN;
    this.#flagged.set(slot, { id: this.state.emails.id(slot), flags, modseq: this.#modseq });
    if (seenBefore === (flags & SEEN)) return;
    for (const folder of this.state.folders.values()) {
      if (folder.uidOf(slot) !== 0) this.#counters(folder).unread += seenBefore === 0 ? -1 : 1;
    }
  }

  /** Removes every placement of the email and the email itself. */
  remove(slot: number): void {
    const isUnread = (this.flags(slot) & SEEN) === 0;
    for (const folder of this.state.folders.values()) {
      const uid = folder.uidOf(slot);
      if (uid === 0) continue;
      const counters = this.#counters(folder);
      counters.total--;
      if (isUnread) counters.unread--;
      this.#unplaced.push({ folderId: counters.id, uid, modseq: this.#modseq });
    }
    this.#flagged.delete(slot);
    this.#removed.set(slot, this.state.emails.id(slot));
  }

  emit<T extends MailboxEvent['type']>(type: T, payload: Extract<MailboxEvent, { type: T }>['payload']): void {
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
      emailsAdded: this.#added,
      emailsFlagged: [...this.#flagged.values()],
      emailsRemoved: [...this.#removed.values()],
      placed: this.#placed,
      unplaced: this.#unplaced,
      folders: [...this.#folders.values()],
      events: this.#events,
      inbound: [...this.#consumed],
      remembered,
    };
  }

  #counters(folder: FolderColumns): Counters {
    let counters = this.#folders.get(folder.row.id);
    if (counters === undefined) {
      const { id, uidNext, total, unread, highestModseq } = folder.row;
      counters = { id, uidNext, total, unread, highestModseq };
      this.#folders.set(id, counters);
    }
    counters.highestModseq = this.#modseq;
    return counters;
  }
}
