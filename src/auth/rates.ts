// Rates of requests (docs/interface/credentials.md, "Rates"): requests per minute of one account, over all its keys and logins, of one session
// of the page and of all sessions of an account, and of one address while the account is unknown. Each node counts for itself, in windows of
// a minute. The gateways refuse requests above a limit, and tell the client how long to wait (draft-ietf-httpapi-ratelimit-headers-10).
// Wrong credentials are counted separately by address; above their limit the client must wait. Every credential is looked up nevertheless, so that a guessing neighbour at the same address
// locks nobody out; a key has 256 random bits. The login guard of the mail protocols also counts the wrong credentials.
import type { LRUCache } from 'lru-cache';
import type { Principal } from '../actors/directory/protocol.js';
import { lruCache } from '../concurrency/lru-cache.js';
import { networkOf } from '../net/tcp/ip-address.js';
import type { LoginGuard } from './login-guard.js';

/** Requests per minute; 0: no limit. */
export interface RateLimits {
  readonly global: number;
  readonly authentication: number;
  readonly write: number;
  /** All requests of one session; a quarter of it for writes. */
  readonly session: number;
}

/**
 * `unlimited` is not counted, `hub` and `images` only in their own counts; the others are counted in their own count and globally.
 */
export type RateClass = 'plain' | 'write' | 'authentication' | 'hub' | 'images' | 'unlimited';

export type RateField = readonly [name: string, value: string];

const SECONDS = 60;
/**
 * The accounts or addresses that a window remembers. Above it, the least recently active one starts again: if later ones were refused,
 * anybody with many addresses could lock out everybody else.
 */
const MOST_KEYS = 32_768;

/** Images of mail that an account may load, as a multiple of its other requests. */
const IMAGES = 12;

const OFF: RateLimits = { global: 0, authentication: 0, write: 0, session: 0 };
/** A session may write this often for each request that it may make. */
const WRITES_OF_SESSION = 1 / 4;
/** As many sessions of an account may make all their requests: whoever signs in a hundred times has no more. */
const BUSY_SESSIONS = 4;

export interface RateOptions {
  readonly mostKeys?: number;
  /** Also counts wrong credentials. */
  readonly guard?: Pick<LoginGuard, 'recordFailure'>;
}

/** The counts of one node. */
export class Rates {
  readonly #counters: AllCounters;
  readonly #guard: RateOptions['guard'];

  constructor(limits: RateLimits = OFF, { mostKeys = MOST_KEYS, guard }: RateOptions = {}) {
    this.#counters = {
      accounts: counters(limits, mostKeys),
      addresses: counters(limits, mostKeys),
      sessions: sessionCounters(limits, mostKeys),
      allSessions: windowOf('sessions', BUSY_SESSIONS * limits.session, mostKeys),
      wrong: windowOf('wrong-credentials', limits.global, mostKeys),
    };
    this.#guard = guard;
  }

  /** Counts one request of a client at `address`. */
  tally(address: string): Tally {
    const guarded = () => this.#guard?.recordFailure(address);
    return new Tally(networkOf(address), this.#counters, guarded);
  }
}

/** Counts one request. Each counting method returns the seconds that the client must wait; 0 when the request may be served. */
export class Tally {
  readonly #network: string;
  readonly #counters: AllCounters;
  readonly #onFailure: () => void;
  #fields: readonly RateField[] = [];

  constructor(network: string, counters: AllCounters, onFailure: () => void) {
    this.#network = network;
    this.#counters = counters;
    this.#onFailure = onFailure;
  }

  /** The header fields of the last count. */
  get fields(): readonly RateField[] {
    return this.#fields;
  }

  /** Counts a request with a right credential: for its session and the sessions of its account, or else for its account. */
  principal({ accountId, keyId, sessionEnd }: Principal, rate: RateClass): number {
    if (sessionEnd === undefined || keyId === null) return this.account(accountId, rate);
    const { sessions, allSessions } = this.#counters;
    const windows = windowsFor(sessions, rate);
    const ofAll = windows.length === 0 || allSessions === undefined ? [] : [allSessions.count(accountId)];
    return this.#waitOf([...windows.map((window) => window.count(keyId)), ...ofAll]);
  }

  account(accountId: string, rate: RateClass): number {
    return this.#count(windowsFor(this.#counters.accounts, rate), accountId);
  }

  /** Counts a request to a public endpoint, or one without a credential. */
  countAnonymous(rate: RateClass): number {
    return this.#count(windowsFor(this.#counters.addresses, rate), this.#network);
  }

  /** Counts a credential that opens no account. */
  recordFailure(): number {
    this.#onFailure();
    const { wrong } = this.#counters;
    return wrong === undefined ? 0 : this.#count([wrong], this.#network);
  }

  #count(windows: readonly Window[], key: string): number {
    return this.#waitOf(windows.map((window) => window.count(key)));
  }

  #waitOf(quotas: readonly Quota[]): number {
    if (quotas.length === 0) return 0;
    const list = (item: (quota: Quota) => string) => quotas.map(item).join(', ');
    this.#fields = [
      ['RateLimit-Policy', list(({ name, limit }) => `"${name}";q=${limit};w=${SECONDS}`)],
      ['RateLimit', list(({ name, left, seconds }) => `"${name}";r=${left};t=${seconds}`)],
    ];
    return Math.max(0, ...quotas.map(({ exceeded, seconds }) => (exceeded ? seconds : 0)));
  }
}

type Counters = Readonly<Record<'global' | 'write' | 'authentication' | 'hub' | 'images', Window | undefined>>;

interface AllCounters {
  readonly accounts: Counters;
  readonly addresses: Counters;
  readonly sessions: Counters;
  /** All sessions of an account. */
  readonly allSessions: Window | undefined;
  readonly wrong: Window | undefined;
}

interface Quota {
  readonly name: string;
  readonly limit: number;
  readonly left: number;
  /** The seconds until the window ends, at least 1. */
  readonly seconds: number;
  readonly exceeded: boolean;
}

/** A key's minute begins with its first count and ends by the monotonic clock, which LRUCache uses. */
class Window {
  readonly #name: string;
  readonly #limit: number;
  readonly #keys: LRUCache<string, { used: number }>;

  constructor(name: string, limit: number, mostKeys: number) {
    this.#name = name;
    this.#limit = limit;
    this.#keys = lruCache(mostKeys, { ttl: SECONDS * 1000 });
  }

  count(key: string): Quota {
    let counter = this.#keys.get(key);
    if (counter === undefined) {
      counter = { used: 0 };
      this.#keys.set(key, counter);
    }
    counter.used++;
    return this.#quota(counter.used, this.#keys.getRemainingTTL(key));
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
    // Separate, so that hub clients that reconnect repeatedly do not lock their account out of the API.
    hub: windowOf('hub', global, mostKeys),
    // One email may show hundreds of images.
    images: windowOf('images', IMAGES * global, mostKeys),
  };
}

function sessionCounters({ session }: RateLimits, mostKeys: number): Counters {
  const write = windowOf('session-write', Math.ceil(session * WRITES_OF_SESSION), mostKeys);
  return {
    global: windowOf('session', session, mostKeys),
    write,
    authentication: write,
    hub: windowOf('session-hub', session, mostKeys),
    // Images count for the account in their URL.
    images: undefined,
  };
}

function windowOf(name: string, limit: number, mostKeys: number): Window | undefined {
  return limit === 0 ? undefined : new Window(name, limit, mostKeys);
}

function windowsFor(of: Counters, rate: RateClass): readonly Window[] {
  if (rate === 'unlimited') return [];
  const own = rate === 'plain' ? undefined : of[rate];
  return [rate === 'hub' || rate === 'images' ? undefined : of.global, own].filter((window) => window !== undefined);
}
