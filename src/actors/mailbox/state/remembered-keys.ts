// Keys that an account remembers until a time, as if the batch so far were committed: senders who have got a vacation reply, and what the
// `duplicate` test of scripts has seen. Their number is bounded: the key that was remembered first leaves for another.
import type { LazyMap } from '../../../store/changes/lazy-map.js';
import type { RememberedKey } from '../../../store/mailbox-rows.js';

export interface KeyChange extends RememberedKey {
  /** Keys that leave with this change. */
  readonly forgotten: readonly string[];
}

export class RememberedKeys {
  readonly #committed: Pick<LazyMap<string, number>, 'get' | 'entries'>;
  readonly #most: number;
  /** Null: forgotten. */
  readonly #written = new Map<string, number | null>();

  constructor(committed: Pick<LazyMap<string, number>, 'get' | 'entries'>, most: number) {
    this.#committed = committed;
    this.#most = most;
  }

  /** Times in ms since the epoch. */
  has(key: string, now: number): boolean {
    const until = this.#written.has(key) ? this.#written.get(key) : this.#committed.get(key);
    return until != null && until > now;
  }

  /** The change that remembers the key: expired keys leave, and the first ones when there are too many. */
  change(key: string, until: number, now: number): KeyChange {
    const kept = this.#committed.entries().filter(([one]) => !this.#written.has(one));
    const most = this.#most - 1 - this.#written.size;
    const forgotten = kept.flatMap(([one, end], i) => (end <= now || kept.length - i > most ? [one] : []));
    return { key, until, forgotten };
  }

  apply({ key, until, forgotten }: KeyChange): void {
    for (const one of forgotten) this.#written.set(one, null);
    this.#written.set(key, until);
  }
}
