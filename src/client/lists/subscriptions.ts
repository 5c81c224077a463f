// The subscriptions of the client to pages of lists, within the number that a connection may have. A page that there is no room for, or
// that the hub does not give at present, is read over REST and tried again. After a reconnection all pages are subscribed to again.
import type { Subscription } from 'rxjs';
import type { ListQuery } from '../client-types.js';
import type { EmailPage } from '../generated/rest.js';
import type { HubLink, ListChange } from '../hub/hub-link.js';
import { isPassing, isSignedOut } from '../refusal.js';
import type { Rest } from '../rest.js';
import { parametersOf, restPathOf } from './list-query.js';
import { changedPage, type ListPage, PAGE_SIZE } from './list-window.js';

/** What lists need of the connection. */
export type ListHub = Pick<HubLink, 'open' | 'isLive' | 'state$' | 'opened$' | 'listChanges$' | 'call'>;

/** What a follower of a page is told. */
export interface PageFollower {
  /** `isFollowed`: changes will come; otherwise the page may be old. */
  shown(page: ListPage, isFollowed: boolean): void;
  /** The connection has broken: the page is shown again after the next one. */
  lost(): void;
  /** The list cannot be read. */
  failed(error: Error): void;
}

const MOST_SUBSCRIPTIONS = 20;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 10_000;

class FollowedPage {
  readonly query: ListQuery;
  readonly number: number;
  readonly follower: PageFollower;
  /** Undefined while there is no subscription. */
  id: string | undefined;
  page: ListPage | undefined;
  isClosed = false;
  /** The number of the newest call: replies to earlier ones are of connections that have broken. */
  attempt = 0;
  failures = 0;
  /** It waits for the end of another subscription. */
  hasNoRoom = false;
  timer: ReturnType<typeof setTimeout> | undefined;

  constructor(query: ListQuery, number: number, follower: PageFollower) {
    this.query = query;
    this.number = number;
    this.follower = follower;
  }

  get paging(): { readonly page: number; readonly pageSize: number } {
    return { page: this.number + 1, pageSize: PAGE_SIZE };
  }
}

export class ListSubscriptions {
  readonly #link: ListHub;
  readonly #rest: Pick<Rest, 'send'>;
  readonly #waiting = new Set<FollowedPage>();
  /** Pages with a subscription, or whose call is under way. */
  readonly #active = new Set<FollowedPage>();
  readonly #byId = new Map<string, FollowedPage>();
  /** Changes whose subscription is not known yet: they come before the reply to its call is read. */
  readonly #early = new Map<string, ListChange[]>();
  #calls = 0;
  readonly #subscriptions: Subscription[];

  constructor(link: ListHub, rest: Pick<Rest, 'send'>) {
    this.#link = link;
    this.#rest = rest;
    this.#subscriptions = [
      link.opened$.subscribe(() => this.#fill()),
      link.state$.subscribe((state) => {
        if (state !== 'live') this.#lose();
      }),
      link.listChanges$.subscribe(({ subscriptionId, changes }) => this.#change(subscriptionId, changes)),
    ];
  }

  /** The number of subscriptions that are free or not yet asked for. */
  get free(): number {
    return MOST_SUBSCRIPTIONS - this.#active.size - this.#waiting.size;
  }

  /** Returns the function that ends it. */
  follow(query: ListQuery, number: number, follower: PageFollower): () => void {
    const followed = new FollowedPage(query, number, follower);
    this.#link.open();
    this.#waiting.add(followed);
    // The first page is there before the connection is.
    if (!this.#link.isLive) void this.#read(followed);
    this.#fill();
    return () => this.#close(followed);
  }

  end(): void {
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
    for (const followed of [...this.#active, ...this.#waiting]) clearTimeout(followed.timer);
  }

  #fill(): void {
    if (!this.#link.isLive) return;
    for (const followed of [...this.#waiting]) {
      if (this.#active.size >= MOST_SUBSCRIPTIONS) {
        if (followed.timer === undefined) this.#retry(followed);
        followed.hasNoRoom = true;
      } else if (followed.timer === undefined || followed.hasNoRoom) {
        clearTimeout(followed.timer);
        followed.timer = undefined;
        followed.hasNoRoom = false;
        this.#waiting.delete(followed);
        this.#active.add(followed);
        void this.#subscribe(followed);
      }
    }
  }

  async #subscribe(followed: FollowedPage): Promise<void> {
    const attempt = ++followed.attempt;
    this.#calls++;
    try {
      const query = { ...parametersOf(followed.query), ...followed.paging };
      const { subscriptionId, ...page } = await this.#link.call('Subscribe', query);
      if (followed.attempt !== attempt) return;
      followed.id = subscriptionId;
      followed.failures = 0;
      if (followed.isClosed) {
        this.#unsubscribe(followed);
        return;
      }
      this.#byId.set(subscriptionId, followed);
      this.#show(followed, changedPage(page, this.#early.get(subscriptionId) ?? []));
    } catch {
      if (followed.attempt !== attempt) return;
      this.#active.delete(followed);
      if (!followed.isClosed) this.#retry(followed);
    } finally {
      this.#calls--;
      if (this.#calls === 0) this.#early.clear();
      this.#fill();
    }
  }

  /** The hub refuses in words. REST says the same with a status, or gives the page as it is now. */
  #retry(followed: FollowedPage): void {
    this.#waiting.add(followed);
    if (!this.#link.isLive) return;
    const most = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** followed.failures++);
    followed.timer = setTimeout(
      () => {
        followed.timer = undefined;
        this.#fill();
      },
      most * (0.5 + Math.random() / 2),
    );
    void this.#read(followed);
  }

  async #read(followed: FollowedPage): Promise<void> {
    const list = restPathOf(followed.query);
    if (list === undefined) return;
    try {
      const request = { method: 'GET', path: list.path, query: { ...list.query, ...followed.paging } };
      const response = await this.#rest.send(request);
      const { items, totalCount: total, unreadCount: unread } = (await response.json()) as EmailPage;
      if (followed.isClosed || followed.id !== undefined) return;
      followed.follower.shown({ items, total, unread }, false);
    } catch (error) {
      if (followed.isClosed || followed.id !== undefined || isPassing(error) || isSignedOut(error)) return;
      this.#close(followed);
      followed.follower.failed(error as Error);
    }
  }

  #change(id: string, changes: readonly ListChange[]): void {
    const followed = this.#byId.get(id);
    if (followed?.page === undefined) {
      if (this.#calls > 0) this.#early.set(id, [...(this.#early.get(id) ?? []), ...changes]);
      return;
    }
    const end = changes.find((change) => change.type === 'ended');
    if (end === undefined) {
      this.#show(followed, changedPage(followed.page, changes));
      return;
    }
    this.#close(followed);
    followed.follower.failed(new Error(end.error));
  }

  #show(followed: FollowedPage, page: ListPage): void {
    followed.page = page;
    followed.follower.shown(page, true);
  }

  #lose(): void {
    this.#byId.clear();
    for (const followed of this.#active) {
      followed.attempt++;
      followed.id = undefined;
      followed.page = undefined;
      if (followed.isClosed) continue;
      this.#waiting.add(followed);
      followed.follower.lost();
    }
    this.#active.clear();
  }

  #close(followed: FollowedPage): void {
    followed.isClosed = true;
    clearTimeout(followed.timer);
    this.#waiting.delete(followed);
    // The server counts a call that is under way: that subscription ends when the call is answered.
    if (followed.id !== undefined) this.#unsubscribe(followed);
    this.#fill();
  }

  #unsubscribe(followed: FollowedPage): void {
    const { id } = followed;
    followed.id = undefined;
    this.#active.delete(followed);
    if (id === undefined) return;
    this.#byId.delete(id);
    if (this.#link.isLive) void this.#link.call('Unsubscribe', id).catch(() => {});
  }
}
