// The list that is shown: its window of emails, which follows the mailbox, the row that the keys are at, and what is selected.
import { batch, computed, effect, type ReadonlySignal, signal } from '@preact/signals';
import { BehaviorSubject, type Subscription } from 'rxjs';
import type {
  ActionEmails,
  EmailListItem,
  EmailSort,
  Folder,
  FoundEmails,
  KnownEmail,
  ListQuery,
  ListRange,
  ListView,
  MansioClient,
} from '../../../src/client/index.js';
import { hrefOf, type ListRoute, withEmail } from '../app/route.js';
import { CutRows, isCut } from './cut-rows.js';
import { isSortable, type ListFilter, listQueryOf } from './list-query.js';

const NOTHING: ListView = { total: 0, unread: 0, start: 0, items: [], isLoading: true };
/** Ranges begin and end at multiples of this, so that scrolling asks rarely. */
const STEP = 25;
const FIRST_RANGE: ListRange = { start: 0, end: 50 };

export class ListStore {
  readonly route = signal<ListRoute>({ view: 'place', place: 'inbox' });
  readonly sort: ReadonlySignal<EmailSort>;
  readonly filter = signal<ListFilter>('all');
  readonly view = signal<ListView>(NOTHING);
  /** Names the list that `view` is of. */
  readonly key = signal('');
  /** How many emails have come above what is seen. */
  readonly arrived = signal(0);
  /** The row that the keys are at. */
  readonly cursorId = signal<string | undefined>(undefined);
  /** Emails: actions are for these, and for no others. */
  readonly selected = signal<ReadonlySet<string>>(new Set());
  /** What is known of the emails when the whole list was selected; undefined when some are selected. */
  readonly found = signal<FoundEmails | undefined>(undefined);
  /** How many emails of the whole list are known, while they are read to be selected. */
  readonly finding = signal<{ readonly done: number; readonly total: number } | undefined>(undefined);
  #finding: AbortController | undefined;
  readonly #client: MansioClient;
  readonly #cut: CutRows;
  /** The order that was chosen for the lists of this visit. */
  readonly #chosenSort = signal<EmailSort | undefined>(undefined);
  readonly #query: ReadonlySignal<string>;
  /** The row of each email that is loaded, alone or in a thread. */
  readonly #rows = computed(() => {
    const rows = new Map<string, EmailListItem>();
    for (const item of this.view.value.items) for (const id of emailsOf(item)) rows.set(id, item);
    return rows;
  });
  readonly #isFollowing = signal(false);
  /** What the keys have selected last: from this row to that one. */
  #extended: { readonly anchor: string; readonly to: string } | undefined;
  #range$ = new BehaviorSubject<ListRange>(FIRST_RANGE);
  #subscription: Subscription | undefined;

  constructor(
    client: MansioClient,
    folders: ReadonlySignal<readonly Folder[]>,
    defaultSort: ReadonlySignal<EmailSort>,
    areThreads: ReadonlySignal<boolean>,
  ) {
    this.#client = client;
    this.#cut = new CutRows(client);
    this.sort = computed(() =>
      isSortable(this.route.value) ? (this.#chosenSort.value ?? defaultSort.value) : '-date',
    );
    // Another default is meant for what is shown, too.
    effect(() => {
      if (defaultSort.value) this.#chosenSort.value = undefined;
    });
    const query = computed(() => {
      const choice = { sort: this.sort.value, filter: this.filter.value, areThreads: areThreads.value };
      // Only searches name folders; other lists do not change with them.
      const named = this.route.value.view === 'search' ? folders.value : [];
      return listQueryOf(this.route.value, choice, named);
    });
    this.#query = computed(() => JSON.stringify(query.value));
    effect(() => {
      if (this.selected.value.size === 0) this.found.value = undefined;
    });
    effect(() => {
      if (this.#isFollowing.value) this.#subscribe(JSON.parse(this.#query.value));
      else this.#subscription?.unsubscribe();
    });
  }

  /** Shows the list of a route. The open email is the row that the keys are at. */
  show(route: ListRoute): void {
    batch(() => {
      const list = withEmail(route, undefined);
      if (hrefOf(list) !== hrefOf(this.route.peek())) {
        this.route.value = list;
        this.#cut.forget();
        this.filter.value = 'all';
        this.selected.value = new Set();
        this.cursorId.value = undefined;
      }
      if (route.emailId !== undefined) this.cursorId.value = route.emailId;
    });
  }

  /** The rows that are seen, and those near them, are loaded. */
  see(start: number, end: number): void {
    const range = { start: Math.floor(start / STEP) * STEP, end: Math.ceil((end + 1) / STEP) * STEP };
    const { value } = this.#range$;
    if (range.start !== value.start || range.end !== value.end) this.#range$.next(range);
  }

  filterBy(filter: ListFilter): void {
    batch(() => {
      this.filter.value = filter;
      this.selected.value = new Set();
    });
  }

  sortBy(sort: EmailSort): void {
    this.#chosenSort.value = sort;
  }

  /** Asks again for a list that could not be read. */
  again(): void {
    this.#subscribe(JSON.parse(this.#query.peek()));
  }

  follow(): void {
    this.#isFollowing.value = true;
  }

  leave(): void {
    batch(() => {
      this.#isFollowing.value = false;
      this.view.value = NOTHING;
      this.selected.value = new Set();
      this.cursorId.value = undefined;
    });
  }

  /** Whether the rows are threads. */
  get areThreads(): boolean {
    return JSON.parse(this.#query.value).groupByThread === true;
  }

  /** The row of an email, which may be one of a thread. */
  row(id: string): EmailListItem | undefined {
    return this.#rows.value.get(id);
  }

  /** An email whose text the list shows. */
  item(id: string): EmailListItem | undefined {
    const row = this.row(id);
    return row?.id === id ? row : undefined;
  }

  /** What is known of an email of the list, loaded or not. */
  known(id: string): KnownEmail | undefined {
    const row = this.row(id);
    return (
      row?.thread?.emails.find((email) => email.id === id) ?? row ?? this.found.value?.find(id) ?? this.#cut.find(id)
    );
  }

  /** What an action is told of these emails: what is known of them, and the emails that belong to them without a name. */
  forAction(ids: readonly string[]): ActionEmails {
    return { find: (id) => this.known(id), unnamed: this.#cut.unnamedOf(ids) };
  }

  /** How many emails an action on these changes: also those of their rows that nobody could name. */
  countOf(ids: readonly string[]): number {
    return ids.length + this.#cut.unnamedCount(ids);
  }

  /** All emails of the rows of these emails; one of which no row is known stands for itself. */
  emailsOfRows(ids: readonly string[]): readonly string[] {
    return [...new Set(ids.flatMap((id) => this.#emailsOfRow(id)))];
  }

  /** Whether a row of these emails has emails that the list does not name. */
  areCut(ids: readonly string[]): boolean {
    return ids.some((id) => isCut(this.row(id)));
  }

  /**
   * All emails of the rows as they are now, with those that the list does not name. While the server does not answer, `forAction` has the
   * rest. @throws Refusal
   */
  async wholeRows(ids: readonly string[]): Promise<readonly string[]> {
    const rows = ids.map((id) => {
      const row = this.row(id);
      // What was read of the row before may have left it.
      return { row, shown: row !== undefined && isCut(row) ? emailsOf(row) : this.#emailsOfRow(id) };
    });
    const cut = new Set(rows.flatMap(({ row }) => (row !== undefined && isCut(row) ? [row] : [])));
    // The list may be left before the answer comes.
    const read = await this.#cut.read(this.#query.peek(), [...cut]);
    return [...new Set(rows.flatMap(({ row, shown }) => [...shown, ...(row === undefined ? [] : read(row.id))]))];
  }

  /** These emails by their rows; in each row the newest one first. */
  byRows(ids: readonly string[]): readonly (readonly string[])[] {
    const left = new Set(ids);
    return ids.flatMap((id) => {
      if (!left.has(id)) return [];
      const row = this.#emailsOfRow(id).filter((email) => left.has(email));
      for (const email of row) left.delete(email);
      return [row];
    });
  }

  /** The row as it is shown, and the emails that were in it when the whole list was selected. */
  #emailsOfRow(id: string): readonly string[] {
    const row = this.row(id);
    const found = this.found.value;
    if (row === undefined) return found?.thread(id) ?? [id];
    const shown = emailsOf(row);
    const read = isCut(row) ? this.#cut.emailsOf(shown) : [];
    const others = found === undefined ? read : [...read, ...shown.flatMap((email) => found.thread(email) ?? [])];
    return others.length === 0 ? shown : [...new Set([...shown, ...others])];
  }

  /** The position of an email in the whole list; undefined when it is not loaded. */
  indexOf(id: string | undefined): number | undefined {
    const { start, items } = this.view.value;
    const row = id === undefined ? undefined : this.row(id);
    const index = row === undefined ? -1 : items.indexOf(row);
    return index === -1 ? undefined : start + index;
  }

  at(index: number): EmailListItem | undefined {
    const { start, items } = this.view.value;
    return items[index - start];
  }

  /** Selects all emails of the row, or takes them all out. @throws Refusal */
  async toggle(id: string): Promise<void> {
    this.cursorId.value = id;
    const before = this.selected.peek();
    const selected = new Set(before);
    for (const email of this.#emailsOfRow(id)) selected.delete(email);
    if (selected.size < before.size) this.selected.value = selected;
    else await this.#select([id]);
  }

  /** Selects everything from the row that the keys are at to this one. @throws Refusal */
  async selectTo(id: string): Promise<void> {
    const { start, items } = this.view.peek();
    const from = (this.indexOf(this.cursorId.peek()) ?? start) - start;
    const to = (this.indexOf(id) ?? start) - start;
    await this.#select(items.slice(Math.min(from, to), Math.max(from, to) + 1).map((item) => item.id));
  }

  /**
   * Goes to the next or the previous row and selects from the row where that began; back again, the row that is left is taken out.
   * @throws Refusal
   */
  async extend(by: 1 | -1): Promise<void> {
    const { start, total, items } = this.view.peek();
    const from = this.indexOf(this.cursorId.peek()) ?? start;
    const to = Math.max(start, Math.min(start + items.length - 1, total - 1, from + by));
    const [left, next] = [this.at(from), this.at(to)];
    if (left === undefined || next === undefined) return;
    if (this.#extended?.to !== left.id) this.#extended = { anchor: left.id, to: left.id };
    const { anchor } = this.#extended;
    const begun = this.indexOf(anchor) ?? from;
    this.#extended = { anchor, to: next.id };
    this.cursorId.value = next.id;
    if (Math.abs(to - begun) >= Math.abs(from - begun)) return this.#select([left.id, next.id]);
    const selected = new Set(this.selected.peek());
    for (const email of this.#emailsOfRow(left.id)) selected.delete(email);
    this.selected.value = selected;
    return undefined;
  }

  /** @throws Refusal */
  async selectLoaded(): Promise<void> {
    await this.#select(this.view.peek().items.map((item) => item.id));
  }

  /** Rows whose emails are all named are selected at once. */
  async #select(ids: readonly string[]): Promise<void> {
    const query = this.#query.peek();
    const emails = this.areCut(ids) ? await this.wholeRows(ids) : this.emailsOfRows(ids);
    // Another list is shown meanwhile.
    if (query === this.#query.peek()) this.selected.value = new Set([...this.selected.peek(), ...emails]);
  }

  /** Selects all emails that the list has now, loaded or not; what comes later is not selected. @throws Refusal, NetworkFault */
  async selectAll(): Promise<void> {
    if (this.#finding !== undefined) return;
    const query = this.#query.peek();
    const stop = new AbortController();
    const { signal: stopped } = stop;
    this.#finding = stop;
    const progress = (done: number, total: number) => {
      // Another list is shown meanwhile.
      if (query !== this.#query.peek()) this.stopFinding();
      else this.finding.value = { done, total };
    };
    try {
      const found = await this.#client.found(JSON.parse(query), undefined, { progress, signal: stopped });
      if (query !== this.#query.peek()) return;
      batch(() => {
        this.selected.value = new Set(found.ids);
        this.found.value = found;
      });
    } catch (error) {
      if (!stopped.aborted) throw error;
    } finally {
      this.#finding = undefined;
      this.finding.value = undefined;
    }
  }

  /** What was selected before stays selected. */
  stopFinding(): void {
    this.#finding?.abort();
  }

  get isWholeSelected(): boolean {
    const { items, total } = this.view.value;
    return items.length === total && items.every((item) => this.isSelected(item));
  }

  isSelected(item: EmailListItem): boolean {
    const { value: selected } = this.selected;
    return selected.size > 0 && emailsOf(item).some((id) => selected.has(id));
  }

  clearSelection(): void {
    this.#extended = undefined;
    this.selected.value = new Set();
  }

  #subscribe(query: ListQuery): void {
    this.#subscription?.unsubscribe();
    this.#range$ = new BehaviorSubject(FIRST_RANGE);
    const key = JSON.stringify(query);
    let isFirst = true;
    const put = (view: ListView) =>
      batch(() => {
        if (isFirst) this.key.value = key;
        isFirst = false;
        this.view.value = view;
        this.#forgetGone(view);
      });
    // What another list has shown is not shown under this one's name.
    if (this.key.peek() !== key) put(NOTHING);
    this.#subscription = this.#client.list(query, this.#range$).subscribe({
      next: put,
      error: (error: Error) => put({ ...NOTHING, isLoading: false, error }),
    });
  }

  /** An email that has left the list is not selected any more. */
  #forgetGone({ start, items, total }: ListView): void {
    const selected = this.selected.peek();
    if (selected.size === 0 || start > 0 || items.length < total) return;
    const there = new Set(items.flatMap(({ id }) => this.#emailsOfRow(id)));
    const left = [...selected].filter((id) => there.has(id));
    if (left.length < selected.size) this.selected.value = new Set(left);
  }
}

/** The emails that a row names, the newest first. */
export function emailsOf({ id, thread }: EmailListItem): readonly string[] {
  return thread === undefined ? [id] : thread.emails.map((email) => email.id);
}
