// Permits, of which a bounded number are in use at a time, per group (a domain, a host) and in total. Every account has a share of each
// bound, and every domain a share of the total. A request without a permit waits. The next permit goes to the account that has the fewest,
// then to the group that has the fewest, then to the oldest request. If a group turns out to be unreachable, all its waiting requests end:
// otherwise each would wait for the timeout of a dead host.
import { KeyedLimiter, type Reservation } from '../../../concurrency/keyed-limiter.js';
import { dynamicShare } from '../../../concurrency/share-policies.js';

export interface FairQueueOptions {
  /** The most permits of one group at a time. */
  readonly perGroup: number;
  /** The most permits of all groups at a time; unbounded when absent. */
  readonly total?: number;
  /** The most requests that wait; unbounded when absent. */
  readonly mostWaiting?: number;
  /** The longest time in ms that a request waits; unbounded when absent. */
  readonly waitMs?: number;
}

export interface PermitRequest {
  readonly accountId: string;
  readonly outboundId: string;
  readonly domain: string;
  readonly group: string;
}

export interface WaitingRequest {
  readonly request: PermitRequest;
  readonly ahead: number;
}

/** How a permit is left. */
export interface Leaving {
  /** The reason why no host of the group was reached. */
  readonly unreachable?: string | undefined;
  /** Another request of the group is preferred, because it can use the open connection. */
  readonly mayStay?: boolean;
}

/** The request has a permit, which it must leave. */
export interface Entered {
  readonly kind: 'entered';
  leave(how?: Leaving): void;
}

export type Entry =
  | Entered
  /** No host of the group was reachable a moment ago. */
  | { readonly kind: 'unreachable'; readonly text: string }
  /** Too many requests wait, or this one waited too long. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'aborted' };

interface Waiter {
  readonly request: PermitRequest;
  readonly number: number;
  settle(entry: Entry): void;
}

interface Group {
  readonly name: string;
  readonly accounts: KeyedLimiter;
  /** Sorted by arrival. */
  readonly waiters: Set<Waiter>;
  /** The number of permits since the group last gave one up to another group. */
  permits: number;
}

/** When all permits are in use, a group gives one up to a group with fewer permits after this many. */
const PERMITS_IN_A_ROW = 20;

export class FairQueue {
  readonly #options: FairQueueOptions;
  readonly #groups = new Map<string, Group>();
  /** Groups with waiting requests. */
  readonly #wanted = new Set<Group>();
  readonly #accounts: KeyedLimiter;
  readonly #domains: KeyedLimiter;
  #waiting = 0;
  #number = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
    const total = options.total ?? Number.POSITIVE_INFINITY;
    this.#accounts = new KeyedLimiter(dynamicShare({ total }));
    this.#domains = new KeyedLimiter(dynamicShare({ total }));
  }

  /** The number of permits in use. */
  get running(): number {
    return this.#accounts.used;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** The account's waiting requests, each with the number of earlier requests for the same group. */
  waitingOf(accountId: string): readonly WaitingRequest[] {
    const found: WaitingRequest[] = [];
    for (const { waiters } of this.#groups.values()) {
      let ahead = 0;
      for (const { request } of waiters) {
        if (request.accountId === accountId) found.push({ request, ahead });
        ahead++;
      }
    }
    return found;
  }

  /** Returns the entry at once if a permit is free; otherwise a promise. */
  enter(request: PermitRequest, signal: AbortSignal): Promise<Entry> | Entry {
    if (signal.aborted) return { kind: 'aborted' };
    const group = this.#group(request.group);
    if (this.#mayTake(group, request)) return this.#take(group, request);
    if (this.#waiting >= (this.#options.mostWaiting ?? Number.POSITIVE_INFINITY)) {
      this.#forgetEmpty(group);
      return { kind: 'busy' };
    }
    return this.#wait(group, request, signal);
  }

  #leave(group: Group, reserved: readonly Reservation[], { unreachable, mayStay = false }: Leaving): void {
    const wasFull = this.#accounts.free <= 0;
    for (const reservation of reserved) reservation.release();
    if (unreachable !== undefined) {
      for (const { settle } of [...group.waiters]) settle({ kind: 'unreachable', text: unreachable });
    }
    if (mayStay && wasFull) this.#passOn(group);
    this.#serve(group);
    this.#forgetEmpty(group);
  }

  #group(name: string): Group {
    let group = this.#groups.get(name);
    if (group === undefined) {
      const accounts = new KeyedLimiter(dynamicShare({ total: this.#options.perGroup }));
      group = { name, accounts, waiters: new Set(), permits: 0 };
      this.#groups.set(name, group);
    }
    return group;
  }

  #forgetEmpty({ name, accounts, waiters }: Group): void {
    if (accounts.used === 0 && waiters.size === 0) this.#groups.delete(name);
  }

  #mayTake({ accounts }: Group, { accountId, domain }: PermitRequest): boolean {
    const exhausted = accounts.exhausted(accountId) ?? this.#accounts.exhausted(accountId);
    return (exhausted ?? this.#domains.exhausted(domain)) === undefined;
  }

  #take(group: Group, { accountId, domain }: PermitRequest): Entered {
    group.permits++;
    const reserved = [group.accounts.charge(accountId), this.#accounts.charge(accountId), this.#domains.charge(domain)];
    return { kind: 'entered', leave: (how = {}) => this.#leave(group, reserved, how) };
  }

  #grant(group: Group, waiter: Waiter): void {
    waiter.settle(this.#take(group, waiter.request));
  }

  #wait(group: Group, request: PermitRequest, signal: AbortSignal): Promise<Entry> {
    const { waitMs } = this.#options;
    return new Promise((resolve) => {
      const abort = () => leave({ kind: 'aborted' });
      const timer = waitMs === undefined ? undefined : setTimeout(() => leave({ kind: 'busy' }), waitMs);
      const waiter: Waiter = {
        request,
        number: ++this.#number,
        settle: (entry) => {
          clearTimeout(timer);
          signal.removeEventListener('abort', abort);
          group.waiters.delete(waiter);
          if (group.waiters.size === 0) this.#wanted.delete(group);
          this.#waiting--;
          resolve(entry);
        },
      };
      const leave = (entry: Entry) => {
        waiter.settle(entry);
        this.#forgetEmpty(group);
      };
      signal.addEventListener('abort', abort, { once: true });
      group.waiters.add(waiter);
      this.#wanted.add(group);
      this.#waiting++;
    });
  }

  /** Gives permits to waiting requests as long as there are free ones. Without a total bound, groups do not share permits. */
  #serve(left: Group): void {
    const groups = this.#options.total === undefined ? [left] : this.#wanted;
    for (let next = this.#neediest(groups); next !== undefined; next = this.#neediest(groups)) {
      this.#grant(next.group, next.waiter);
    }
  }

  #neediest(groups: Iterable<Group>): { readonly group: Group; readonly waiter: Waiter } | undefined {
    let found: { readonly group: Group; readonly waiter: Waiter } | undefined;
    for (const group of groups) {
      const waiter = this.#fairest(group);
      if (waiter === undefined) continue;
      if (found === undefined || this.#compare({ group, waiter }, found) < 0) found = { group, waiter };
    }
    return found;
  }

  /** The next of the group's waiting requests that have a share left. */
  #fairest(group: Group): Waiter | undefined {
    if (group.accounts.free <= 0) return undefined;
    let found: Waiter | undefined;
    for (const waiter of group.waiters) {
      if (!this.#mayTake(group, waiter.request)) continue;
      if (found === undefined || this.#compareInGroup(group, waiter, found) < 0) found = waiter;
    }
    return found;
  }

  #compareInGroup({ accounts }: Group, a: Waiter, b: Waiter): number {
    const [one, other] = [a.request.accountId, b.request.accountId];
    return accounts.compare(one, other) || this.#accounts.compare(one, other) || a.number - b.number;
  }

  #compare(
    a: { readonly group: Group; readonly waiter: Waiter },
    b: { readonly group: Group; readonly waiter: Waiter },
  ): number {
    const byAccount = this.#accounts.compare(a.waiter.request.accountId, b.waiter.request.accountId);
    return byAccount || a.group.accounts.used - b.group.accounts.used || a.waiter.number - b.waiter.number;
  }

  /** Gives the permit that was just left to a request of the same group, unless another group is entitled to it. */
  #passOn(group: Group): void {
    const own = this.#fairest(group);
    const other = this.#neediest([...this.#wanted].filter((wanted) => wanted !== group));
    if (other !== undefined && this.#isOwed(group, own, other)) {
      group.permits = 0;
      this.#grant(other.group, other.waiter);
    } else if (own !== undefined) this.#grant(group, own);
  }

  #isOwed(group: Group, own: Waiter | undefined, other: { readonly group: Group; readonly waiter: Waiter }): boolean {
    if (own === undefined) return true;
    const [held, otherHeld] = [own, other.waiter].map(({ request }) => this.#accounts.usedBy(request.accountId));
    if (held! < otherHeld!) return false;
    const [ours, theirs] = [group.accounts.used + 1, other.group.accounts.used];
    return theirs + 1 < ours || (theirs < ours && group.permits >= PERMITS_IN_A_ROW);
  }
}
