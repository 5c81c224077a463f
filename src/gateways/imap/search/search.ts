// A search over the selected folder: the messages that match a key, as positions in the view. A set of candidates passes through
// the plan of the keys; each key sees only what the others have left.
import { no, Refused } from '../completion.js';
import type { SearchKey } from '../grammar/search.js';
import { LAST, type SequenceRange } from '../grammar/sequence-set.js';
import type { FolderKey, Message, MessageNeeds, MessageSource } from '../messages/message-source.js';
import type { FolderView } from '../view/folder-view.js';
import { PositionSet } from '../view/position-set.js';
import type { BodySearch } from './body-search.js';
import type { FolderResult, FolderResults, ResultKind } from './folder-results.js';
import { matchingField } from './header-search.js';
import { messageTest } from './message-test.js';
import type { SearchPace } from './search-pace.js';
import { COLUMNS, demandsOf, type SearchDemands, type SearchPlan, searchPlan } from './search-plan.js';
import { SearchedFolder } from './searched-folder.js';

/** Messages between two checks of the clock. */
const STRIDE = 32;
/** Texts of BODY and TEXT in one search. */
const MOST_TEXTS = 50;

export interface SearchOptions {
  readonly folder: FolderKey;
  readonly view: FolderView;
  /** The UIDs that `$` stands for. */
  readonly saved: readonly number[];
  readonly messages: MessageSource;
  /** Called at most once. */
  bodies(): BodySearch;
  readonly results: FolderResults;
  readonly pace: SearchPace;
  /** ms since the epoch. */
  readonly now: number;
}

export class Search {
  readonly demands: SearchDemands;
  /** The state of the folder when the search began. */
  readonly columns: SearchedFolder;
  readonly #plan: SearchPlan;
  readonly #options: SearchOptions;
  #bodies: BodySearch | undefined;

  /** @throws Refused NO [LIMIT] when the search has too many texts for bodies */
  constructor(key: SearchKey, options: SearchOptions) {
    this.#options = options;
    this.#plan = searchPlan(key);
    this.demands = demandsOf(this.#plan);
    if (this.demands.texts > MOST_TEXTS)
      throw new Refused(no(`A search is for at most ${MOST_TEXTS} texts in bodies`, 'LIMIT'));
    this.columns = new SearchedFolder(options.view, this.demands);
  }

  /** Returns the messages of the view, or of `among`, that match. Returns a promise when that takes long. */
  matches(among?: PositionSet): PositionSet | Promise<PositionSet> {
    const { present } = this.columns;
    return this.#matching(this.#plan, among === undefined ? present : present.and(among));
  }

  /** Reads messages in the order of their positions, and lets others run in between. Messages that are gone are omitted. */
  async eachMessage(
    among: PositionSet,
    needs: MessageNeeds,
    use: (message: Message, position: number) => Promise<void> | void,
  ): Promise<void> {
    const { folder, messages, pace } = this.#options;
    const { uids } = this.columns;
    const positions = among.positions();
    const sought = positions.map((position) => uids[position]!);
    let at = 0;
    for await (const batch of messages.batches(folder, sought, needs)) {
      for (let i = 0; i < batch.length; i++) {
        const message = batch[i]!;
        while (sought[at]! < message.uid) at++;
        const used = use(message, positions[at]!);
        if (used !== undefined) await used;
        if (i % STRIDE === STRIDE - 1 && pace.isDue) await pace.rest(at, positions.length);
      }
    }
  }

  /** Returns a cached result of the folder. */
  result<T>(kind: ResultKind<T>): FolderResult<T> | undefined {
    return this.#options.results.get(this.#options.folder, kind);
  }

  /** Caches a result of the whole folder. */
  keep<T>(kind: ResultKind<T>, uids: Uint32Array, value: T): void {
    this.#options.results.keep(this.#options.folder, kind, uids, value);
  }

  /** Tells whether these are all messages of the folder. */
  isWhole(among: PositionSet): boolean {
    return among.count === this.columns.present.count;
  }

  /** Runs work that yields periodically; others run in between. */
  async stepwise<T>(work: Generator<void, T>, goal: number): Promise<T> {
    const { pace } = this.#options;
    for (;;) {
      const step = work.next();
      if (step.done === true) return step.value;
      if (pace.isDue) await pace.rest(goal, goal);
    }
  }

  /** Returns the messages of `among` that match. */
  #matching(plan: SearchPlan, among: PositionSet): PositionSet | Promise<PositionSet> {
    if (plan.cost > COLUMNS && among.isEmpty) return among;
    const { pace } = this.#options;
    return pace.isDue
      ? pace.rest(0, among.count).then(() => this.#matchingNow(plan, among))
      : this.#matchingNow(plan, among);
  }

  #matchingNow(plan: SearchPlan, among: PositionSet): PositionSet | Promise<PositionSet> {
    if (plan.type === 'leaf') return this.#matchingLeaf(plan.key, among);
    if (plan.type === 'not') return whenFound(this.#matching(plan.plan, among), (found) => among.minus(found));
    if (plan.type === 'and') return this.#matchingAll(plan.plans, 0, among);
    return whenFound(this.#matching(plan.first, among), (first) =>
      whenFound(this.#matching(plan.second, among.minus(first)), (second) => first.or(second)),
    );
  }

  /** Applies the plans from index `from` on. */
  #matchingAll(plans: readonly SearchPlan[], from: number, among: PositionSet): PositionSet | Promise<PositionSet> {
    let left = among;
    for (let i = from; i < plans.length; i++) {
      const found = this.#matching(plans[i]!, left);
      if (found instanceof Promise) return found.then((set) => this.#matchingAll(plans, i + 1, set));
      left = found;
    }
    return left;
  }

  #matchingLeaf(
    key: Extract<SearchPlan, { readonly type: 'leaf' }>['key'],
    among: PositionSet,
  ): PositionSet | Promise<PositionSet> {
    const { columns } = this;
    switch (key.type) {
      case 'all':
      case 'saveDateSupported':
        return among;
      case 'set': {
        const { view, saved } = this.#options;
        if (!key.isByUid && key.set !== '$') return among.and(numbered(columns.count, key.set));
        return among.and(PositionSet.of(columns.count, view.resolve(key.set, true, saved)));
      }
      case 'flag': {
        const found = columns.withFlag(key.name);
        return key.isSet ? among.and(found) : among.minus(found);
      }
      case 'modseq':
        return PositionSet.of(
          columns.count,
          among.positions().filter((position) => columns.modseqOf(position) >= key.atLeast),
        );
      case 'body':
      case 'text':
        this.#bodies ??= this.#options.bodies();
        return this.#bodies.matching(key.type, key.text, among, this);
      case 'header':
        return matchingField(this, key.name, key.text, among);
      default: {
        const { needs, test } = messageTest(key, this.#options.now);
        const found = new PositionSet(columns.count);
        const tested = this.eachMessage(among, needs, (message, position) => {
          if (test(message)) found.add(position);
        });
        return tested.then(() => found);
      }
    }
  }
}

function whenFound(
  found: PositionSet | Promise<PositionSet>,
  use: (found: PositionSet) => PositionSet | Promise<PositionSet>,
): PositionSet | Promise<PositionSet> {
  return found instanceof Promise ? found.then(use) : use(found);
}

/** Numbers beyond the last message match nothing: a search uses the existing part of a set, as in Dovecot. */
function numbered(count: number, ranges: readonly SequenceRange[]): PositionSet {
  const found = new PositionSet(count);
  for (const [a, b] of ranges) {
    const [first, last] = [a === LAST ? count : a, b === LAST ? count : b];
    found.addRange(Math.max(1, Math.min(first, last)) - 1, Math.min(count, Math.max(first, last)));
  }
  return found;
}
