// Connections to mail hosts: how many there may be, who gets the next one, and which are used again. A host is an address. A
// place is taken before a connection is dialled, so hosts that do not answer count too. Every account and every domain has its
// share of the places, and every account its share of those of one host; of those that wait the account that has the fewest
// gets the next, then the host that has the fewest, so that nobody's slow hosts keep others waiting.
import { DynamicShares } from '../bounds/dynamic-shares.js';
import { judgeFault } from '../mail/delivery-status.js';
import type { CourierLimits } from './limits.js';
import type { CourierMeter } from './meter.js';
import { type Session, SessionFailure } from './session.js';

export interface Target {
  readonly address: string;
  /** Sessions with the same key do for each other: name and TLS are in it. */
  readonly key: string;
  /** Whose mail it is for. */
  readonly accountId: string;
  readonly domain: string;
  open(): Promise<Session>;
}

interface Waiter {
  readonly target: Target;
  readonly since: number;
  /** A session that is ready, or a place for one. */
  give(session: Session | undefined): void;
}

interface Host {
  readonly address: string;
  places: number;
  /** Of accounts, without those of idle sessions, which are nobody's. */
  readonly shares: DynamicShares;
  readonly idle: { readonly key: string; readonly session: Session; readonly since: number }[];
  readonly waiters: Waiter[];
}

/** Messages after which a connection that its own host still wants makes room for a host that has fewer. */
const FAIR_SHARE = 20;

export class SessionPool {
  readonly #limits: CourierLimits;
  readonly #meter: CourierMeter;
  readonly #hosts = new Map<string, Host>();
  /** Hosts that somebody waits for. */
  readonly #wanted = new Set<Host>();
  readonly #busy = new Map<Session, { readonly host: Host; readonly target: Target }>();
  /** Of all places, without those of idle sessions. */
  readonly #accounts: DynamicShares;
  readonly #domains: DynamicShares;
  #places = 0;
  #waiting = 0;
  #order = 0;
  #isClosing = false;

  constructor(limits: CourierLimits, meter: CourierMeter) {
    this.#limits = limits;
    this.#meter = meter;
    this.#accounts = new DynamicShares({ total: limits.connections });
    this.#domains = new DynamicShares({ total: limits.connections });
  }

  /**
   * To be given back by `release`. `waits` is told when it begins to wait and when that is over. @throws SessionFailure, what
   * opening throws, or that no place was free in time
   */
  async acquire(target: Target, signal: AbortSignal, waits: (isWaiting: boolean) => void = () => {}): Promise<Session> {
    const host = this.#host(target.address);
    if (this.#mayTake(host, target)) {
      this.#take(host, target);
      const idle = this.#takeIdle(host, target.key);
      if (idle !== undefined) return this.#lend(host, target, idle);
      this.#makeRoom(host);
    } else {
      const place = this.#wait(host, target, signal);
      waits(true);
      const given = await place.finally(() => waits(false));
      if (given !== undefined) return this.#lend(host, target, given);
    }
    try {
      const session = await target.open();
      return this.#lend(host, target, session);
    } catch (error) {
      this.#give(host, target);
      this.#vacate(host);
      throw error;
    }
  }

  /** `isReusable`: it is ready for the next transaction. */
  release(session: Session, isReusable: boolean): void {
    const lent = this.#busy.get(session);
    if (lent === undefined) return;
    this.#busy.delete(session);
    const { host, target } = lent;
    const { key } = target;
    this.#give(host, target);
    const { messagesPerConnection, idleMs } = this.#limits;
    if (session.isOver) {
      this.#vacate(host);
      return;
    }
    if (
      !isReusable ||
      this.#isClosing ||
      session.served >= messagesPerConnection ||
      this.#isDueElsewhere(host, session)
    ) {
      session.quit();
      this.#vacate(host);
      return;
    }
    const next = this.#fairest(host, key);
    if (next !== undefined) {
      this.#forget(host, next);
      this.#take(host, next.target);
      next.give(session);
    } else {
      const entry = { key, session, since: performance.now() };
      host.idle.push(entry);
      session.rest(idleMs, () => {
        const at = host.idle.indexOf(entry);
        if (at === -1) return;
        host.idle.splice(at, 1);
        this.#vacate(host);
      });
    }
    this.#serve();
  }

  /** Idle sessions end; those in use do when they are released. */
  close(): void {
    this.#isClosing = true;
    for (const host of this.#hosts.values()) {
      for (const { session } of host.idle.splice(0)) {
        session.wake();
        session.quit();
        this.#vacate(host);
      }
    }
  }

  #host(address: string): Host {
    let host = this.#hosts.get(address);
    if (host === undefined) {
      host = {
        address,
        places: 0,
        shares: new DynamicShares({ total: this.#limits.connectionsPerHost }),
        idle: [],
        waiters: [],
      };
      this.#hosts.set(address, host);
    }
    return host;
  }

  /** The one that was used last: the others may end. */
  #takeIdle(host: Host, key: string): Session | undefined {
    const at = host.idle.findLastIndex((entry) => entry.key === key);
    if (at === -1) return undefined;
    const [{ session }] = host.idle.splice(at, 1) as [Host['idle'][number]];
    session.wake();
    return session;
  }

  #lend(host: Host, target: Target, session: Session): Session {
    this.#busy.set(session, { host, target });
    return session;
  }

  #mayTake(host: Host, { accountId, domain }: Target): boolean {
    return host.shares.mayTake(accountId) && this.#accounts.mayTake(accountId) && this.#domains.mayTake(domain);
  }

  #take(host: Host, { accountId, domain }: Target): void {
    host.shares.take(accountId);
    this.#accounts.take(accountId);
    this.#domains.take(domain);
  }

  #give(host: Host, { accountId, domain }: Target): void {
    host.shares.give(accountId);
    this.#accounts.give(accountId);
    this.#domains.give(domain);
  }

  /** Takes a place when there is one, if need be that of an idle session. */
  #makeRoom(host: Host): boolean {
    const { connections, connectionsPerHost } = this.#limits;
    if (host.places >= connectionsPerHost && this.#endIdle([host]) === undefined) return false;
    if (this.#places >= connections) {
      const other = this.#endIdle(this.#hosts.values());
      if (other === undefined) return false;
      if (other !== host) this.#tidy(other);
    }
    host.places++;
    this.#places++;
    this.#report();
    return true;
  }

  /** The one that has been idle longest; says whose it was. */
  #endIdle(hosts: Iterable<Host>): Host | undefined {
    let oldest: { readonly host: Host; readonly since: number } | undefined;
    for (const host of hosts) {
      const since = host.idle[0]?.since;
      if (since !== undefined && (oldest === undefined || since < oldest.since)) oldest = { host, since };
    }
    if (oldest === undefined) return undefined;
    const { session } = oldest.host.idle.shift()!;
    session.wake();
    session.quit();
    oldest.host.places--;
    this.#places--;
    return oldest.host;
  }

  #wait(host: Host, target: Target, signal: AbortSignal): Promise<Session | undefined> {
    const { waiting, waitMs } = this.#limits;
    if (this.#waiting >= waiting) throw busy(`${waiting} deliveries wait for a connection already`);
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      };
      const leave = (why: string) => {
        settle();
        this.#forget(host, waiter);
        this.#tidy(host);
        reject(busy(why));
      };
      const waiter: Waiter = {
        target,
        since: ++this.#order,
        give: (session) => {
          settle();
          resolve(session);
        },
      };
      const onAbort = () => leave('the attempt was ended before a connection was free');
      const timer = setTimeout(() => leave(`no connection was free within ${waitMs / 1000} s`), waitMs);
      signal.addEventListener('abort', onAbort, { once: true });
      host.waiters.push(waiter);
      this.#wanted.add(host);
      this.#waiting++;
      this.#report();
      if (signal.aborted) onAbort();
    });
  }

  #forget(host: Host, waiter: Waiter): void {
    const at = host.waiters.indexOf(waiter);
    if (at === -1) return;
    host.waiters.splice(at, 1);
    if (host.waiters.length === 0) this.#wanted.delete(host);
    this.#waiting--;
    this.#report();
  }

  #vacate(host: Host): void {
    host.places--;
    this.#places--;
    this.#report();
    this.#serve();
    this.#tidy(host);
  }

  /** Gives places to those who wait, as long as there are some. */
  #serve(): void {
    for (;;) {
      const next = this.#neediest();
      if (next === undefined || !this.#makeRoom(next.host)) return;
      this.#forget(next.host, next.waiter);
      this.#take(next.host, next.waiter.target);
      next.waiter.give(undefined);
    }
  }

  /** Of those who wait for hosts that may have another place: whose account has the fewest, then whose host, then who came first. */
  #neediest(): { readonly host: Host; readonly waiter: Waiter } | undefined {
    let found: { readonly host: Host; readonly waiter: Waiter } | undefined;
    for (const host of this.#wanted) {
      if (host.places >= this.#limits.connectionsPerHost && host.idle.length === 0) continue;
      const waiter = this.#fairest(host);
      if (waiter === undefined) continue;
      if (found === undefined || this.#compare({ host, waiter }, found) < 0) found = { host, waiter };
    }
    return found;
  }

  /** Of those who wait for the host and have a share left; with `key`, of those whom a session with it serves. */
  #fairest(host: Host, key?: string): Waiter | undefined {
    let found: Waiter | undefined;
    for (const waiter of host.waiters) {
      if ((key !== undefined && waiter.target.key !== key) || !this.#mayTake(host, waiter.target)) continue;
      if (found === undefined || this.#compare({ host, waiter }, { host, waiter: found }) < 0) found = waiter;
    }
    return found;
  }

  #compare(
    a: { readonly host: Host; readonly waiter: Waiter },
    b: { readonly host: Host; readonly waiter: Waiter },
  ): number {
    const byAccount = this.#accounts.compare(a.waiter.target.accountId, b.waiter.target.accountId);
    return byAccount || a.host.places - b.host.places || a.waiter.since - b.waiter.since;
  }

  /** Whether the session should end for the sake of a host that has fewer. */
  #isDueElsewhere(host: Host, session: Session): boolean {
    if (this.#places < this.#limits.connections) return false;
    const other = this.#neediest()?.host;
    if (other === undefined || other === host) return false;
    return other.places + 1 < host.places || (other.places < host.places && session.served % FAIR_SHARE === 0);
  }

  #tidy(host: Host): void {
    if (host.places === 0 && host.waiters.length === 0) this.#hosts.delete(host.address);
  }

  #report(): void {
    this.#meter.inUse(this.#places, this.#waiting);
  }
}

function busy(detail: string): SessionFailure {
  return new SessionFailure(judgeFault('busy', detail), 'busy');
}
