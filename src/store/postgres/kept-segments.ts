// Segments that were looked at are kept in memory while there is room: small ones whole, of large ones the ids. They never
// change. What is longest unused goes first, account by account.
import type { IndexPage } from '../word-index/index-page.js';

const MOST_OCTETS = 32 * 1024 * 1024;
const MOST_OF_ACCOUNT = MOST_OCTETS / 2;
/** What an entry has besides its octets. */
const ENTRY_OCTETS = 256;

export interface KeptSegment {
  readonly id: number;
  readonly ids: Uint8Array;
  /** The only one, or none. */
  readonly page?: IndexPage;
  readonly hasPositions: boolean;
}

interface Account {
  readonly segments: Map<number, KeptSegment>;
  octets: number;
}

export class KeptSegments {
  readonly #accounts = new Map<string, Account>();
  #octets = 0;

  of(accountId: string): ReadonlyMap<number, KeptSegment> {
    const account = this.#accounts.get(accountId);
    if (account === undefined) return new Map();
    this.#accounts.delete(accountId);
    this.#accounts.set(accountId, account);
    return new Map(account.segments);
  }

  keep(accountId: string, segment: KeptSegment): void {
    const account = this.#accounts.get(accountId) ?? { segments: new Map(), octets: 0 };
    this.#drop(account, segment.id);
    const octets = octetsOf(segment);
    if (account.octets + octets > MOST_OF_ACCOUNT) return;
    account.segments.set(segment.id, segment);
    this.#count(account, octets);
    this.#accounts.set(accountId, account);
    for (const [oldest, { octets: unused }] of this.#accounts) {
      if (this.#octets <= MOST_OCTETS) break;
      this.#accounts.delete(oldest);
      this.#octets -= unused;
    }
  }

  /** The others of the account are gone. */
  retain(accountId: string, ids: ReadonlySet<number>): void {
    const account = this.#accounts.get(accountId);
    if (account === undefined) return;
    for (const id of account.segments.keys()) if (!ids.has(id)) this.#drop(account, id);
  }

  #drop(account: Account, id: number): void {
    const segment = account.segments.get(id);
    if (segment === undefined) return;
    account.segments.delete(id);
    this.#count(account, -octetsOf(segment));
  }

  #count(account: Account, octets: number): void {
    account.octets += octets;
    this.#octets += octets;
  }
}

function octetsOf({ ids, page }: KeptSegment): number {
  return ENTRY_OCTETS + ids.length + (page === undefined ? 0 : page.words.length + page.positions.length);
}
