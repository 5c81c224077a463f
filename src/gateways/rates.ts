// How often may be asked (interface, section 8): requests a minute of one account, whichever keys and logins it uses, or of
// one address while no account is known. Counted in windows of a minute by this node alone. What is beyond is refused by
// the gateways; they are told how long to wait, and what to say of it (draft-ietf-httpapi-ratelimit-headers-10).
//
// Wrong credentials count for themselves, by address: beyond their limit unknown ones are no longer looked up, so that
// guesses learn nothing, but keys that were good here before are, and so are tokens, which no store is asked about.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { networkOf } from './tcp/ip-address.js';

/** Requests a minute; 0: no limit. */
export interface RateLimits {
  readonly global: number;
  readonly authentication: number;
  readonly write: number;
}

/** `unlimited` is not counted at all; the others are counted for themselves and globally. */
export type RateClass = 'plain' | 'write' | 'authentication' | 'unlimited';

export type RateField = readonly [name: string, value: string];

const SECONDS = 60;
/**
 * Accounts or addresses a window remembers. Beyond, the one that has asked nothing for longest starts anew: refusing those
 * who come later would let anybody with many addresses shut out everybody else.
 */
const MOST_KEYS = 32_768;

const OFF: RateLimits = { global: 0, authentication: 0, write: 0 };

/** What one node counts. */
export class Rates {
  readonly #accounts: Counters;
  readonly #addresses: Counters;
  readonly #wrong: Window | undefined;
  /** SHA-256 of keys that were good. */
  readonly #good = new LRUCache<string, true>({ max: MOST_KEYS });

  constructor(limits: RateLimits = OFF, mostKeys = MOST_KEYS) {
    this.#accounts = counters(limits, mostKeys);
    this.#addresses = counters(limits, mostKeys);
    this.#wrong = windowOf('wrong-credentials', limits.global, mostKeys);
  }

  /** For one request of a client at `address`. */
  tally(address: string): Tally {
    return new Tally(networkOf(address), this.#accounts, this.#addresses, this.#wrong, this.#good);
  }
}

/** Counts one request. Everything that counts resolves to the seconds that are to be waited for, 0 when it may be served. */
export class Tally {
  readonly #network: string;
  readonly #accounts: Counters;
  readonly #addresses: Counters;
  readonly #wrong: Window | undefined;
  readonly #good: LRUCache<string, true>;
  #fields: readonly RateField[] = [];

  constructor(
    network: string,
    accounts: Counters,
    addresses: Counters,
    wrong: Window | undefined,
    good: LRUCache<string, true>,
  ) {
    this.#network = network;
    this.#accounts = accounts;
    this.#addresses = addresses;
    this.#wrong = wrong;
    this.#good = good;
  }

  /** Of the last count. */
  get fields(): readonly RateField[] {
    return this.#fields;
  }

  account(accountId: string, rate: RateClass): Promise<number> {
    return this.#count(windowsFor(this.#accounts, rate), accountId);
  }

  /** Public endpoints, and whoever shows no credential. */
  stranger(rate: RateClass): Promise<number> {
    return this.#count(windowsFor(this.#addresses, rate), this.#network);
  }

  /** Before a key is looked up. */
  async mayTry(key: string): Promise<number> {
    if (this.#wrong === undefined || this.#good.has(digest(key))) return 0;
    return this.#told(await this.#wrong.look(this.#network));
  }

  good(key: string): void {
    if (this.#wrong !== undefined) this.#good.set(digest(key), true);
  }

  wrong(credential: string): Promise<number> {
    if (this.#wrong === undefined) return Promise.resolve(0);
    this.#good.delete(digest(credential));
    return this.#count([this.#wrong], this.#network);
  }

  async #count(windows: readonly Window[], key: string): Promise<number> {
    if (windows.length === 0) return 0;
    return this.#told(await Promise.all(windows.map((window) => window.count(key))));
  }

  #told(quotas: readonly Quota[]): number {
    if (quotas.length === 0) return 0;
    const list = (item: (quota: Quota) => string) => quotas.map(item).join(', ');
    this.#fields = [
      ['RateLimit-Policy', list(({ name, limit }) => `"${name}";q=${limit};w=${SECONDS}`)],
      ['RateLimit', list(({ name, left, seconds }) => `"${name}";r=${left};t=${seconds}`)],
    ];
    return Math.max(0, ...quotas.map(({ exceeded, seconds }) => (exceeded ? seconds : 0)));
  }
}

type Counters = Readonly<Record<'global' | 'write' | 'authentication', Window | undefined>>;

interface Quota {
  readonly name: string;
  readonly limit: number;
  readonly left: number;
  /** Until the window ends, at least 1. */
  readonly seconds: number;
  readonly exceeded: boolean;
}

/** A minute of a key begins with its first count and ends by the monotonic clock, which the list of keys goes by. */
class Window {
  readonly #name: string;
  readonly #limit: number;
  readonly #keys: LRUCache<string, { used: number }>;

  constructor(name: string, limit: number, mostKeys: number) {
    this.#name = name;
    this.#limit = limit;
    this.#keys = new LRUCache({ max: mostKeys, ttl: SECONDS * 1000 });
  }

  async count(key: string): Promise<Quota> {
    let counter = this.#keys.get(key);
    if (counter === undefined) {
      counter = { used: 0 };
      this.#keys.set(key, counter);
    }
    counter.used++;
    return this.#quota(counter.used, this.#keys.getRemainingTTL(key));
  }

  /** Of a key whose limit is used up, without counting. */
  async look(key: string): Promise<readonly Quota[]> {
    const counter = this.#keys.get(key);
    if (counter === undefined || counter.used < this.#limit) return [];
    return [this.#quota(this.#limit + 1, this.#keys.getRemainingTTL(key))];
  }

  #quota(used: number, ms: number): Quota {
    const seconds = Math.max(1, Math.ceil(ms / 1000));
    const limit = this.#limit;
    return { name: this.#name, limit, left: Math.max(0, limit - used), seconds, exceeded: used > limit };
  }
}

function counters({ global, write, authentication }: RateLimits, mostKeys: number): Counters {
  return {
    global: windowOf('global', global, mostKeys),
    write: windowOf('write', write, mostKeys),
    authentication: windowOf('authentication', authentication, mostKeys),
  };
}

function windowOf(name: string, limit: number, mostKeys: number): Window | undefined {
  return limit === 0 ? undefined : new Window(name, limit, mostKeys);
}

function windowsFor(of: Counters, rate: RateClass): readonly Window[] {
  if (rate === 'unlimited') return [];
  const own = rate === 'plain' ? undefined : of[rate];
  return [of.global, own].filter((window) => window !== undefined);
}

function digest(credential: string): string {
  return createHash('sha256').update(credential).digest('base64');
}
