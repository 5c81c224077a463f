// When API keys were last used. The times are kept in memory and written in batches, so that no request writes. A key is written
// at most once per interval; other nodes write the same keys, and the latest time wins.

import { clock } from '../../store/clock.js';
import type { DirectoryStore } from '../../store/directory.js';

const INTERVAL_MS = 60_000;
/** When this many times are pending, they are written before the interval ends. */
const MOST_PENDING = 10_000;

export interface KeyUsesOptions {
  readonly store: Pick<DirectoryStore, 'touchKeys'>;
  readonly log: { warn(fields: object, message: string): void };
  readonly intervalMs?: number;
  readonly now?: () => number;
}

export class KeyUses {
  readonly #store: KeyUsesOptions['store'];
  readonly #log: KeyUsesOptions['log'];
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #pending = new Map<string, Date>();
  #writing: Promise<void> = Promise.resolve();

  constructor({ store, log, intervalMs = INTERVAL_MS, now = () => clock.now() }: KeyUsesOptions) {
    this.#store = store;
    this.#log = log;
    this.#now = now;
    this.#timer = setInterval(() => void this.flush(), intervalMs);
    this.#timer.unref();
  }

  note(keyId: string): void {
    this.#pending.set(keyId, new Date(this.#now()));
    if (this.#pending.size >= MOST_PENDING) void this.flush();
  }

  /** The last use that is not yet written. */
  last(keyId: string): Date | undefined {
    return this.#pending.get(keyId);
  }

  /** Never rejects: times that cannot be written are tried again, unless the key was used since. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  async #write(): Promise<void> {
    const uses = this.#pending;
    if (uses.size === 0) return;
    this.#pending = new Map();
    try {
      await this.#store.touchKeys(uses);
    } catch (err) {
      this.#log.warn({ err, keys: uses.size }, 'the times when API keys were used could not be written');
      if (this.#pending.size + uses.size > MOST_PENDING) return;
      this.#pending = new Map([...uses, ...this.#pending]);
    }
  }
}
