// The lists of a client: equal queries share one, and a list that nobody looks at is followed for a while, so that going back shows it at
// once. Optimistic changes are laid over what the server says.
import { distinctUntilChanged, Observable, of } from 'rxjs';
import type { Changeable, Overlays } from '../actions/overlays.js';
import type { ListQuery, ListRange, ListView } from '../client-types.js';
import type { KeptAccount } from '../offline/kept-account.js';
import { folderOf, isWholeFolder, keyOf } from './list-query.js';
import { type ListPage, MOST_PAGES, PAGE_SIZE } from './list-window.js';
import { type ListViewer, LiveList } from './live-list.js';
import type { ListSubscriptions } from './subscriptions.js';

const LINGER_MS = 10_000;
/** Changes of a list come in bursts: its first page is stored this long after the first of them. ms */
const STORE_MS = 1_000;
/** Lists whose first page is shown at once when somebody returns to them. */
const MOST_REMEMBERED = 30;
const FIRST_PAGE$ = of({ start: 0, end: PAGE_SIZE });

export interface FolderCounts {
  /** Undefined when the list has an item per thread. */
  readonly total?: number;
  readonly unread: number;
}

export class Lists {
  readonly #subscriptions: ListSubscriptions;
  readonly #overlays: Overlays;
  readonly #lists = new Map<string, LiveList>();
  readonly #lingering = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #remembered = new Map<string, ListPage>();
  /** The newest counts of whole folders, by what their queries call them. */
  readonly #counts = new Map<string, FolderCounts>();
  readonly #counted: () => void;
  readonly #storage: KeptAccount;
  /** Lists whose first page is to be stored. */
  readonly #storing = new Map<string, ReturnType<typeof setTimeout>>();

  /** `counted` is called when the counts of a folder have changed. */
  constructor(subscriptions: ListSubscriptions, overlays: Overlays, storage: KeptAccount, counted: () => void) {
    this.#storage = storage;
    this.#subscriptions = subscriptions;
    this.#overlays = overlays;
    this.#counted = counted;
    storage.changed$.subscribe(() => this.#storeNothing());
    overlays.changed$.subscribe(() => {
      for (const list of this.#lists.values()) {
        list.repaint();
        this.#countUnwatched(list);
      }
    });
  }

  view(query: ListQuery, range$: Observable<ListRange> = FIRST_PAGE$): Observable<ListView> {
    return new Observable<ListView>((subscriber) => {
      const list = this.#listOf(query);
      let viewer: ListViewer | undefined;
      const show = (view: ListView) => {
        const shown = view.error === undefined ? this.#overlays.over(query, view) : view;
        this.#count(query, shown);
        subscriber.next(shown);
      };
      const ranges = range$.subscribe({
        next: (range) => {
          if (viewer === undefined) {
            viewer = { range, show };
            list.add(viewer);
          } else {
            viewer.range = range;
            list.look();
          }
        },
        error: (error) => subscriber.error(error),
      });
      return () => {
        ranges.unsubscribe();
        if (viewer !== undefined) list.delete(viewer);
        if (!list.isWatched) this.#linger(list);
      };
    }).pipe(distinctUntilChanged(isSame));
  }

  /** An email of a list that is shown, as the server has it. */
  find(id: string): Changeable | undefined {
    for (const list of this.#lists.values()) {
      const item = list.find(id);
      if (item !== undefined) return item;
    }
    return undefined;
  }

  /** The counts of a folder whose list is followed, by id or role. */
  countsOf(folder: string): FolderCounts | undefined {
    return this.#counts.get(folder);
  }

  /** Shows nothing of what was read: somebody else signs in. */
  forget(): void {
    this.#storeNothing();
    this.#remembered.clear();
    this.#counts.clear();
    for (const list of this.#lists.values()) list.forget();
  }

  close(): void {
    this.#storeNothing();
    for (const timer of this.#lingering.values()) clearTimeout(timer);
    for (const list of this.#lists.values()) list.close();
    this.#subscriptions.end();
  }

  #listOf(query: ListQuery): LiveList {
    const key = keyOf(query);
    clearTimeout(this.#lingering.get(key));
    this.#lingering.delete(key);
    const known = this.#lists.get(key);
    if (known !== undefined && !known.isFailed) return known;
    for (const other of this.#lingering.keys()) if (this.#subscriptions.free < MOST_PAGES) this.#drop(other);
    const list = new LiveList(query, this.#subscriptions, () => {
      this.#storeSoon(key);
      this.#countUnwatched(list);
    });
    const page = this.#remembered.get(key);
    if (page !== undefined) list.remember(page);
    else if (query.threadId === undefined) {
      void this.#storage.value<ListPage>('lists', key).then((stored) => {
        if (stored !== undefined && this.#lists.get(key) === list) list.remember(stored);
      });
    }
    this.#lists.set(key, list);
    return list;
  }

  #storeSoon(key: string): void {
    const list = this.#lists.get(key);
    if (!this.#storage.isUsed || list === undefined || list.query.threadId !== undefined || this.#storing.has(key))
      return;
    const store = () => {
      this.#storing.delete(key);
      const { first } = list;
      if (first !== undefined) this.#storage.write('lists', key, first);
    };
    this.#storing.set(key, setTimeout(store, STORE_MS));
  }

  /** What waits to be stored belongs to the account before. */
  #storeNothing(): void {
    for (const timer of this.#storing.values()) clearTimeout(timer);
    this.#storing.clear();
  }

  #linger(list: LiveList): void {
    const key = keyOf(list.query);
    if (this.#lists.get(key) !== list) return;
    clearTimeout(this.#lingering.get(key));
    this.#lingering.set(
      key,
      setTimeout(() => this.#drop(key), LINGER_MS),
    );
  }

  #drop(key: string): void {
    const list = this.#lists.get(key);
    clearTimeout(this.#lingering.get(key));
    this.#lingering.delete(key);
    this.#lists.delete(key);
    if (list === undefined) return;
    const { first } = list;
    list.close();
    const folder = folderOf(list.query);
    if (folder !== undefined && this.#counts.delete(folder)) this.#counted();
    this.#remembered.delete(key);
    if (first === undefined) return;
    this.#remembered.set(key, first);
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > MOST_REMEMBERED) this.#remembered.delete(oldest!);
  }

  /** The counts of a list that is followed and not looked at: a list that is looked at counts what it shows. */
  #countUnwatched(list: LiveList): void {
    const view = list.isWatched ? undefined : list.firstFollowed;
    if (view !== undefined && view.error === undefined) this.#count(list.query, this.#overlays.over(list.query, view));
  }

  #count(query: ListQuery, { total, unread, isLoading, error }: ListView): void {
    const folder = folderOf(query);
    if (folder === undefined || !isWholeFolder(query) || isLoading || error !== undefined) return;
    const before = this.#counts.get(folder);
    const counts = query.groupByThread === true ? { unread } : { total, unread };
    if (before !== undefined && before.total === counts.total && before.unread === unread) return;
    this.#counts.set(folder, counts);
    this.#counted();
  }
}

function isSame(a: ListView, b: ListView): boolean {
  return (
    a.total === b.total &&
    a.unread === b.unread &&
    a.start === b.start &&
    a.isLoading === b.isLoading &&
    a.error === b.error &&
    a.items.length === b.items.length &&
    a.items.every((item, i) => item === b.items[i])
  );
}
