// The filters that the settings show, and what people do with them. The list follows what other windows and the server change.
import { signal } from '@preact/signals';
import type { Filter, FilterInput, FilterRun, MansioClient } from '../../../src/client/index.js';
import { NotFound } from '../../../src/client/index.js';
import { sayFailed } from '../app/failure.js';
import { reasonOf } from '../app/reason.js';
import { undo } from '../app/undo.js';
import { t } from '../i18n/t.js';
import { changedFilter, movedFilters } from './filter-draft.js';

/** How often a run is looked at. */
const LOOK_MS = 500;
/** Where the tab keeps the ids of the runs, by filter. */
const KEPT = 'mansio.filter-runs';

export interface ShownRun extends FilterRun {
  readonly runId: string;
}

export class FilterList {
  /** In the order of evaluation; undefined until they have been read. */
  readonly filters = signal<readonly Filter[] | undefined>(undefined);
  readonly problem = signal<string | undefined>(undefined);
  /** The last run over existing mail that was begun in this tab, by filter. */
  readonly runs = signal<ReadonlyMap<string, ShownRun>>(new Map());
  readonly #client: MansioClient;
  #isClosed = false;
  #following: { unsubscribe(): void } | undefined;

  constructor(client: MansioClient) {
    this.#client = client;
  }

  /** Shows the filters, and what becomes of them until it is closed. */
  follow(): void {
    this.#following?.unsubscribe();
    this.#following = this.#client.setting('/api/filters').subscribe({
      next: (filters) => {
        this.filters.value = filters;
        this.problem.value = undefined;
      },
      error: (error: unknown) => {
        this.problem.value = t('filters.notRead', { reason: reasonOf(error) });
      },
    });
  }

  /** Shows the runs that this tab has begun before the section was opened, so that they can still be undone. */
  async resume(): Promise<void> {
    await Promise.all(Object.entries(kept()).map(([id, runId]) => this.#goOn(id, runId)));
  }

  async #goOn(id: string, runId: string): Promise<void> {
    try {
      await this.#follow(id, runId);
    } catch (error) {
      // The filter is deleted, the server does not know the run any more, or it is one of another account.
      if (error instanceof NotFound) keep(id, undefined);
      else sayFailed(error);
    }
  }

  async read(): Promise<void> {
    try {
      this.filters.value = await this.#client.request('GET', '/api/filters');
      this.problem.value = undefined;
    } catch (error) {
      this.problem.value = t('filters.notRead', { reason: reasonOf(error) });
    }
  }

  /** @throws Refusal, NetworkFault */
  async save(id: string | undefined, body: FilterInput): Promise<void> {
    if (id === undefined) await this.#make(body);
    else await this.#put(id, body);
    undo.say(t('filters.saved', { name: body.name }));
    await this.read();
  }

  async turn(filter: Filter, isEnabled: boolean): Promise<void> {
    await this.#change(() => this.#alter(filter.id, { isEnabled }));
  }

  async move(filter: Filter, by: 1 | -1): Promise<void> {
    const before = this.filters.peek() ?? [];
    const changes = movedFilters(before, filter.id, by);
    const put = async (numberOf: (change: { id: string; number: number }, former: Filter) => number) => {
      for (const change of changes) {
        const former = before.find(({ id }) => id === change.id)!;
        await this.#alter(change.id, { priority: numberOf(change, former) });
      }
    };
    const isDone = await this.#change(() => put(({ number }) => number));
    if (!isDone || changes.length === 0) return;
    undo.offer({
      text: t('filters.moved', { name: filter.name }),
      undo: async () => {
        await put((_, { priority }) => priority);
        await this.read();
      },
    });
  }

  async delete(filter: Filter): Promise<void> {
    const { id, name } = filter;
    const isDone = await this.#change(() => this.#client.request('DELETE', '/api/filters/{id}', { params: { id } }));
    if (!isDone) return;
    undo.offer({
      text: t('filters.deleted', { name }),
      undo: async () => {
        await this.#make(changedFilter(filter, {}));
        await this.read();
      },
    });
  }

  /** Applies a filter to existing mail, and shows how far that is. */
  async apply({ id }: Filter): Promise<void> {
    try {
      const { runId } = await this.#client.request('POST', '/api/filters/{id}/apply', { params: { id }, body: {} });
      keep(id, runId);
      await this.#follow(id, runId);
    } catch (error) {
      sayFailed(error);
    }
  }

  async undoRun({ id }: Filter, runId: string): Promise<void> {
    try {
      await this.#client.request('POST', '/api/filters/{id}/apply/{runId}/undo', { params: { id, runId } });
      await this.#follow(id, runId);
    } catch (error) {
      sayFailed(error);
    }
  }

  /** Follows neither the filters nor a run any more. */
  close(): void {
    this.#isClosed = true;
    this.#following?.unsubscribe();
  }

  async #follow(id: string, runId: string): Promise<void> {
    let isDone = false;
    while (!isDone && !this.#isClosed) {
      const run = await this.#client.request('GET', '/api/filters/{id}/apply/{runId}', { params: { id, runId } });
      this.runs.value = new Map(this.runs.peek()).set(id, { runId, ...run });
      isDone = run.isDone;
      if (!isDone) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  /** Says so when it fails, and shows what holds then. */
  async #change(task: () => Promise<unknown>): Promise<boolean> {
    let isDone = true;
    try {
      await task();
    } catch (error) {
      isDone = false;
      sayFailed(error);
    }
    await this.read();
    return isDone;
  }

  #make(body: FilterInput): Promise<Filter> {
    return this.#client.request('POST', '/api/filters', { body });
  }

  /** A PUT replaces the whole, so that it begins with the filter as it is now: another window may have changed it. */
  async #alter(id: string, changed: Partial<FilterInput>): Promise<void> {
    const present = (await this.#client.request('GET', '/api/filters')).find((filter) => filter.id === id);
    if (present === undefined) throw new Error(t('filters.goneElsewhere'));
    await this.#put(id, changedFilter(present, changed));
  }

  #put(id: string, body: FilterInput): Promise<unknown> {
    return this.#client.request('PUT', '/api/filters/{id}', { params: { id }, body });
  }
}

function kept(): Readonly<Record<string, string>> {
  return JSON.parse(sessionStorage.getItem(KEPT) ?? '{}') as Readonly<Record<string, string>>;
}

function keep(id: string, runId: string | undefined): void {
  const { [id]: _former, ...others } = kept();
  sessionStorage.setItem(KEPT, JSON.stringify(runId === undefined ? others : { ...others, [id]: runId }));
}
