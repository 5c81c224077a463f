// Decides which request gets a connection next. A request needs room at its host and in the share of its account at the same time: a
// request that waits for one of them must not hold the other. Shares of accounts are dynamic (work/dynamic-shares), so slow peers of many
// accounts leave room for the next account. Waiting accounts are served round robin; within one account, requests are served in order of
// arrival.
import { DynamicShares } from '../../work/dynamic-shares.js';
import { type Release, SemaphoreFull } from '../../work/fair-semaphore.js';
import { FixedShares } from '../../work/fixed-shares.js';
import type { HttpClientLimits } from './limits.js';

/** An account takes more only while it has less than this part of what is free: a single account can have a seventeenth of all. */
const FACTOR = 1 / 16;

interface Waiter {
  readonly host: string;
  grant(release: Release): void;
}

export class ConnectionLimiter {
  readonly #accounts: DynamicShares;
  readonly #hosts: FixedShares;
  readonly #waiters: FixedShares;
  /** The queue of each account, in the order of their turns. */
  readonly #queues = new Map<string, Set<Waiter>>();

  constructor(limits: Pick<HttpClientLimits, 'connections' | 'connectionsPerHost' | 'waiting' | 'waitingPerHost'>) {
    const { connections, connectionsPerHost, waiting, waitingPerHost } = limits;
    this.#accounts = new DynamicShares({ total: connections, factor: FACTOR });
    this.#hosts = new FixedShares({ total: connections, share: connectionsPerHost });
    this.#waiters = new FixedShares({ total: waiting, share: waitingPerHost });
  }

  /** Rejects with SemaphoreFull when the queue is full, and with the reason of `signal`. */
  acquire(accountId: string, host: string, signal?: AbortSignal | undefined): Promise<Release> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.#isFree(accountId, host)) {
        resolve(this.#take(accountId, host));
        return;
      }
      if (this.#waiters.tryTake(host) !== undefined) throw new SemaphoreFull();
      const waiter: Waiter = {
        host,
        grant: (release) => {
          signal?.removeEventListener('abort', leave);
          resolve(release);
        },
      };
      const leave = () => {
        this.#remove(accountId, waiter);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      const queue = this.#queues.get(accountId);
      if (queue === undefined) this.#queues.set(accountId, new Set([waiter]));
      else queue.add(waiter);
    });
  }

  #isFree(accountId: string, host: string): boolean {
    return this.#accounts.mayTake(accountId) && this.#hosts.exhausted(host) === undefined;
  }

  #take(accountId: string, host: string): Release {
    this.#accounts.take(accountId);
    this.#hosts.tryTake(host);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#accounts.give(accountId);
      this.#hosts.give(host);
      while (this.#serveNext());
    };
  }

  /** Returns false when no waiting request may have a connection. */
  #serveNext(): boolean {
    for (const [accountId, queue] of this.#queues) {
      if (!this.#accounts.mayTake(accountId)) continue;
      for (const waiter of queue) {
        if (this.#hosts.exhausted(waiter.host) !== undefined) continue;
        this.#remove(accountId, waiter);
        this.#moveBehind(accountId, queue);
        waiter.grant(this.#take(accountId, waiter.host));
        return true;
      }
    }
    return false;
  }

  #moveBehind(accountId: string, queue: Set<Waiter>): void {
    if (queue.size === 0) return;
    this.#queues.delete(accountId);
    this.#queues.set(accountId, queue);
  }

  #remove(accountId: string, waiter: Waiter): void {
    const queue = this.#queues.get(accountId)!;
    queue.delete(waiter);
    if (queue.size === 0) this.#queues.delete(accountId);
    this.#waiters.give(waiter.host);
  }
}
