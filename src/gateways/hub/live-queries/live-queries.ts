// Live queries: hub methods by which a connection follows lists (docs/hub.md, "Lists that follow the mailbox"). This file has the
// methods and the limits of connections, accounts and the node; `account-lists` has the lists of an account.
import type { Logger } from 'pino';
import type { ListQuery, Mailboxes } from '../../../actors/mailbox/protocol.js';
import { FairSemaphore } from '../../../concurrency/fair-semaphore.js';
import type { LiveQueryLimits } from '../limits.js';
import { type HubMeter, NO_METER } from '../meter.js';
import type { Caller, ConnectionPart, HubCall, HubMethod, HubMethods } from '../methods.js';
import { AccountLists } from './account-lists.js';
import type { ListDependencies } from './list-dependencies.js';
import type { ListLanguage } from './list-language.js';
import { type Follower, LiveList } from './live-list.js';

export interface LiveQueryOptions {
  readonly mailboxes: Mailboxes;
  readonly language: ListLanguage;
  readonly log: Logger;
  readonly meter?: HubMeter | undefined;
  /** A client for which more than this waits has fallen behind. Octets */
  readonly pauseBytes: number;
  readonly limits: LiveQueryLimits;
}

/** The most questions to mailboxes at the same time, for all accounts. An account has at most two: one of memory, one of the store. */
const MOST_ASKS = 32;
const PACING: ListDependencies['pacing'] = {
  memory: { leastMs: 5, factor: 1, mostMs: 1_000 },
  store: { leastMs: 200, factor: 3, mostMs: 10_000 },
};

export class LiveQueries {
  readonly #limits: LiveQueryLimits;
  readonly #dependencies: ListDependencies;
  readonly #accounts = new Map<string, AccountLists>();
  readonly #connections = new Map<Caller, Followings>();
  /** The sum of the page sizes of all lists. */
  #listedEmails = 0;

  constructor({ mailboxes, language, log, meter = NO_METER, pauseBytes, limits }: LiveQueryOptions) {
    this.#limits = limits;
    const asks = new FairSemaphore({ total: MOST_ASKS });
    this.#dependencies = { mailboxes, language, log, meter, asks, pauseBytes, pacing: PACING };
  }

  readonly methods: HubMethods = new Map([
    ['Subscribe', orRefused((caller, call) => this.#subscribe(caller, call))],
    ['Unsubscribe', orRefused((caller, call) => this.#unsubscribe(caller, call))],
  ]);

  /** The current number of lists of all accounts. */
  get lists(): number {
    let count = 0;
    for (const { size } of this.#accounts.values()) count += size;
    return count;
  }

  /** Returns the reason of a refusal, or undefined. */
  #subscribe(caller: Caller, call: HubCall): string | undefined {
    if (call.args.length !== 1) return "'Subscribe' takes one argument: a query.";
    if (caller.accountId === '') return 'A client without an account has no lists.';
    const read = this.#dependencies.language.read(call.args[0]);
    if ('error' in read) return read.error;
    const followings = this.#followingsOf(caller);
    const { maxSubscriptions } = this.#limits;
    if (followings.size >= maxSubscriptions) return `A connection has at most ${maxSubscriptions} subscriptions.`;
    const account = this.#accounts.get(caller.accountId) ?? this.#open(caller.accountId);
    const list = this.#listOf(account, followings, read.query);
    if (typeof list === 'string') {
      if (account.size === 0) this.#close(caller.accountId);
      return list;
    }
    const follower: Follower = { caller, list, call, shown: undefined, isBehind: false };
    list.followers.add(follower);
    followings.add(follower);
    account.serve(follower);
    return undefined;
  }

  /** Returns the reason of a refusal, or undefined. */
  #unsubscribe(caller: Caller, call: HubCall): string | undefined {
    const [id] = call.args;
    const follower = this.#connections.get(caller)?.get(id);
    if (call.args.length !== 1 || follower === undefined) {
      return "'Unsubscribe' takes one argument: the id of a subscription of this connection.";
    }
    this.#leave(follower);
    call.answer(null);
    return undefined;
  }

  /** Returns the list, or the reason for which there is no room for it. */
  #listOf(account: AccountLists, followings: Followings, query: ListQuery): LiveList | string {
    const key = followings.keyOf(query);
    const known = account.get(key);
    if (known !== undefined) return known;
    const list = new LiveList(key, query);
    const { maxAccountLists, maxAccountStoreLists, maxListedEmails } = this.#limits;
    if (account.size >= maxAccountLists) return `An account has at most ${maxAccountLists} different lists on a node.`;
    if (list.needsStore && account.storeLists >= maxAccountStoreLists) {
      return `An account has at most ${maxAccountStoreLists} different lists of threads, texts and other orders than by date on a node.`;
    }
    if (this.#listedEmails + list.pageSize > maxListedEmails) {
      return 'The node has as many lists as it takes. Try again later.';
    }
    this.#listedEmails += list.pageSize;
    account.add(list);
    return list;
  }

  #followingsOf(caller: Caller): Followings {
    let followings = this.#connections.get(caller);
    if (followings === undefined) {
      followings = new Followings({
        serve: (follower) => this.#accounts.get(caller.accountId)?.serve(follower),
        leave: (follower) => this.#leave(follower),
        ended: () => void this.#connections.delete(caller),
      });
      this.#connections.set(caller, followings);
      caller.add(followings);
    }
    return followings;
  }

  #open(accountId: string): AccountLists {
    const account = new AccountLists(accountId, this.#dependencies, (follower) => this.#leave(follower));
    this.#accounts.set(accountId, account);
    return account;
  }

  #close(accountId: string): void {
    this.#accounts.get(accountId)?.end();
    this.#accounts.delete(accountId);
  }

  #leave(follower: Follower): void {
    const { caller, list } = follower;
    this.#connections.get(caller)?.delete(follower);
    if (!list.followers.delete(follower) || list.followers.size > 0) return;
    this.#listedEmails -= list.pageSize;
    const account = this.#accounts.get(caller.accountId);
    account?.remove(list);
    if (account?.size === 0) this.#close(caller.accountId);
  }
}

/** `carryOut` returns the error of a call that it refuses. */
function orRefused(carryOut: (caller: Caller, call: HubCall) => string | undefined): HubMethod {
  return (caller, call) => {
    const error = carryOut(caller, call);
    if (error !== undefined) call.refuse(error);
  };
}

interface FollowingHooks {
  serve(follower: Follower): void;
  leave(follower: Follower): void;
  ended(): void;
}

/** The subscriptions of one connection. */
class Followings implements ConnectionPart {
  readonly #followers = new Map<string, Follower>();
  readonly #hooks: FollowingHooks;

  constructor(hooks: FollowingHooks) {
    this.#hooks = hooks;
  }

  get size(): number {
    return this.#followers.size;
  }

  get(id: unknown): Follower | undefined {
    return typeof id === 'string' ? this.#followers.get(id) : undefined;
  }

  add(follower: Follower): void {
    this.#followers.set(follower.list.id, follower);
  }

  delete({ list }: Follower): void {
    this.#followers.delete(list.id);
  }

  /**
   * The key of the list that the connection gets. A connection shares no list with itself, so each of its subscriptions has an id of its
   * own.
   */
  keyOf(query: ListQuery): string {
    const text = JSON.stringify(query);
    const own = new Set([...this.#followers.values()].map(({ list }) => list.key));
    let number = 1;
    while (own.has(`${number} ${text}`)) number++;
    return `${number} ${text}`;
  }

  drained(): void {
    for (const follower of this.#followers.values()) if (follower.isBehind) this.#hooks.serve(follower);
  }

  visit(): void {
    this.drained();
  }

  end(): void {
    for (const follower of [...this.#followers.values()]) this.#hooks.leave(follower);
    this.#hooks.ended();
  }
}
