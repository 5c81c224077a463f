// The filters of a draft, read through as if the batch so far had happened already.
import type { FilterRow, MailboxChange } from '../../store/mailboxes.js';
import type { MailboxState } from './state.js';

export class FilterDrafts {
  readonly #state: MailboxState;
  readonly #written = new Map<string, FilterRow>();
  readonly #removed = new Set<string>();
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

  change(): Pick<MailboxChange, 'filters' | 'filtersRemoved'> {
    return { filters: [...this.#written.values()], filtersRemoved: [...this.#removed] };
  }
}

/** By priority, then in the order of their making. */
export function inOrder(filters: readonly FilterRow[]): readonly FilterRow[] {
  return filters.toSorted(
    (a, b) => a.priority - b.priority || a.createdAt - b.createdAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
  );
}
