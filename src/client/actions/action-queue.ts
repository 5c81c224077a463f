// Sends changes to the server one after the other, in the order of their actions: equal changes that wait go together, in bulk requests.
// Failures that pass (no network, rates, a node without the account) are waited for; a refusal ends the action. The storage has what waits, so
// that it is sent also when the client has ended meanwhile.
import type { Subscription } from 'rxjs';
import { onReturn } from '../hub/environment.js';
import { Pause, pauseAfter } from '../hub/pause.js';
import type { KeptAccount } from '../offline/kept-account.js';
import { isPassing, Refusal } from '../refusal.js';
import type { Rest } from '../rest.js';
import type { Change } from './overlays.js';

/** The most emails of one bulk request. */
const BULK = 1_000;

export interface QueuedChange {
  /** Its name in the storage; the names sort by time. */
  readonly key: string;
  readonly ids: readonly string[];
  readonly change: Change;
  /** `count`: how many of its emails the server has handled. */
  readonly progressed: (count: number) => void;
  readonly carriedOut: () => void;
  readonly refused: (error: unknown) => void;
}

export class ActionQueue {
  readonly #rest: Rest;
  readonly #storage: KeptAccount;
  readonly #pause = new Pause();
  readonly #stopListening: () => void;
  readonly #opened: Subscription;
  /** What waits, and what is under way. */
  readonly #unsettled = new Set<QueuedChange>();
  #waiting: QueuedChange[] = [];
  readonly #stopped = new WeakSet<QueuedChange>();
  #isRunning = false;
  #isClosed = false;

  constructor(rest: Rest, storage: KeptAccount) {
    this.#rest = rest;
    this.#storage = storage;
    this.#stopListening = onReturn(() => this.#pause.end());
    this.#opened = storage.opened$.subscribe(() => {
      for (const queued of this.#unsettled) this.#store(queued);
    });
  }

  add(queued: QueuedChange): void {
    this.#unsettled.add(queued);
    this.#store(queued);
    this.#waiting.push(queued);
    this.#start();
  }

  /** Adds what earlier clients have left in the storage: it is sent before everything that waits. */
  restore(earlier: readonly QueuedChange[]): void {
    for (const queued of earlier) this.#unsettled.add(queued);
    this.#waiting.unshift(...earlier);
    this.#start();
  }

  #start(): void {
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

  /** Somebody else signs in, for whom nothing of this is sent. */
  drop(reason: Error): void {
    for (const queued of this.#waiting.splice(0)) this.#refused(queued, reason);
  }

  /** The rest of a change that is under way is not sent any more. */
  stop(queued: QueuedChange): void {
    this.#stopped.add(queued);
  }

  close(): void {
    this.#isClosed = true;
    this.#opened.unsubscribe();
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
    this.#settled(queued);
    queued.carriedOut();
  }

  #refused(queued: QueuedChange, error: unknown): void {
    this.#settled(queued);
    queued.refused(error);
  }

  #settled(queued: QueuedChange): void {
    this.#unsettled.delete(queued);
    this.#storage.remove('actions', queued.key);
  }

  #store({ key, ids, change }: QueuedChange): void {
    this.#storage.write('actions', key, { ids, change });
  }

  async #send(batch: readonly QueuedChange[]): Promise<void> {
    const { change } = batch[0]!;
    const ids = [...new Set(batch.flatMap((queued) => queued.ids))];
    for (let at = 0; at < ids.length && !batch.every((queued) => this.#stopped.has(queued)); at += BULK) {
      await this.#request(ids.slice(at, at + BULK), change);
      for (const queued of batch) queued.progressed(Math.min(queued.ids.length, at + BULK));
    }
  }

  #request(emailIds: readonly string[], change: Change): Promise<unknown> {
    const rest = this.#rest;
    switch (change.kind) {
      case 'mark': {
        const body = { emailIds, isRead: change.isRead };
        return this.#persist(() => rest.request('POST', '/api/emails/bulk/mark-read', { body }));
      }
      case 'move': {
        const { to: folderId, from: fromFolderId } = change;
        const body = { emailIds, folderId, ...(fromFolderId !== undefined && { fromFolderId }) };
        return this.#persist(() => rest.request('POST', '/api/emails/bulk/move', { body }));
      }
      case 'delete':
        return this.#persist(() => rest.request('POST', '/api/emails/bulk/delete', { body: { emailIds } }));
      case 'flag': {
        const body = { emailIds, isFlagged: change.isFlagged };
        return this.#persist(() => rest.request('POST', '/api/emails/bulk/flag', { body }));
      }
      case 'label':
      case 'unlabel': {
        const body = { emailIds, labelId: change.labelId, isLabelled: change.kind === 'label' };
        return this.#persist(() => rest.request('POST', '/api/emails/bulk/label', { body }));
      }
    }
  }

  /** Repeats a request until it is answered: all of these may be repeated without harm. */
  async #persist(request: () => Promise<unknown>): Promise<void> {
    for (let failures = 0; ; failures++) {
      try {
        await request();
        return;
      } catch (error) {
        if (!isPassing(error) || this.#isClosed) throw error;
        const asked = error instanceof Refusal ? error.retryAfterMs : undefined;
        await this.#pause.for(asked ?? pauseAfter(failures));
      }
    }
  }
}
