// The lists of one account that connections of this node follow. One subscription to the account's events tells which lists may have
// changed; refreshes ask the mailbox for these lists, and send each follower the difference to its client's state. A gap in the events causes
// a refresh of all lists, which no client notices.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MailboxEvent } from '../../../actors/mailbox/protocol.js';
import { AccountFollower, type EventListener } from '../../events/account-follower.js';
import { concerns, invalidatedBy } from './invalidation.js';
import type { ListDependencies } from './list-dependencies.js';
import { ListRefresh } from './list-refresh.js';
import type { Follower, LiveList } from './live-list.js';
import { type Pacing, RefreshSchedule } from './refresh-schedule.js';

const NOT_NOW = 'The list cannot be read at present. Try again in a moment.';
/** The number of lists in one question. A list that needs the store has a question of its own, so that the others do not wait for it. */
const LISTS_OF_MEMORY = 50;
const LISTS_OF_STORE = 1;

interface Lane {
  readonly due: Set<LiveList>;
  readonly schedule: RefreshSchedule;
}

export class AccountLists implements EventListener {
  readonly #accountId: string;
  readonly #dependencies: ListDependencies;
  readonly #ended: (follower: Follower) => void;
  readonly #lists = new Map<string, LiveList>();
  readonly #memory: Lane;
  readonly #store: Lane;
  readonly #follower: AccountFollower;
  /** Events are followed, so everything that is read from now on stays up to date. */
  #isFollowed = false;

  /** `ended` is called when a subscription ends without a request of its client. */
  constructor(accountId: string, dependencies: ListDependencies, ended: (follower: Follower) => void) {
    this.#accountId = accountId;
    this.#dependencies = dependencies;
    this.#ended = ended;
    this.#memory = this.#lane(dependencies.pacing.memory, LISTS_OF_MEMORY);
    this.#store = this.#lane(dependencies.pacing.store, LISTS_OF_STORE);
    this.#follower = new AccountFollower(dependencies.mailboxes, accountId, this);
  }

  get size(): number {
    return this.#lists.size;
  }

  get(key: string): LiveList | undefined {
    return this.#lists.get(key);
  }

  add(list: LiveList): void {
    this.#lists.set(list.key, list);
  }

  /** The number of lists that need the store. */
  get storeLists(): number {
    let count = 0;
    for (const list of this.#lists.values()) if (list.needsStore) count++;
    return count;
  }

  /** Sends the follower's client the list, or the changes that it does not have yet. */
  serve({ list }: Follower): void {
    this.#due(list);
  }

  /** Drops a list that has no followers. */
  remove(list: LiveList): void {
    if (this.#lists.get(list.key) === list) this.#lists.delete(list.key);
    this.#laneOf(list).due.delete(list);
  }

  end(): void {
    this.#follower.end();
    this.#memory.schedule.end();
    this.#store.schedule.end();
  }

  heard(events: readonly MailboxEvent[], isGap: boolean): void {
    this.#isFollowed = true;
    const invalidation = invalidatedBy(events);
    for (const list of this.#lists.values()) {
      if (!isGap && !concerns(invalidation, list)) continue;
      list.isDirty = true;
      list.invalidatedAt = events.at(-1)?.seq ?? list.invalidatedAt;
      this.#due(list);
    }
  }

  interrupted(err: unknown): void {
    const { log } = this.#dependencies;
    if (this.#isFollowed)
      log.warn({ err, accountId: this.#accountId }, 'mailbox events of subscriptions were interrupted');
    this.#isFollowed = false;
    this.#refuseCalls(this.#lists.values(), NOT_NOW);
  }

  #lane(pacing: Pacing, listsOfQuestion: number): Lane {
    const due = new Set<LiveList>();
    return { due, schedule: new RefreshSchedule(() => this.#refresh(due, listsOfQuestion), pacing) };
  }

  #laneOf(list: LiveList): Lane {
    return list.needsStore ? this.#store : this.#memory;
  }

  #due(list: LiveList): void {
    const lane = this.#laneOf(list);
    lane.due.add(list);
    if (this.#isFollowed) lane.schedule.ask();
  }

  /** False when some lists could not be brought up to date. */
  async #refresh(due: Set<LiveList>, listsOfQuestion: number): Promise<boolean> {
    const lists = [...due];
    due.clear();
    const began = performance.now();
    const refresh = new ListRefresh(this.#accountId, this.#dependencies, (follower) => this.#ended(follower));
    let isDone = true;
    for (let at = 0; at < lists.length; at += listsOfQuestion) {
      // An owner on this node may answer without a turn of the event loop.
      if (at > 0) await nextTurn();
      const part = lists.slice(at, at + listsOfQuestion).filter((list) => this.#lists.get(list.key) === list);
      try {
        isDone = (await refresh.carryOut(part)) && isDone;
      } catch (err) {
        this.#failed(part, err);
        isDone = false;
      }
      for (const list of part) if (list.isDirty && this.#lists.get(list.key) === list) this.#due(list);
    }
    this.#dependencies.meter.listsRead(isDone ? 'done' : 'failed', performance.now() - began);
    return isDone;
  }

  #failed(lists: readonly LiveList[], err: unknown): void {
    const { log } = this.#dependencies;
    log.warn({ err, accountId: this.#accountId, lists: lists.length }, 'lists could not be read');
    // Clients that already have their lists get the changes when the lists can be read again.
    for (const list of lists) list.isDirty = true;
    this.#refuseCalls(lists, NOT_NOW);
  }

  #refuseCalls(lists: Iterable<LiveList>, error: string): void {
    for (const list of lists) {
      for (const follower of list.followers) {
        const { call } = follower;
        if (call === undefined) continue;
        this.#ended(follower);
        call.refuse(error);
      }
    }
  }
}
