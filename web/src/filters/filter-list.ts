// The filters that the settings show, and what people do with them. The list is read when the section opens, and after each change.
import { signal } from '@preact/signals';
import type { Filter, FilterInput, MansioClient } from '../../../src/client/index.js';
import { sayFailed } from '../app/failure.js';
import { reasonOf } from '../app/reason.js';
import { undo } from '../app/undo.js';
import { t } from '../i18n/t.js';
import { changedFilter, movedFilters } from './filter-draft.js';

export class FilterList {
  /** In the order of evaluation; undefined until they have been read. */
  readonly filters = signal<readonly Filter[] | undefined>(undefined);
  readonly problem = signal<string | undefined>(undefined);
  readonly #client: MansioClient;

  constructor(client: MansioClient) {
    this.#client = client;
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
    await this.#change(() => this.#put(filter.id, changedFilter(filter, { isEnabled })));
  }

  async move(filter: Filter, by: 1 | -1): Promise<void> {
    const before = this.filters.peek() ?? [];
    const changes = movedFilters(before, filter.id, by);
    const put = async (numberOf: (change: { id: string; number: number }, former: Filter) => number) => {
      for (const change of changes) {
        const former = before.find(({ id }) => id === change.id)!;
        await this.#put(change.id, changedFilter(former, { priority: numberOf(change, former) }));
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

  #put(id: string, body: FilterInput): Promise<unknown> {
    return this.#client.request('PUT', '/api/filters/{id}', { params: { id }, body });
  }
}
