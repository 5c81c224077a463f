// Rows of conversations that name some of their emails only: the others, which the server gives when somebody acts on the row or selects it.
import type { EmailListItem, FoundEmails, KnownEmail, ListQuery, MansioClient } from '../../../src/client/index.js';

/** Whether the row has emails that it does not name. */
export function isCut(row: EmailListItem | undefined): boolean {
  return row?.thread !== undefined && row.thread.count > row.thread.emails.length;
}

export class CutRows {
  readonly #client: Pick<MansioClient, 'found'>;
  /** The newest reading of each email. */
  readonly #read = new Map<string, FoundEmails>();

  constructor(client: Pick<MansioClient, 'found'>) {
    this.#client = client;
  }

  /** Reads all emails of the rows of these emails. @throws Refusal, NetworkFault */
  async read(query: ListQuery, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const found = await this.#client.found(query, ids);
    for (const id of found.ids) this.#read.set(id, found);
  }

  /** Another list is shown. */
  forget(): void {
    this.#read.clear();
  }

  find(id: string): KnownEmail | undefined {
    return this.#read.get(id)?.find(id);
  }

  /** The emails that were in the row when it was read; `named`: those that it names. */
  emailsOf(named: readonly string[]): readonly string[] {
    return named.flatMap((id) => this.#read.get(id)?.thread(id) ?? []);
  }
}
