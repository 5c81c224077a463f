// Decides which request gets a connection next. A request needs room at its host and in the share of its account at the same time: a
// request that waits for one of them must not hold the other. Shares of accounts are dynamic (work/share-policies), so slow peers of many
// accounts leave room for the next account. Waiting accounts are served round robin; within one account, requests are served in order of
// arrival.
import { SemaphoreFull } from '../../concurrency/fair-semaphore.js';
import { KeyedLimiter, type Reservation } from '../../concurrency/keyed-limiter.js';
import { dynamicShare, fixedShare } from '../../concurrency/share-policies.js';
import type { HttpClientLimits } from './limits.js';

/** An account takes more only while it has less than this part of what is free: a single account can have a seventeenth of all. */
const FACTOR = 1 / 16;

/** A connection at a host, in the share of an account. */
type Permit = Pick<Reservation, 'release'>;

interface Waiter {
  readonly host: string;
  /** Its place in the queue. */
  readonly place: Reservation;
  grant(permit: Permit): void;
}

export class ConnectionLimiter {
  readonly #accounts: KeyedLimiter;
  readonly #hosts: KeyedLimiter;
  readonly #places: KeyedLimiter;
  /** The queue of each account, in the order of their turns. */
  readonly #queues = new Map<string, Set<Waiter>>();

  constructor(limits: Pick<HttpClientLimits, 'connections' | 'connectionsPerHost' | 'waiting' | 'waitingPerHost'>) {
    const { connections, connectionsPerHost, waiting, waitingPerHost } = limits;
    this.#accounts = new KeyedLimiter(dynamicShare({ total: connections, factor: FACTOR }));
    this.#hosts = new KeyedLimiter(fixedShare({ total: connections, share: connectionsPerHost }));
    this.#places = new KeyedLimiter(fixedShare({ total: waiting, share: waitingPerHost }));
  }

  /** Rejects with SemaphoreFull when the queue is full, and with the reason of `signal`. */
  acquire(accountId: string, host: string, signal?: AbortSignal | undefined): Promise<Permit> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.#isFree(accountId, host)) {
        resolve(this.#take(accountId, host));
        return;
      }
      const place = this.#places.reserve(host);
      if (place === undefined) throw new SemaphoreFull();
      const waiter: Waiter = {
        host,
        place,
        grant: (permit) => {
          signal?.removeEventListener('abort', leave);
          resolve(permit);
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
    return this.#accounts.exhausted(accountId) === undefined && this.#hosts.exhausted(host) === undefined;
  }

  #take(accountId: string, host: string): Permit {
    const [account, connection] = [this.#accounts.charge(accountId), this.#hosts.charge(host)];
    return {
      release: () => {
        account.release();
        connection.release();
        while (this.#serveNext());
      },
    };
  }

  /** Returns false when no waiting request may have a connection. */
  #serveNext(): boolean {
    for (const [accountId, queue] of this.#queues) {
      if (this.#accounts.exhausted(accountId) !== undefined) continue;
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
    waiter.place.release();
  }
}
