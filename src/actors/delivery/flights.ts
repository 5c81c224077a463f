// Emails that are being delivered by this node, how many more may be, and whose. An account may have as many in flight as
// twice the room that is left: alone it gets two thirds of all, and whoever comes with a first email always finds a place
// before the next one of an account with thousands. What only stands in line for a slow domain is parked: it keeps nobody from
// a place, up to a bound of its own.

const TIMES_THE_ROOM = 2;
const MOST_PARKED = 2_000;

export class Flights {
  readonly limit: number;
  readonly #accounts = new Map<string, string>();
  /** Without those that are parked. */
  readonly #perAccount = new Map<string, number>();
  readonly #parked = new Set<string>();
  readonly #mostParked: number;

  constructor(limit: number, mostParked = MOST_PARKED) {
    this.limit = limit;
    this.#mostParked = mostParked;
  }

  get size(): number {
    return this.#accounts.size;
  }

  /** Below 0 when some have come back to their places that others had taken. */
  get room(): number {
    return this.limit - this.size + this.#parked.size;
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

  /** It stands in line: its place is another's. False when too many do; then it keeps it. */
  park(outboundId: string): boolean {
    const accountId = this.#accounts.get(outboundId);
    if (accountId === undefined || this.#parked.has(outboundId)) return false;
    if (this.#parked.size >= this.#mostParked) return false;
    this.#parked.add(outboundId);
    this.#leave(accountId);
    return true;
  }

  /** It goes on, with or without a free place. */
  unpark(outboundId: string): void {
    const accountId = this.#accounts.get(outboundId);
    if (accountId === undefined || !this.#parked.delete(outboundId)) return;
    this.#perAccount.set(accountId, this.#of(accountId) + 1);
  }

  remove(outboundId: string): void {
    const accountId = this.#accounts.get(outboundId);
    if (accountId === undefined) return;
    this.#accounts.delete(outboundId);
    if (!this.#parked.delete(outboundId)) this.#leave(accountId);
  }

  #leave(accountId: string): void {
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
