// The rows of durable consumers in memory, by the rules of the port.
import type { ConsumerPosition, ConsumerStore, PositionUpdate } from '../../../src/store/consumers.js';
import { turn } from '../turns.js';

export class MemoryConsumers implements ConsumerStore {
  readonly rows = new Map<string, ConsumerPosition>();
  /** Returns the newest change of an account. */
  newest: (accountId: string) => number = () => 0;
  /** Every call throws this error. */
  fault: Error | undefined;
  /** The number of statements so far. */
  calls = 0;

  add(accountId: string, id: string, seq: number): void {
    this.rows.set(id, { accountId, id, seq, retryAt: null, failures: 0, failingSince: null });
  }

  async accounts(): Promise<readonly string[]> {
    await this.#turn();
    return [...new Set([...this.rows.values()].map(({ accountId }) => accountId))];
  }

  async behind(): Promise<readonly string[]> {
    await this.#turn();
    const due = [...this.rows.values()].filter(
      ({ accountId, seq, retryAt }) => seq < this.newest(accountId) && (retryAt === null || retryAt <= Date.now()),
    );
    return [...new Set(due.map(({ accountId }) => accountId))];
  }

  async of(_kind: string, accountId: string): Promise<readonly ConsumerPosition[]> {
    await this.#turn();
    return [...this.rows.values()]
      .filter((row) => row.accountId === accountId)
      .map((row) => ({ ...row, retryAt: row.retryAt !== null && row.retryAt > Date.now() ? row.retryAt : null }));
  }

  async advance(
    _kind: string,
    advances: readonly (PositionUpdate & { readonly recovered: boolean })[],
  ): Promise<ReadonlySet<string>> {
    await this.#turn();
    const done = advances.filter((update) => this.#fits(update));
    for (const { id, seq, recovered } of done) {
      const healthy = recovered ? { failures: 0, failingSince: null, retryAt: null } : {};
      this.rows.set(id, { ...this.rows.get(id)!, ...healthy, seq });
    }
    return new Set(done.map(({ id }) => id));
  }

  async fail(_kind: string, update: PositionUpdate & ConsumerPosition): Promise<boolean> {
    await this.#turn();
    if (!this.#fits(update)) return false;
    const { id, seq, retryAt, failures, failingSince } = update;
    this.rows.set(id, { ...this.rows.get(id)!, seq, retryAt, failures, failingSince });
    return true;
  }

  #fits({ id, before }: PositionUpdate): boolean {
    return this.rows.get(id)?.seq === before;
  }

  async #turn(): Promise<void> {
    this.calls++;
    await turn();
    if (this.fault !== undefined) throw this.fault;
  }
}
