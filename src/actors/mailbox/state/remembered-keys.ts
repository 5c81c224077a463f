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
  /** The keys of `#written` that are not forgotten. */
  #live = 0;
  /** Committed keys that are not in `#written`; undefined until a key is remembered. */
  #kept: Map<string, number> | undefined;
  /** When the keys of `#kept` were last compared with the time, in ms since the epoch. */
  #comparedAt: number | undefined;

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
    this.#kept ??= new Map(this.#committed.entries().filter(([one]) => !this.#written.has(one)));
    const forgotten = new Set<string>();
    if (this.#comparedAt !== now) {
      for (const [one, end] of this.#kept) if (end <= now && one !== key) forgotten.add(one);
      this.#comparedAt = now;
    }
    const others = this.#live + this.#kept.size - (this.#isRemembered(key) ? 1 : 0) - forgotten.size;
    const wanted = forgotten.size + others - (this.#most - 1);
    for (const one of this.#kept.keys()) {
      if (forgotten.size >= wanted) break;
      if (one !== key) forgotten.add(one);
    }
    return { key, until, forgotten: [...forgotten] };
  }

  apply({ key, until, forgotten }: KeyChange): void {
    for (const one of forgotten) this.#write(one, null);
    this.#write(key, until);
  }

  /** Whether the key is kept or written, and not forgotten. */
  #isRemembered(key: string): boolean {
    return this.#written.has(key) ? this.#written.get(key) !== null : this.#kept?.has(key) === true;
  }

  #write(key: string, until: number | null): void {
    if (this.#written.get(key) != null) this.#live--;
    if (until !== null) this.#live++;
    this.#written.set(key, until);
    this.#kept?.delete(key);
  }
}
