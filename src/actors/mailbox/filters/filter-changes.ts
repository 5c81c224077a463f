// The filters of a transaction, and those that wait for bodies, as if the batch so far were committed.
import type { Change, ChangeContent } from '../../../store/changes/changes.js';
import type { FilterRow, FilterRun, FiltersAwaitingBody, RunBatch } from '../../../store/mailbox-rows.js';
import type { MailboxState } from '../state/state.js';
import { inOrder } from './filter-match.js';

export class FilterChanges {
  readonly #state: MailboxState;
  readonly #record: (change: ChangeContent) => void;
  readonly #written = new Map<string, FilterRow>();
  readonly #deleted = new Set<string>();
  readonly #awaitingBody = new Map<string, FiltersAwaitingBody>();
  readonly #bodyFiltersEnded = new Set<string>();
  /** Runs that the batch has changed; undefined: removed. */
  readonly #runs = new Map<string, FilterRun | undefined>();
  #inOrder: readonly FilterRow[] | undefined;

  constructor(state: MailboxState, record: (change: ChangeContent) => void) {
    this.#state = state;
    this.#record = record;
  }

  get(id: string): FilterRow | undefined {
    if (this.#deleted.has(id)) return undefined;
    return this.#written.get(id) ?? this.#state.filters.find((filter) => filter.id === id);
  }

  /** Sorted by the order of evaluation. */
  all(): readonly FilterRow[] {
    if (this.#written.size === 0 && this.#deleted.size === 0) return this.#state.filters;
    this.#inOrder ??= inOrder([
      ...this.#state.filters.filter(({ id }) => !this.#written.has(id) && !this.#deleted.has(id)),
      ...this.#written.values(),
    ]);
    return this.#inOrder;
  }

  /** Adds or replaces a filter. */
  put(filter: FilterRow): void {
    this.#record({ type: 'FilterChanged', payload: { filter } });
  }

  /** Counts that the filter has matched at `now`, in ms since the epoch. */
  count(matched: FilterRow, now: number): void {
    const filter = { ...matched, lastAppliedAt: now, timesApplied: matched.timesApplied + 1 };
    this.#record({ type: 'FilterChanged', payload: { filter, isApplied: true } });
  }

  remove(filterId: string): void {
    this.#record({ type: 'FilterDeleted', payload: { filterId } });
  }

  /** The filters that wait for the body of an email. */
  bodyFiltersOf(emailId: string): FiltersAwaitingBody | undefined {
    if (this.#bodyFiltersEnded.has(emailId)) return undefined;
    return this.#awaitingBody.get(emailId) ?? this.#state.awaitingBody.get(emailId);
  }

  defer(waiting: FiltersAwaitingBody): void {
    this.#record({ type: 'FiltersAwaitBody', payload: waiting });
  }

  /** Does nothing when no filter waits. */
  endBodyFilters(emailId: string): void {
    if (this.bodyFiltersOf(emailId) !== undefined) this.#record({ type: 'BodyFiltersEnded', payload: { emailId } });
  }

  run(id: string): FilterRun | undefined {
    return this.#runs.has(id) ? this.#runs.get(id) : this.#state.filterRuns.get(id);
  }

  runs(): readonly FilterRun[] {
    return [...new Map([...this.#state.filterRuns.entries(), ...this.#runs]).values()].flatMap((run) => run ?? []);
  }

  putRun(run: FilterRun): void {
    this.#record({ type: 'FilterRunChanged', payload: { run } });
  }

  keepBatch(batch: RunBatch): void {
    this.#record({ type: 'FilterRunApplied', payload: batch });
  }

  removeRun(runId: string): void {
    this.#record({ type: 'FilterRunRemoved', payload: { runId } });
  }

  apply(change: Change): void {
    switch (change.type) {
      case 'FilterChanged':
        this.#written.set(change.payload.filter.id, change.payload.filter);
        this.#inOrder = undefined;
        return;
      case 'FilterDeleted':
        this.#written.delete(change.payload.filterId);
        this.#deleted.add(change.payload.filterId);
        this.#inOrder = undefined;
        return;
      case 'FilterRunChanged':
        this.#runs.set(change.payload.run.id, change.payload.run);
        return;
      case 'FilterRunRemoved':
        this.#runs.set(change.payload.runId, undefined);
        return;
      case 'FiltersAwaitBody':
        this.#awaitingBody.set(change.payload.emailId, change.payload);
        this.#bodyFiltersEnded.delete(change.payload.emailId);
        return;
      case 'BodyFiltersEnded':
        this.#awaitingBody.delete(change.payload.emailId);
        this.#bodyFiltersEnded.add(change.payload.emailId);
    }
  }
}
