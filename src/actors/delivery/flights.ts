// Emails that are being delivered by this node, how many more may be, and whose. An account may have as many in flight as
// twice the room that is left: alone it gets two thirds of all, and whoever comes with a first email always finds a place
// before the next one of an account with thousands.

const TIMES_THE_ROOM = 2;

export class Flights {
  readonly limit: number;
  readonly #accounts = new Map<string, string>();
  readonly #perAccount = new Map<string, number>();

  constructor(limit: number) {
    this.limit = limit;
  }

  get size(): number {
    return this.#accounts.size;
  }

  get room(): number {
    return this.limit - this.size;
  }

  /** Outbound ids. */
  get ids(): readonly string[] {
    return [...this.#accounts.keys()];
  }

  /** Accounts that have their share. */
  get sated(): readonly string[] {
    return [...this.#perAccount.keys()].filter((accountId) => !this.#mayAdd(accountId));
  }

  has(outboundId: string): boolean {
    return this.#accounts.has(outboundId);
  }

  /** How many of the account may be added one after the other. */
  openings(accountId: string): number {
    // Each of them makes one more of the account and leaves one place less.
    const more = (TIMES_THE_ROOM * this.room - this.#of(accountId)) / (TIMES_THE_ROOM + 1);
    return Math.max(0, Math.ceil(more));
  }

  /** False when there is no room for it now, or it is in flight already. */
  add(accountId: string, outboundId: string): boolean {
    if (this.has(outboundId) || !this.#mayAdd(accountId)) return false;
    this.#accounts.set(outboundId, accountId);
    this.#perAccount.set(accountId, this.#of(accountId) + 1);
    return true;
  }

  remove(outboundId: string): void {
    const accountId = this.#accounts.get(outboundId);
    if (accountId === undefined) return;
    this.#accounts.delete(outboundId);
    const left = this.#of(accountId) - 1;
    if (left === 0) this.#perAccount.delete(accountId);
    else this.#perAccount.set(accountId, left);
  }

  #of(accountId: string): number {
    return this.#perAccount.get(accountId) ?? 0;
  }

  #mayAdd(accountId: string): boolean {
    return this.#of(accountId) < TIMES_THE_ROOM * this.room;
  }
}
