// A list that follows the mailbox: the pages that its subscribers look at, put together to one view for each. Pages of one list change one
// by one, so a view is given when they agree.
import { type Changeable, inThread } from '../actions/overlays.js';
import type { ListQuery, ListRange, ListView } from '../client-types.js';
import { isConsistent, type ListPage, MOST_PAGES, PAGE_SIZE, pagesOf, viewOf } from './list-window.js';
import type { ListSubscriptions } from './subscriptions.js';

/** Pages that differ are shown as they are after this time. ms */
const HOLD_MS = 500;

interface Page {
  shown: ListPage | undefined;
  /** It was shown before the connection broke. */
  isOld: boolean;
  readonly close: () => void;
}

/** Who looks at the list: a range, and what is done with its view. */
export interface ListViewer {
  range: ListRange;
  show(view: ListView): void;
}

export class LiveList {
  readonly query: ListQuery;
  readonly #subscriptions: ListSubscriptions;
  readonly #viewers = new Set<ListViewer>();
  readonly #pages = new Map<number, Page>();
  /** The pages as they are shown: of one state of the list. */
  #shown: ReadonlyMap<number, ListPage> = new Map();
  /** What is shown is of an earlier time. */
  #isEarlier = false;
  #error: Error | undefined;
  #hold: ReturnType<typeof setTimeout> | undefined;
  readonly #released: () => void;

  /** `released` is called when pages of the server are shown. */
  constructor(query: ListQuery, subscriptions: ListSubscriptions, released: () => void) {
    this.query = query;
    this.#subscriptions = subscriptions;
    this.#released = released;
  }

  get isFailed(): boolean {
    return this.#error !== undefined;
  }

  get isWatched(): boolean {
    return this.#viewers.size > 0;
  }

  /** The first page as it was shown last, and the page to begin with next time. */
  get first(): ListPage | undefined {
    return this.#shown.get(0);
  }

  /** The first of the pages that are followed, as it is shown; undefined before there is anything. */
  get firstFollowed(): ListView | undefined {
    const [number = 0] = this.#shown.keys();
    return this.#view({ start: number * PAGE_SIZE, end: (number + 1) * PAGE_SIZE });
  }

  /** Shows the first page of an earlier time until the server has given one. */
  remember(page: ListPage): void {
    if (this.#shown.size > 0 || this.isFailed) return;
    this.#shown = new Map([[0, page]]);
    this.#isEarlier = true;
    if (this.isWatched) this.look();
  }

  /** Shows nothing of what was read: somebody else signs in. */
  forget(): void {
    for (const page of this.#pages.values()) page.shown = undefined;
    this.#release(new Map());
  }

  add(viewer: ListViewer): void {
    this.#viewers.add(viewer);
    this.look();
    this.#showTo(viewer);
  }

  delete(viewer: ListViewer): void {
    this.#viewers.delete(viewer);
    if (this.isWatched) this.look();
  }

  /** Follows the pages that the viewers look at, and lets others go. */
  look(): void {
    const wanted = new Set<number>();
    for (const { range } of [...this.#viewers].reverse()) {
      for (const number of pagesOf(range, this.#total)) if (wanted.size < MOST_PAGES) wanted.add(number);
    }
    for (const [number, { close }] of this.#pages) {
      if (wanted.has(number)) continue;
      this.#pages.delete(number);
      close();
    }
    for (const number of wanted) if (!this.#pages.has(number) && this.#error === undefined) this.#open(number);
    this.#publish();
  }

  /** Shows all viewers the list again. */
  repaint(): void {
    for (const viewer of this.#viewers) this.#showTo(viewer);
  }

  /** An email of the list, alone or in a thread. */
  find(id: string): Changeable | undefined {
    for (const { items } of this.#shown.values()) {
      for (const item of items) {
        const member = item.thread?.emails.find((one) => one.id === id);
        if (member !== undefined) return inThread(member, item.labels);
        if (item.id === id) return item;
      }
    }
    return undefined;
  }

  close(): void {
    clearTimeout(this.#hold);
    for (const { close } of this.#pages.values()) close();
    this.#pages.clear();
  }

  get #total(): number | undefined {
    return [...this.#shown.values()].at(-1)?.total;
  }

  #open(number: number): void {
    const close = this.#subscriptions.follow(this.query, number, {
      shown: (shown, isFollowed) => this.#arrive(number, shown, !isFollowed),
      lost: () => {
        const page = this.#pages.get(number);
        if (page !== undefined) page.isOld = true;
      },
      failed: (error) => this.#fail(error),
    });
    this.#pages.set(number, { shown: undefined, isOld: false, close });
  }

  #arrive(number: number, shown: ListPage, isOld: boolean): void {
    const page = this.#pages.get(number);
    if (page === undefined) return;
    const before = this.#total;
    page.shown = shown;
    page.isOld = isOld;
    this.#publish();
    // Pages beyond the end were not asked for.
    if (before !== shown.total) this.look();
  }

  #fail(error: Error): void {
    this.#error = error;
    this.close();
    this.#shown = new Map();
    this.repaint();
  }

  /** Shows the pages when they agree, or have differed for too long. */
  #publish(): void {
    const pages = [...this.#pages.values()].filter(({ shown }) => shown !== undefined);
    if (pages.length === 0) {
      this.repaint();
      return;
    }
    const loaded = this.#loaded();
    if (new Set(pages.map(({ isOld }) => isOld)).size === 1 && isConsistent(loaded)) this.#release(loaded);
    else this.#hold ??= setTimeout(() => this.#release(this.#loaded()), HOLD_MS);
  }

  #loaded(): ReadonlyMap<number, ListPage> {
    const pages = [...this.#pages].sort(([a], [b]) => a - b);
    return new Map(pages.flatMap(([number, { shown }]) => (shown === undefined ? [] : [[number, shown]])));
  }

  #release(shown: ReadonlyMap<number, ListPage>): void {
    clearTimeout(this.#hold);
    this.#hold = undefined;
    this.#shown = shown;
    this.#isEarlier = false;
    this.#released();
    this.repaint();
  }

  #view(range: ListRange): ListView | undefined {
    const view = this.#error === undefined ? viewOf(this.#shown, range) : { ...EMPTY, error: this.#error };
    return view !== undefined && this.#isEarlier ? { ...view, isLoading: true } : view;
  }

  #showTo(viewer: ListViewer): void {
    const view = this.#view(viewer.range);
    if (view !== undefined) viewer.show(view);
  }
}

const EMPTY: ListView = { total: 0, unread: 0, start: 0, items: [], isLoading: false };
