// Slows down guessing at the mail protocols. Counts failures by network and by name within a window. The reply to each failure is delayed,
// longer with every failure, and the number of delayed replies is bounded. Too many failures block for a while: further wrong credentials
// are answered with `limited`. A right credential is never refused here: a key has 256 random bits and a token has a signature, so guessing
// is hopeless, and a guessing neighbour locks nobody out. A name that has signed in from a network is known there, and failures of others
// do not block it.
import type { LRUCache } from 'lru-cache';
import { KeyedLimiter } from '../concurrency/keyed-limiter.js';
import { lruCache } from '../concurrency/lru-cache.js';
import { fixedShare } from '../concurrency/share-policies.js';
import { canonicalAddress } from '../mail-format/address.js';
import { networkOf } from '../net/tcp/ip-address.js';

export interface GuardLimits {
  /** The failures of one network within `windowMs` that do not block. */
  readonly failuresPerNetwork: number;
  /** The failures with one name, from networks where the name is not known. */
  readonly failuresPerName: number;
  /** The length of the window in ms, from the first failure. */
  readonly windowMs: number;
  readonly blockMs: number;
  /** The delay in ms of the reply to the first failure; n times as long for the n-th, up to five times. Ten times when blocked. */
  readonly delayMs: number;
  /** The replies that are delayed at a time. */
  readonly delays: number;
  /** The delayed replies of one network or of one name. */
  readonly delaysPerHolder: number;
  /** How long in ms a name is known at a network after a login. */
  readonly knownMs: number;
  /** The networks, names, and pairs of both that are remembered; the least recently used one is dropped first. */
  readonly mostKeys: number;
}

const DEFAULT_LIMITS: GuardLimits = {
  failuresPerNetwork: 20,
  failuresPerName: 20,
  windowMs: 10 * 60_000,
  blockMs: 10 * 60_000,
  delayMs: 1000,
  delays: 2000,
  delaysPerHolder: 50,
  knownMs: 30 * 86_400_000,
  mostKeys: 32_768,
};

/** The answer to a wrong credential: the caller replies after `delayMs` and then calls `done`. */
export interface DelayedRefusal {
  readonly isLimited: boolean;
  readonly delayMs: number;
  done(): void;
}

/** The counts of a node's guard since its last notice, for the guards of other nodes. */
export interface GuardNotice {
  readonly networks: readonly (readonly [network: string, failures: number])[];
  readonly names: readonly (readonly [name: string, failures: number])[];
  readonly known: readonly (readonly [network: string, name: string])[];
}

const MOST_DELAYS = 5;
const BLOCKED_DELAYS = 10;
/** The most entries of each list of a notice; further ones are not shared. */
const MOST_SHARED = 500;
/** The least time between two logins that renew a known name and share it. */
const RENEWAL_MS = 86_400_000;

export class LoginGuard {
  readonly #limits: GuardLimits;
  readonly #networks: FailureCounts;
  readonly #names: FailureCounts;
  readonly #known: LRUCache<string, true>;
  readonly #delays: { readonly networks: KeyedLimiter; readonly names: KeyedLimiter };
  readonly #unshared = {
    networks: new Map<string, number>(),
    names: new Map<string, number>(),
    known: new Set<string>(),
  };

  /** `now`: ms of a clock that does not jump. */
  constructor(limits: Partial<GuardLimits> = {}, now: () => number = () => performance.now()) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    const { failuresPerNetwork, failuresPerName, knownMs, mostKeys, delays, delaysPerHolder } = this.#limits;
    this.#networks = new FailureCounts(failuresPerNetwork, this.#limits, now);
    this.#names = new FailureCounts(failuresPerName, this.#limits, now);
    this.#known = lruCache(mostKeys, { ttl: knownMs, ttlResolution: 0, perf: { now } });
    const policy = fixedShare({ total: delays, share: delaysPerHolder });
    this.#delays = { networks: new KeyedLimiter(policy), names: new KeyedLimiter(policy) };
  }

  /** Counts a wrong credential at a gateway without names, which itself replies. */
  recordFailure(address: string): void {
    this.#countNetwork(networkOf(address));
  }

  /** Counts a wrong credential with these names, or one without the required scope. */
  refuse(address: string, presentedNames: readonly string[]): DelayedRefusal {
    const network = networkOf(address);
    const names = canonical(presentedNames);
    const isKnown = names.some((name) => this.#known.has(pairOf(network, name)));
    let failures = this.#countNetwork(network);
    let isBlocked = this.#networks.isBlocked(network);
    const strangers = isKnown ? [] : names;
    for (const name of strangers) {
      failures = Math.max(failures, this.#names.add(name, 1));
      isBlocked ||= this.#names.isBlocked(name);
      add(this.#unshared.names, name, 1);
    }
    isBlocked &&= !isKnown;
    const release = this.#hold(network, strangers);
    if (release === undefined) return { isLimited: true, delayMs: 0, done: () => {} };
    const times = isBlocked ? BLOCKED_DELAYS : Math.min(failures, MOST_DELAYS);
    return { isLimited: isBlocked, delayMs: this.#limits.delayMs * times, done: release };
  }

  /** Notes a right credential: its names are known at the network from now on. */
  admit(address: string, presentedNames: readonly string[]): void {
    const network = networkOf(address);
    for (const name of canonical(presentedNames)) {
      const pair = pairOf(network, name);
      if (this.#known.getRemainingTTL(pair) > this.#limits.knownMs - RENEWAL_MS && this.#known.get(pair)) continue;
      this.#known.set(pair, true);
      if (this.#unshared.known.size < MOST_SHARED) this.#unshared.known.add(pair);
    }
  }

  /** Returns what other nodes do not know yet, and counts it as shared; undefined when there is nothing. */
  takeNotice(): GuardNotice | undefined {
    const { networks, names, known } = this.#unshared;
    if (networks.size + names.size + known.size === 0) return undefined;
    const notice = { networks: [...networks], names: [...names], known: [...known].map(partsOf) };
    for (const list of [networks, names, known]) list.clear();
    return notice;
  }

  /** Adds the notice of another node. */
  learn({ networks, names, known }: GuardNotice): void {
    for (const [network, failures] of networks) this.#networks.add(network, failures);
    for (const [name, failures] of names) this.#names.add(name, failures);
    for (const [network, name] of known) this.#known.set(pairOf(network, name), true);
  }

  #countNetwork(network: string): number {
    add(this.#unshared.networks, network, 1);
    return this.#networks.add(network, 1);
  }

  /** Reserves a delayed reply and returns a function that releases it; undefined when none is free. */
  #hold(network: string, names: readonly string[]): (() => void) | undefined {
    const { networks, names: byName } = this.#delays;
    const reserved = [networks.reserve(network), ...names.map((name) => byName.reserve(name))];
    const release = () => {
      for (const reservation of reserved) reservation?.release();
    };
    if (!reserved.includes(undefined)) return release;
    release();
    return undefined;
  }
}

/**
 * Failures by key. A window begins with the first failure. If the limit is exceeded it becomes a block, which later failures do not
 * prolong.
 */
class FailureCounts {
  readonly #most: number;
  readonly #blockMs: number;
  readonly #counts: LRUCache<string, { failures: number }>;

  constructor(most: number, { windowMs, blockMs, mostKeys }: GuardLimits, now: () => number) {
    this.#most = most;
    this.#blockMs = blockMs;
    this.#counts = lruCache(mostKeys, { ttl: windowMs, ttlResolution: 0, perf: { now } });
  }

  /** Returns the failures in the window, including these. */
  add(key: string, failures: number): number {
    const count = this.#counts.get(key) ?? { failures: 0 };
    const before = count.failures;
    count.failures += failures;
    if (before === 0) this.#counts.set(key, count);
    if (before <= this.#most && count.failures > this.#most) this.#counts.set(key, count, { ttl: this.#blockMs });
    return count.failures;
  }

  isBlocked(key: string): boolean {
    return (this.#counts.get(key)?.failures ?? 0) > this.#most;
  }
}

function canonical(names: readonly string[]): readonly string[] {
  return [...new Set(names.map(canonicalAddress))].filter((name) => name !== undefined);
}

function pairOf(network: string, name: string): string {
  return `${network} ${name}`;
}

function partsOf(pair: string): readonly [string, string] {
  const space = pair.indexOf(' ');
  return [pair.slice(0, space), pair.slice(space + 1)];
}

function add(counts: Map<string, number>, key: string, failures: number): void {
  const before = counts.get(key);
  if (before !== undefined || counts.size < MOST_SHARED) counts.set(key, (before ?? 0) + failures);
}
