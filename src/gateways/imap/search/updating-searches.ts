// Searches whose changing results are sent to the client (RFC 5267 §4.3): RETURN (UPDATE) of SEARCH and SORT. They
// belong to the view of the selected mailbox and end with it. A message is tested again when its modseq has risen; an
// expunged message leaves the results just before the EXPUNGE response.
import type { Reservation } from '../../../concurrency/keyed-limiter.js';
import { bad, Refused } from '../completion.js';
import { refusalCompletion } from '../faults.js';
import type { SearchKey, SortKey } from '../grammar/search.js';
import type { Session } from '../session.js';
import type { FolderView, ViewUpdates } from '../view/folder-view.js';
import { PositionSet } from '../view/position-set.js';
import { uidSet } from '../wire/format.js';
import type { FoundPositions } from './results.js';
import type { Search } from './search.js';
import { beginSearch, selectedOf } from './session-search.js';
import { sortedPositions } from './sort-order.js';

/** Searches per session. */
const MOST = 5;
/** Memory per UID. */
const UID_OCTETS = 8;
const ANYWHERE = 0;

/** A state of the mailbox that the client knows. */
interface Moment {
  readonly modseq: number;
  /** The highest UID. */
  readonly lastUid: number;
}

interface UpdatingSearch extends Moment {
  readonly tag: string;
  readonly isUid: boolean;
  readonly key: SearchKey;
  /** The meaning of `$` when the search began. */
  readonly saved: readonly number[];
  /** Undefined for SEARCH. */
  readonly order: readonly SortKey[] | undefined;
  /** UIDs in the order of the results. */
  results: number[];
  /** Octets of the search without its results. */
  readonly ownOctets: number;
  readonly memory: Reservation;
}

const searchesOf = new WeakMap<FolderView, UpdatingSearch[]>();

/** The searches end with the view. */
const searchesIn = (view: FolderView): UpdatingSearch[] => searchesOf.get(view) ?? [];

export const hasUpdatingSearches = (view: FolderView): boolean => searchesIn(view).length > 0;

/** @throws Refused BAD when a search with this tag is kept up to date already: its responses would be ambiguous */
export function refuseTagReuse(session: Session): void {
  if (searchesIn(selectedOf(session).view).some(({ tag }) => tag === session.tag))
    throw new Refused(bad('A search with this tag is kept up to date already'));
}

/** Returns the state of the view, for the start of a search. */
export function momentOf(view: FolderView): Moment {
  const { mirror, count } = view;
  return { modseq: mirror.modseq, lastUid: count === 0 ? 0 : view.uidAt(count - 1) };
}

/** Keeps the search up to date from now on, or sends NOUPDATE. */
export function keepUpdated(
  session: Session,
  { columns, demands }: Search,
  found: FoundPositions,
  asked: Omit<UpdatingSearch, 'tag' | 'results' | 'ownOctets' | 'memory'>,
): void {
  const { tag, output, context, accountId } = session;
  const { view } = selectedOf(session);
  const searches = searchesIn(view);
  if (searches.length >= MOST) output.line(`* NO [NOUPDATE "${tag}"] Too many searches are kept up to date`);
  // Every expunge changes which messages the numbers name.
  else if (demands.hasSequenceNumbers) output.line(`* NO [NOUPDATE "${tag}"] The search names messages by number`);
  else {
    const results = [...found].map((position) => columns.uids[position]!);
    const memory = context.memory.searches.charge(accountId, 0);
    const ownOctets = JSON.stringify([asked.key, asked.order]).length + UID_OCTETS * asked.saved.length;
    const search = { ...asked, tag, results, ownOctets, memory };
    if (hasMemory(search, results)) searchesOf.set(view, [...searches, search]);
    else output.line(noMemory(tag));
  }
}

/** Called when the view is closed: ends all its searches. */
export function endUpdates(view: FolderView): void {
  for (const { memory } of searchesIn(view)) memory.release();
  searchesOf.delete(view);
}

/** Reserves memory for the results; returns false when the account has not enough. */
function hasMemory({ ownOctets, memory }: Pick<UpdatingSearch, 'ownOctets' | 'memory'>, results: readonly number[]) {
  return memory.resize(ownOctets + UID_OCTETS * results.length);
}

/** Such a search would fail again at the next change, and each attempt is expensive. */
const isTooLarge = (err: unknown): boolean =>
  err instanceof Refused && err.completion === refusalCompletion('searchTooLarge');

const noMemory = (tag: string): string =>
  `* NO [NOUPDATE "${tag}"] The results of searches that are kept up to date are too large`;

/** @throws Refused BAD when no search with one of these tags is kept up to date */
export function cancelUpdates(session: Session, tags: readonly string[]): void {
  const { view } = selectedOf(session);
  const searches = searchesIn(view);
  if (!tags.every((tag) => searches.some((search) => search.tag === tag)))
    throw new Refused(bad('No search with this tag is kept up to date'));
  for (const search of searches) if (tags.includes(search.tag)) end(view, search);
}

const isKept = (session: Session, view: FolderView, search: UpdatingSearch): boolean =>
  session.selected?.view === view && searchesIn(view).includes(search);

function end(view: FolderView, search: UpdatingSearch): void {
  search.memory.release();
  searchesOf.set(
    view,
    searchesIn(view).filter((other) => other !== search),
  );
}

/** Returns the results that leave because they are expunged. It is written before the expunges, with the numbers before them. */
export function removalsOf(view: FolderView, expunged: ViewUpdates['expunged']): string {
  const searches = searchesIn(view);
  if (searches.length === 0 || expunged.length === 0) return '';
  const numbers = new Map(expunged.map(({ seq, uid }) => [uid, seq]));
  const isLeaving = (uid: number) => numbers.has(uid);
  return searches
    .map((search) => removal(search, isLeaving, (uid) => (search.isUid ? uid : numbers.get(uid)!)))
    .join('');
}

/**
 * Tells the client which messages have entered and left the results, among those that it knows. Never rejects:
 * what could not be read is tested again the next time. A search that has become too large ends.
 */
export async function writeSearchUpdates(session: Session): Promise<void> {
  const { selected } = session;
  if (selected === undefined) return;
  const { view } = selected;
  // All searches use one state; changes during them are handled the next time.
  const moment = momentOf(view);
  const begun = searchesIn(view).map((search) => beginUpdate(session, view, search, moment));
  for (const update of begun) await update();
}

/** Returns a function that runs the search and writes what it finds; neither throws. */
function beginUpdate(session: Session, view: FolderView, search: UpdatingSearch, moment: Moment): () => Promise<void> {
  const before = { modseq: search.modseq, lastUid: search.lastUid };
  const isUnchanged = before.modseq === moment.modseq && before.lastUid === moment.lastUid;
  const among = isUnchanged ? undefined : changedSince(view, before);
  Object.assign(search, moment);
  if (among === undefined || among.isEmpty) return async () => {};
  const failed = (err: unknown): void => {
    if (isTooLarge(err)) {
      if (!isKept(session, view, search)) return;
      end(view, search);
      session.output.line(`* NO [NOUPDATE "${search.tag}"] Too many messages have the words of the search`);
      return;
    }
    Object.assign(search, before);
    session.log.warn({ err, accountId: session.accountId }, 'a search could not be kept up to date');
  };
  try {
    const running = beginSearch(session, search.key, search.saved);
    return () => writeUpdate(session, view, search, among, running).catch(failed);
  } catch (err) {
    failed(err);
    return async () => {};
  }
}

async function writeUpdate(
  session: Session,
  view: FolderView,
  search: UpdatingSearch,
  among: PositionSet,
  running: Search,
): Promise<void> {
  const { columns } = running;
  const uidsOf = (positions: Uint32Array) => Array.from(positions, (position) => columns.uids[position]!);
  const matches = await running.matches(among);
  const others = among.minus(matches);
  const results = columns.withUids(Uint32Array.from(search.results).sort()).minus(others).or(matches);
  const order =
    search.order === undefined ? results.positions() : await sortedPositions(running, results, search.order);
  if (!isKept(session, view, search)) return;
  const leaving = new Set(uidsOf(others.positions()));
  const numberOf = (uid: number) => (search.isUid ? uid : view.positionOf(uid) + 1);
  session.output.write(removal(search, (uid) => leaving.has(uid), numberOf));
  // A message that was expunged during the search is no longer a result.
  const present = uidsOf(order).filter((uid) => view.positionOf(uid) >= 0);
  if (hasMemory(search, present)) session.output.write(addition(search, present, numberOf));
  else {
    end(view, search);
    session.output.line(noMemory(search.tag));
  }
}

function changedSince(view: FolderView, { modseq, lastUid }: Moment): PositionSet {
  const among = new PositionSet(view.count);
  for (let position = 0; position < view.count; position++) {
    const index = view.indexAt(position);
    if (index < 0) continue;
    if (view.mirror.modseqAt(index) > modseq || view.uidAt(position) > lastUid) among.add(position);
  }
  return among;
}

/** Removes results and returns the response; '' when none leaves. */
function removal(
  search: UpdatingSearch,
  isLeaving: (uid: number) => boolean,
  numberOf: (uid: number) => number,
): string {
  const runs: Run[] = [];
  const kept: number[] = [];
  for (const uid of search.results) {
    if (!isLeaving(uid)) kept.push(uid);
    // A place counts the results that earlier runs have left.
    else addToRun(runs, search.order === undefined ? ANYWHERE : kept.length + 1, uid);
  }
  search.results = kept;
  return response(search, 'REMOVEFROM', runs, numberOf);
}

/** Sets the results in their order and returns the response about new ones; '' when there are none. */
function addition(search: UpdatingSearch, results: number[], numberOf: (uid: number) => number): string {
  const runs: Run[] = [];
  const old = new Set(search.results);
  let start = ANYWHERE;
  for (const [i, uid] of results.entries()) {
    if (old.has(uid)) start = ANYWHERE;
    else {
      if (search.order !== undefined && start === ANYWHERE) start = i + 1;
      addToRun(runs, start, uid);
    }
  }
  search.results = results;
  return response(search, 'ADDTO', runs, numberOf);
}

/** Adjacent results from a place on; places count from 1. */
interface Run {
  readonly place: number;
  readonly uids: number[];
}

function addToRun(runs: Run[], place: number, uid: number): void {
  const last = runs.at(-1);
  if (last?.place === place) last.uids.push(uid);
  else runs.push({ place, uids: [uid] });
}

function response(
  { tag, isUid }: UpdatingSearch,
  item: 'ADDTO' | 'REMOVEFROM',
  runs: readonly Run[],
  numberOf: (uid: number) => number,
): string {
  if (runs.length === 0) return '';
  const pairs = runs.map(({ place, uids }) => `${place} ${uidSet(uids.map(numberOf))}`);
  return `* ESEARCH (TAG "${tag}")${isUid ? ' UID' : ''} ${item} (${pairs.join(' ')})\r\n`;
}
