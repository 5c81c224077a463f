// The suppressed addresses of a transaction as if the batch so far were committed.
import type { ChangeContent, ChangeOf } from '../../../store/changes/changes.js';
import type { Suppression } from '../../../store/outbound.js';
import type { MailboxState } from '../state/state.js';

/** The addresses of one account; the oldest one leaves for another. */
export const MOST_SUPPRESSED = 10_000;

export class SuppressionChanges {
  readonly #state: MailboxState;
  readonly #record: (change: ChangeContent) => void;
  /** What the batch has changed; undefined: removed. */
  readonly #changed = new Map<string, Suppression | undefined>();

  constructor(state: MailboxState, record: (change: ChangeContent) => void) {
    this.#state = state;
    this.#record = record;
  }

  /** `address`: lower case. Undefined also when the suppression has ended. `now`: ms since the epoch. */
  get(address: string, now: number): Suppression | undefined {
    const known = this.#changed.has(address) ? this.#changed.get(address) : this.#kept.get(address);
    return known !== undefined && known.until > now ? known : undefined;
  }

  /** Whether there is a suppression, in force or ended. */
  has(address: string): boolean {
    return this.#changed.has(address) ? this.#changed.get(address) !== undefined : this.#kept.has(address);
  }

  /** Adds or replaces a suppression; those that have ended leave, and the oldest one when there are too many. */
  add(suppression: Suppression): void {
    this.#record({ type: 'SuppressionAdded', payload: suppression });
    const all = this.#all();
    let excess = all.length - MOST_SUPPRESSED;
    for (const { address, until } of all) {
      if (excess <= 0 && until > suppression.since) break;
      this.remove(address);
      excess--;
    }
  }

  remove(address: string): void {
    this.#record({ type: 'SuppressionRemoved', payload: { address } });
  }

  apply(change: ChangeOf<'SuppressionAdded' | 'SuppressionRemoved'>): void {
    const { address } = change.payload;
    this.#changed.delete(address);
    this.#changed.set(address, change.type === 'SuppressionAdded' ? change.payload : undefined);
  }

  get #kept() {
    return this.#state.outbound.suppressions;
  }

  /** Oldest first. */
  #all(): readonly Suppression[] {
    const kept = this.#kept.values().filter(({ address }) => !this.#changed.has(address));
    return [...kept, ...[...this.#changed.values()].flatMap((each) => each ?? [])];
  }
}
