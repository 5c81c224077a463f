// Emails that are being delivered by this node, how many more may be, and whose: every account has its share of the places.
// An email all of whose deliveries wait, for a slow domain or for a connection, is parked: it keeps nobody from a place, up to
// a bound of its own, of which every account has its share too.
import { DynamicShares } from '../../bounds/dynamic-shares.js';

const MOST_PARKED = 2_000;

export class InFlight {
  readonly #accounts = new Map<string, string>();
  /** Without those that are parked. */
  readonly #places: DynamicShares;
  readonly #parkedPlaces: DynamicShares;
  readonly #parked = new Set<string>();

  constructor(limit: number, mostParked = MOST_PARKED) {
    this.#places = new DynamicShares({ total: limit });
    this.#parkedPlaces = new DynamicShares({ total: mostParked });
  }

  get limit(): number {
    return this.#places.total;
  }

  get size(): number {
    return this.#accounts.size;
  }

  /** Below 0 when some have come back to their places that others had taken. */
  get room(): number {
    return this.#places.free;
  }

  /** Outbound ids. */
  get ids(): readonly string[] {
    return [...this.#accounts.keys()];
  }

  /** Accounts that have their share. */
  get sated(): readonly string[] {
    return this.#places.holders.filter((accountId) => !this.#places.mayTake(accountId));
  }

  has(outboundId: string): boolean {
    return this.#accounts.has(outboundId);
  }

  /** How many of the account may be added one after the other. */
  openings(accountId: string): number {
    return this.#places.openings(accountId);
  }

  /** False when there is no room for it now, or it is in flight already. */
  add(accountId: string, outboundId: string): boolean {
    if (this.has(outboundId) || !this.#places.mayTake(accountId)) return false;
    this.#accounts.set(outboundId, accountId);
    this.#places.take(accountId);
    return true;
  }

  /** It waits: its place is another's. False when too many do; then it keeps it. */
  park(outboundId: string): boolean {
    const accountId = this.#accounts.get(outboundId);
    if (accountId === undefined || this.#parked.has(outboundId)) return false;
    if (!this.#parkedPlaces.mayTake(accountId)) return false;
    this.#parked.add(outboundId);
    this.#parkedPlaces.take(accountId);
    this.#places.give(accountId);
    return true;
  }

  /** It goes on, with or without a free place. */
  unpark(outboundId: string): void {
    const accountId = this.#accounts.get(outboundId);
    if (accountId === undefined || !this.#parked.delete(outboundId)) return;
    this.#parkedPlaces.give(accountId);
    this.#places.take(accountId);
  }

  remove(outboundId: string): void {
    const accountId = this.#accounts.get(outboundId);
    if (accountId === undefined) return;
    this.unpark(outboundId);
    this.#accounts.delete(outboundId);
    this.#places.give(accountId);
  }
}
