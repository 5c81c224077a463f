// Implements a simple owner of one folder, against which the sessions on the folder are compared. It answers the queries of mirrors
// page by page, some time after they arrive, and publishes changes.
import { type Observable, Subject } from 'rxjs';
import type { MailboxEvent, Mailboxes } from '../../../../src/actors/mailbox/protocol.js';
import { ActorFault } from '../../../../src/actors/runtime/errors.js';
import type { FolderModseqs } from '../../../../src/gateways/imap/view/folder-mirror.js';
import { flagBit } from '../../../../src/mail-format/flags.js';
import { DELETED_BIT, packFlags, packModseqs, packUids } from '../../../../src/mail-format/packed-columns.js';

export const ACCOUNT = 'account';
/** Id, role and path of the folder. */
export const FOLDER = 'inbox';

export interface OwnedMessage {
  readonly uid: number;
  /** Names of flags, with `\Deleted`. */
  flags: ReadonlySet<string>;
  modseq: number;
}

export interface FlagStore {
  readonly mode: 'add' | 'remove' | 'replace';
  readonly flags: readonly string[];
}

export function changedFlags(before: ReadonlySet<string>, { mode, flags }: FlagStore): ReadonlySet<string> {
  if (mode === 'replace') return new Set(flags);
  if (mode === 'add') return new Set([...before, ...flags]);
  return new Set([...before].filter((flag) => !flags.includes(flag)));
}

export class FolderOwner {
  messages: OwnedMessage[] = [];
  uidValidity = 7;
  uidNext = 1;
  modseq = 1;
  isDeleted = false;
  /** The questions so far. */
  readonly questions: Question[] = [];
  /** Runs when the owner reads a question. */
  onQuestion: (question: Question) => void = () => {};
  /** Every question fails. */
  isUnreachable = false;
  /** Turns of the microtask queue that pass before a question is read, and again before its answer arrives. */
  delays: () => number = () => 0;
  subscriptions = 0;
  onSubscription: () => void = () => {};
  #expunged: { readonly uid: number; readonly modseq: number }[] = [];
  /** The owner does not know expunges up to this modseq. */
  #floor = 0;
  #events$ = new Subject<readonly MailboxEvent[]>();

  /** The sessions are on the owner's node. */
  isHere = false;

  readonly mailboxes = {
    of: () => ({
      position: this.isHere ? this.modseq : undefined,
      ask: async (name: string, payload: Question) => {
        await turns(this.delays());
        if (name === 'folders') return this.#folders();
        if (name !== 'folderChanges') throw new Error(`${name} is not asked of mirrors`);
        this.questions.push(payload);
        this.onQuestion(payload);
        if (this.isUnreachable) throw new ActorFault('unreachable', 'nobody is there');
        const outcome = this.isDeleted ? { refusal: 'noSuchFolder' } : { reply: this.#changes(payload) };
        await turns(this.delays());
        return outcome;
      },
      events$: () => this.#stream(),
    }),
  } as unknown as Mailboxes;

  deliver(count: number): void {
    this.modseq++;
    for (let i = 0; i < count; i++) {
      this.messages.push({ uid: this.uidNext, flags: new Set(), modseq: this.modseq });
      this.uidNext++;
    }
    this.publish('EmailPlaced', { folderId: FOLDER, uid: this.uidNext - 1, emailId: 'e' });
  }

  /** Uses up UIDs, as messages do that came and went. */
  skipUids(count: number): void {
    this.uidNext += count;
  }

  /** Returns the modseqs of the folder, which the reply to a command has. */
  store(uids: ReadonlySet<number>, change: FlagStore): FolderModseqs {
    const before = this.modseq++;
    for (const message of this.messages) {
      if (!uids.has(message.uid)) continue;
      message.flags = changedFlags(message.flags, change);
      message.modseq = this.modseq;
    }
    this.publish('FlagsChanged', { emailId: 'e', flags: 0, changed: 0 });
    return { before, after: this.modseq };
  }

  /** Expunges those of the UIDs that are `\Deleted`; without UIDs, all that are. */
  expunge(uids?: ReadonlySet<number>): void {
    this.modseq++;
    this.messages = this.messages.filter(({ uid, flags }) => {
      const isGone = flags.has('\\Deleted') && uids?.has(uid) !== false;
      if (isGone) this.#expunged.push({ uid, modseq: this.modseq });
      return !isGone;
    });
    this.publish('EmailExpunged', { folderId: FOLDER, uid: 1, emailId: 'e' });
  }

  /** Another owner takes over, which does not know what was expunged. */
  takeOver(): void {
    this.#expunged = [];
    this.#floor = this.modseq;
  }

  /** Subscribers miss events from now on, and are told so. */
  interrupt(): void {
    const events$ = this.#events$;
    this.#events$ = new Subject();
    events$.error(new Error('the bus is gone'));
  }

  #stream(): Observable<readonly MailboxEvent[]> {
    this.subscriptions++;
    this.onSubscription();
    const events$ = this.#events$;
    queueMicrotask(() => events$.next([]));
    return events$;
  }

  publish(type: string, payload: object): void {
    const event = { type, seq: this.modseq, n: 0, at: 0, payload } as unknown as MailboxEvent;
    const events$ = this.#events$;
    void turns(this.delays()).then(() => events$.next([event]));
  }

  #folders(): object {
    if (this.isUnreachable) throw new ActorFault('unreachable', 'nobody is there');
    return { reply: { folders: this.isDeleted ? [] : [{ id: FOLDER, path: FOLDER, isSubscribed: true }] } };
  }

  #changes({ since, fromUid = 1, limit = 20_000 }: Question): object {
    const isWhole = since === null || since < this.#floor;
    const changed = this.messages.filter(({ uid, modseq }) => uid >= fromUid && (isWhole || modseq > since));
    const gone = isWhole ? [] : this.#expunged.filter(({ uid, modseq }) => uid >= fromUid && modseq > since);
    const goneUids = gone.map(({ uid }) => uid).sort((a, b) => a - b);
    const nextUid = Math.min(changed[limit]?.uid ?? Infinity, goneUids[limit] ?? Infinity);
    const page = changed.filter(({ uid }) => uid < nextUid);
    return {
      folderId: FOLDER,
      uidValidity: this.uidValidity,
      uidNext: this.uidNext,
      modseq: this.modseq,
      total: this.messages.length,
      isWhole,
      uids: packUids(Uint32Array.from(page, ({ uid }) => uid)),
      flags: packFlags(Uint16Array.from(page, ({ flags }) => bitsOf(flags))),
      modseqs: packModseqs(Float64Array.from(page, ({ modseq }) => modseq)),
      keywords: page
        .map(({ uid, flags }) => ({ names: keywordsOf(flags), uids: packUids(Uint32Array.of(uid)) }))
        .filter(({ names }) => names.length > 0),
      expunged: packUids(Uint32Array.from(goneUids.filter((uid) => uid < nextUid))),
      nextUid: nextUid === Infinity ? null : nextUid,
    };
  }
}

export interface Question {
  readonly since: number | null;
  readonly fromUid?: number;
  readonly limit?: number;
}

/** Lets others run for `count` turns of the microtask queue. */
export async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await undefined;
}

function bitsOf(flags: ReadonlySet<string>): number {
  let bits = 0;
  for (const flag of flags) bits |= flag === '\\Deleted' ? DELETED_BIT : flagBit(flag);
  return bits;
}

const keywordsOf = (flags: ReadonlySet<string>): string[] =>
  [...flags].filter((flag) => flag !== '\\Deleted' && flagBit(flag) === 0);
