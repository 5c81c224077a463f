// What wrong credentials at the mail protocols cost those who show them. Counts failures by network and by the name that was shown,
// within a window; the reply to each is held back, for longer with every failure, in a bounded number of places. Too many
// failures block for a while: further wrong credentials are answered as `limited`. A right credential is never refused
// here: a key has 256 random bits and a token has a signature, so guessing opens nothing, and a guessing neighbour
// shuts nobody out. Who signed in from a network before is known there, and is not blocked for what others do.
import { LRUCache } from 'lru-cache';
import { FixedShares } from '../bounds/fixed-shares.js';
import { networkOf } from '../gateways/tcp/ip-address.js';
import { canonicalAddress } from '../mail/address.js';

export interface GuardLimits {
  /** Failures of one network within `windowMs` that do not block. */
  readonly failuresPerNetwork: number;
  /** Failures with one name, of networks that the name is not known at. */
  readonly failuresPerName: number;
  /** ms from the first failure. */
  readonly windowMs: number;
  readonly blockMs: number;
  /** ms that the reply to the first failure is held back; the second twice as long, and so on up to five times. Ten times when blocked. */
  readonly delayMs: number;
  /** Replies that are held back at a time. */
  readonly delays: number;
  /** Of them for one network, and for one name. */
  readonly delaysPerHolder: number;
  /** ms for which a name is known at a network after a login. */
  readonly knownMs: number;
  /** Networks, names, and pairs of both that are remembered; the one unused for longest is forgotten first. */
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

/** How a wrong credential is answered: after `delayMs`, then `done` is to be called. */
export interface HeldRefusal {
  readonly isLimited: boolean;
  readonly delayMs: number;
  done(): void;
}

/** What the guard of a node has counted since its last notice, for the guards of the other nodes. */
export interface GuardNotice {
  readonly networks: readonly (readonly [network: string, failures: number])[];
  readonly names: readonly (readonly [name: string, failures: number])[];
  readonly known: readonly (readonly [network: string, name: string])[];
}

const MOST_DELAYS = 5;
const BLOCKED_DELAYS = 10;
/** Entries of each list of a notice; what is more is not shared. */
const MOST_SHARED = 500;
/** A login makes a name known anew, and is shared, at most as often. */
const RENEWAL_MS = 86_400_000;

export class LoginGuard {
  readonly #limits: GuardLimits;
  readonly #networks: FailureCounts;
  readonly #names: FailureCounts;
  readonly #known: LRUCache<string, true>;
  readonly #held: { readonly networks: FixedShares; readonly names: FixedShares };
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
    this.#known = new LRUCache({ max: mostKeys, ttl: knownMs, ttlResolution: 0, perf: { now } });
    const shares = { total: delays, share: delaysPerHolder };
    this.#held = { networks: new FixedShares(shares), names: new FixedShares(shares) };
  }

  /** A wrong credential at a gateway without names, which answers it by itself. */
  recordFailure(address: string): void {
    this.#countNetwork(networkOf(address));
  }

  /** A wrong credential with these names, or with one that has not the right scope. */
  refuse(address: string, shownNames: readonly string[]): HeldRefusal {
    const network = networkOf(address);
    const names = canonical(shownNames);
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

  /** A right credential: its names are known at the network from now on. */
  admit(address: string, shownNames: readonly string[]): void {
    const network = networkOf(address);
    for (const name of canonical(shownNames)) {
      const pair = pairOf(network, name);
      if (this.#known.getRemainingTTL(pair) > this.#limits.knownMs - RENEWAL_MS && this.#known.get(pair)) continue;
      this.#known.set(pair, true);
      if (this.#unshared.known.size < MOST_SHARED) this.#unshared.known.add(pair);
    }
  }

  /** What other nodes do not know yet, which then counts as shared; undefined when there is nothing. */
  takeNotice(): GuardNotice | undefined {
    const { networks, names, known } = this.#unshared;
    if (networks.size + names.size + known.size === 0) return undefined;
    const notice = { networks: [...networks], names: [...names], known: [...known].map(partsOf) };
    for (const list of [networks, names, known]) list.clear();
    return notice;
  }

  /** A notice of another node. */
  learn({ networks, names, known }: GuardNotice): void {
    for (const [network, failures] of networks) this.#networks.add(network, failures);
    for (const [name, failures] of names) this.#names.add(name, failures);
    for (const [network, name] of known) this.#known.set(pairOf(network, name), true);
  }

  #countNetwork(network: string): number {
    add(this.#unshared.networks, network, 1);
    return this.#networks.add(network, 1);
  }

  /** Takes the places of a held reply, and gives a function that gives them back; undefined when one is not free. */
  #hold(network: string, names: readonly string[]): (() => void) | undefined {
    const taken: [FixedShares, string][] = [];
    const release = () => {
      for (const [shares, holder] of taken.splice(0)) shares.give(holder);
    };
    const { networks, names: byName } = this.#held;
    for (const [shares, holder] of [[networks, network] as const, ...names.map((name) => [byName, name] as const)]) {
      if (shares.tryTake(holder) === undefined) taken.push([shares, holder]);
      else {
        release();
        return undefined;
      }
    }
    return release;
  }
}

/** Failures by key. A window begins with the first one; the one too many makes it a block, which later ones do not prolong. */
class FailureCounts {
  readonly #most: number;
  readonly #blockMs: number;
  readonly #counts: LRUCache<string, { failures: number }>;

  constructor(most: number, { windowMs, blockMs, mostKeys }: GuardLimits, now: () => number) {
    this.#most = most;
    this.#blockMs = blockMs;
    this.#counts = new LRUCache({ max: mostKeys, ttl: windowMs, ttlResolution: 0, perf: { now } });
  }

  /** The failures in the window with these. */
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
