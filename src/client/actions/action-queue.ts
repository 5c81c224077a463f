// Sends changes to the server one after the other, in the order of their actions: equal changes that wait go together, in bulk requests.
// Failures that pass (no network, rates, a node without the account) are waited for; a refusal ends the action. The storage has what waits, so
// that it is sent also when the client has ended meanwhile.
import type { Subscription } from 'rxjs';
import type { FoundEmails, KnownEmails, UndoStep, UnnamedEmails } from '../client-types.js';
import { onReturn } from '../hub/environment.js';
import { Pause, pauseAfter } from '../hub/pause.js';
import { foundEmails } from '../lists/found-emails.js';
import type { KeptAccount } from '../offline/kept-account.js';
import { isPassing, Refusal } from '../refusal.js';
import type { Rest } from '../rest.js';
import type { Change } from './change.js';

/** The most emails of one bulk request. */
export const BULK = 1_000;
/** With a storage, the first action waits at most this long for what earlier clients have left there. ms */
const TAKE_OVER_MS = 2_000;

/** What the storage has of a change. */
export interface StoredAction {
  readonly ids: readonly string[];
  readonly change: Change;
  readonly unnamed?: UnnamedEmails | undefined;
  /** What takes it back, as far as its emails are known. */
  readonly steps?: readonly UndoStep[];
}

export interface QueuedChange {
  /** Its name in the storage; the names sort by time. */
  readonly key: string;
  /** Once the server has named the others, these are all. */
  ids: readonly string[];
  readonly change: Change;
  /** Emails that are to be changed too; undefined when all are named. */
  unnamed: UnnamedEmails | undefined;
  /** The server has named them, and said what they are before the change. */
  readonly named: (ids: readonly string[], known: KnownEmails) => void;
  /** What takes it back, as far as its emails are known; undefined when nothing does. */
  readonly steps: () => readonly UndoStep[] | undefined;
  /** The server has handled these emails; others may be among them. */
  readonly progressed: (ids: readonly string[]) => void;
  readonly carriedOut: () => void;
  readonly refused: (error: unknown) => void;
}

export class ActionQueue {
  readonly #rest: Rest;
  readonly #storage: KeptAccount;
  readonly #pause = new Pause();
  readonly #stopListening: () => void;
  readonly #told: readonly Subscription[];
  /** What waits, and what is under way. */
  readonly #unsettled = new Set<QueuedChange>();
  #waiting: QueuedChange[] = [];
  readonly #stopped = new WeakSet<QueuedChange>();
  #isRunning = false;
  #isClosed = false;
  /** It is known what earlier clients have left, so everything goes in its order. */
  #hasTakenOver: boolean;
  #patience: ReturnType<typeof setTimeout> | undefined;

  constructor(rest: Rest, storage: KeptAccount) {
    this.#rest = rest;
    this.#storage = storage;
    this.#stopListening = onReturn(() => this.#pause.end());
    this.#hasTakenOver = !storage.isUsed;
    this.#told = [
      storage.opened$.subscribe(() => {
        for (const queued of this.#unsettled) this.#store(queued);
      }),
      storage.changed$.subscribe(() => this.drop(new Refusal(401, { title: 'Somebody else has signed in.' }))),
    ];
  }

  add(queued: QueuedChange): void {
    this.#unsettled.add(queued);
    this.#store(queued);
    this.#waiting.push(queued);
    this.#start();
  }

  /** Adds what earlier clients have left in the storage, in the order of time. */
  restore(earlier: readonly QueuedChange[]): void {
    for (const queued of earlier) this.#unsettled.add(queued);
    this.#waiting.push(...earlier);
    this.#waiting.sort((a, b) => (a.key < b.key ? -1 : 1));
    this.#goOn();
  }

  #goOn(): void {
    clearTimeout(this.#patience);
    this.#hasTakenOver = true;
    this.#start();
  }

  #start(): void {
    if (!this.#hasTakenOver) {
      // A storage that fails must not hold up the actions.
      this.#patience ??= setTimeout(() => this.#goOn(), TAKE_OVER_MS);
      return;
    }
    if (this.#isRunning || this.#waiting.length === 0) return;
    this.#isRunning = true;
    // Actions of the same moment go together.
    queueMicrotask(() => void this.#run());
  }

  /** Takes a change back that has not been sent; false when it has. */
  withdraw(queued: QueuedChange): boolean {
    const rest = this.#waiting.filter((one) => one !== queued);
    const isFound = rest.length < this.#waiting.length;
    this.#waiting = rest;
    if (isFound) this.#settled(queued);
    return isFound;
  }

  /** Somebody else signs in, for whom nothing of this is sent: what waits, and the rest of what is under way. */
  drop(reason: Error): void {
    this.#waiting = [];
    for (const queued of [...this.#unsettled]) this.#refused(queued, reason);
    this.#pause.end();
  }

  /** The rest of a change that is under way is not sent any more. */
  stop(queued: QueuedChange): void {
    this.#stopped.add(queued);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#patience);
    for (const told of this.#told) told.unsubscribe();
    this.#stopListening();
    this.#pause.end();
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#isClosed) {
      const batch = this.#next();
      try {
        await this.#send(batch);
        for (const queued of batch) this.#carriedOut(queued);
      } catch (error) {
        await this.#failed(batch, error);
      }
    }
    this.#isRunning = false;
  }

  /** The first change, and those that follow it and are equal. */
  #next(): readonly QueuedChange[] {
    const key = JSON.stringify(this.#waiting[0]!.change);
    const end = this.#waiting.findIndex(({ change }) => JSON.stringify(change) !== key);
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }

  /** One refused change must not take others with it, so each is sent alone. */
  async #failed(batch: readonly QueuedChange[], error: unknown): Promise<void> {
    if (batch.length === 1) {
      this.#refused(batch[0]!, error);
      return;
    }
    for (const queued of batch) {
      try {
        await this.#send([queued]);
        this.#carriedOut(queued);
      } catch (own) {
        this.#refused(queued, own);
      }
    }
  }

  #carriedOut(queued: QueuedChange): void {
    if (this.#settled(queued)) queued.carriedOut();
  }

  #refused(queued: QueuedChange, error: unknown): void {
    if (this.#settled(queued)) queued.refused(error);
  }

  /** False when the change was dropped meanwhile. */
  #settled(queued: QueuedChange): boolean {
    if (!this.#unsettled.delete(queued)) return false;
    this.#storage.remove('actions', queued.key);
    return true;
  }

  #store(queued: QueuedChange): void {
    if (!this.#storage.isUsed) return;
    const { key, ids, change, unnamed } = queued;
    const steps = queued.steps();
    const stored: StoredAction = { ids, change, ...(unnamed && { unnamed }), ...(steps && { steps }) };
    this.#storage.write('actions', key, stored);
  }

  /** A client that goes on with a part of the change finds the emails by name: those that were moved are in their items no more. */
  async #name(queued: QueuedChange): Promise<void> {
    const { unnamed } = queued;
    if (unnamed === undefined) return;
    const { query, items } = unnamed;
    const found = await this.#persist([queued], () => foundEmails(this.#rest, query, items.flat()));
    const others = items.flatMap((item) => restOf(item, found));
    queued.unnamed = undefined;
    queued.ids = [...new Set([...queued.ids, ...others])];
    queued.named(others, found);
    this.#store(queued);
  }

  async #send(batch: readonly QueuedChange[]): Promise<void> {
    const { change } = batch[0]!;
    for (const queued of batch) await this.#name(queued);
    const ids = [...new Set(batch.flatMap((queued) => queued.ids))];
    const isOver = () => batch.every((queued) => this.#stopped.has(queued) || !this.#unsettled.has(queued));
    for (let at = 0; at < ids.length && !isOver(); at += BULK) {
      const part = this.#unstopped(batch, ids.slice(at, at + BULK));
      if (part.length === 0) continue;
      await this.#persist(batch, () => this.#request(part, change));
      for (const queued of batch) queued.progressed(part);
    }
  }

  /** Without the emails that only stopped changes have. */
  #unstopped(batch: readonly QueuedChange[], ids: readonly string[]): readonly string[] {
    const others = batch.filter((queued) => !this.#stopped.has(queued));
    if (others.length === batch.length) return ids;
    const wanted = new Set(others.flatMap((queued) => queued.ids));
    return ids.filter((id) => wanted.has(id));
  }

  /** Resolves when it is known what earlier clients have left. */
  async tookOver(): Promise<void> {
    if (this.#storage.isUsed) await this.#storage.value('actions', '');
  }

  #request(emailIds: readonly string[], change: Change): Promise<unknown> {
    const rest = this.#rest;
    switch (change.kind) {
      case 'mark': {
        const body = { emailIds, isRead: change.isRead };
        return rest.request('POST', '/api/emails/bulk/mark-read', { body });
      }
      case 'move': {
        const { to: folderId, from: fromFolderId } = change;
        const body = { emailIds, folderId, ...(fromFolderId !== undefined && { fromFolderId }) };
        return rest.request('POST', '/api/emails/bulk/move', { body });
      }
      case 'copy':
        return rest.request('POST', '/api/emails/bulk/copy', { body: { emailIds, folderId: change.to } });
      case 'delete':
        return rest.request('POST', '/api/emails/bulk/delete', {
          body: { emailIds, ...(change.from && { folderIds: change.from }) },
        });
      case 'flag': {
        const body = { emailIds, isFlagged: change.isFlagged };
        return rest.request('POST', '/api/emails/bulk/flag', { body });
      }
      case 'label':
      case 'unlabel': {
        const body = { emailIds, labelId: change.labelId, isLabelled: change.kind === 'label' };
        return rest.request('POST', '/api/emails/bulk/label', { body });
      }
    }
  }

  /** Repeats a request until it is answered: all of these may be repeated without harm. */
  async #persist<T>(batch: readonly QueuedChange[], request: () => Promise<T>): Promise<T> {
    for (let failures = 0; ; failures++) {
      try {
        return await request();
      } catch (error) {
        if (!isPassing(error) || this.#isClosed) throw error;
        const asked = error instanceof Refusal ? error.retryAfterMs : undefined;
        const isDropped = () => !batch.some((queued) => this.#unsettled.has(queued));
        if (!isDropped()) await this.#pause.for(asked ?? pauseAfter(failures));
        if (isDropped()) throw error;
      }
    }
  }
}

/** The emails of an item from the newest one on that it names and still has; the server gives the newest first. */
function restOf(named: readonly string[], found: FoundEmails): readonly string[] {
  const all = named.map((id) => found.thread(id)).find((thread) => thread !== undefined) ?? [];
  return all.slice(all.findIndex((id) => named.includes(id)));
}
