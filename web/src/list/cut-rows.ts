// Rows of conversations that name some of their emails only: the others, which the server gives when somebody acts on the row or selects it.
// While it does not answer, they belong to an action without a name.
import {
  type EmailListItem,
  type FoundEmails,
  type KnownEmail,
  type MansioClient,
  NetworkFault,
  Refusal,
  type UnnamedEmails,
} from '../../../src/client/index.js';

/** Whether the row has emails that it does not name. */
export function isCut(row: EmailListItem | undefined): boolean {
  return row?.thread !== undefined && row.thread.count > row.thread.emails.length;
}

interface UnreadRow {
  /** The newest first. */
  readonly named: readonly string[];
  /** How many emails the row has. */
  readonly count: number;
}

export class CutRows {
  readonly #client: Pick<MansioClient, 'found'>;
  /** The newest reading of each email. */
  readonly #read = new Map<string, FoundEmails>();
  /** Rows that could not be read, and of which all emails were meant. */
  #unread: readonly UnreadRow[] = [];
  /** The list of all of these, as JSON. */
  #query = '';

  constructor(client: Pick<MansioClient, 'found'>) {
    this.#client = client;
  }

  /**
   * Reads all emails of these rows: the function gives them, by the newest one. `query`: the list, as JSON. The emails of rows that cannot
   * be read now are those that they name, and `unnamedOf` has the rest. @throws Refusal
   */
  async read(query: string, rows: readonly EmailListItem[]): Promise<(id: string) => readonly string[]> {
    if (rows.length === 0) return () => [];
    if (query !== this.#query) this.forget();
    this.#query = query;
    const unread = rows.map(({ thread }) => ({ named: thread!.emails.map(({ id }) => id), count: thread!.count }));
    const ids = new Set(unread.flatMap(({ named }) => named));
    this.#unread = this.#unread.filter(({ named }) => !named.some((id) => ids.has(id)));
    try {
      const found = await this.#client.found(
        JSON.parse(query),
        rows.map(({ id }) => id),
      );
      if (this.#query === query) for (const id of found.ids) this.#read.set(id, found);
      return (id) => found.thread(id) ?? [];
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (this.#query === query) {
        for (const id of ids) this.#read.delete(id);
        this.#unread = [...this.#unread, ...unread];
      }
      return () => [];
    }
  }

  /** Another list is shown. */
  forget(): void {
    this.#read.clear();
    this.#unread = [];
    this.#query = '';
  }

  find(id: string): KnownEmail | undefined {
    return this.#read.get(id)?.find(id);
  }

  /** The emails that were in the row when it was read; `named`: those that it names. */
  emailsOf(named: readonly string[]): readonly string[] {
    return named.flatMap((id) => this.#read.get(id)?.thread(id) ?? []);
  }

  /** The rest of the rows that could not be read, of which all named emails are among these. */
  unnamedOf(ids: readonly string[]): UnnamedEmails | undefined {
    const items = this.#among(ids).map(({ named }) => named);
    return items.length === 0 ? undefined : { query: JSON.parse(this.#query), items };
  }

  /** How many emails belong to these without a name. */
  unnamedCount(ids: readonly string[]): number {
    return this.#among(ids).reduce((sum, { named, count }) => sum + count - named.length, 0);
  }

  #among(ids: readonly string[]): readonly UnreadRow[] {
    if (this.#unread.length === 0) return [];
    const all = new Set(ids);
    return this.#unread.filter(({ named }) => named.every((id) => all.has(id)));
  }
}

/** The server has not answered, and may later. */
function isPassing(error: unknown): boolean {
  return error instanceof NetworkFault || (error instanceof Refusal && error.code === 'unavailable');
}
