// The filters of a transaction, and those that wait for bodies, read through as if the batch so far had happened already.
import type { FilterRow, MailboxChange } from '../../store/mailboxes.js';
import { inOrder } from './filter-match.js';
import type { MailboxState } from './state.js';

export class FilterChanges {
  readonly #state: MailboxState;
  readonly #written = new Map<string, FilterRow>();
  readonly #removed = new Set<string>();
  readonly #deferred = new Map<string, readonly string[]>();
  readonly #deferralsEnded = new Set<string>();
  #inOrder: readonly FilterRow[] | undefined;

  constructor(state: MailboxState) {
    this.#state = state;
  }

  get(id: string): FilterRow | undefined {
    if (this.#removed.has(id)) return undefined;
    return this.#written.get(id) ?? this.#state.filters.find((filter) => filter.id === id);
  }

  /** In the order of evaluation. */
  all(): readonly FilterRow[] {
    if (this.#written.size === 0 && this.#removed.size === 0) return this.#state.filters;
    this.#inOrder ??= inOrder([
      ...this.#state.filters.filter(({ id }) => !this.#written.has(id) && !this.#removed.has(id)),
      ...this.#written.values(),
    ]);
    return this.#inOrder;
  }

  put(filter: FilterRow): void {
    this.#written.set(filter.id, filter);
    this.#inOrder = undefined;
  }

  remove(id: string): void {
    this.#written.delete(id);
    this.#removed.add(id);
    this.#inOrder = undefined;
  }

  /** Filters that wait for the body of an email that was there before the batch. */
  deferredOf(emailId: string): readonly string[] | undefined {
    return this.#deferralsEnded.has(emailId) ? undefined : this.#state.deferred.get(emailId);
  }

  defer(emailId: string, filterIds: readonly string[]): void {
    this.#deferred.set(emailId, filterIds);
    this.#deferralsEnded.delete(emailId);
  }

  /** Nothing when none waits. */
  endDeferral(emailId: string): void {
    this.#deferred.delete(emailId);
    if (this.#state.deferred.has(emailId)) this.#deferralsEnded.add(emailId);
  }

  change(): Pick<MailboxChange, 'filters' | 'filtersRemoved' | 'filtersDeferred' | 'deferralsEnded'> {
    return {
      filters: [...this.#written.values()],
      filtersRemoved: [...this.#removed],
      filtersDeferred: [...this.#deferred].map(([emailId, filterIds]) => ({ emailId, filterIds })),
      deferralsEnded: [...this.#deferralsEnded],
    };
  }
}
