// Search and export: scans of all emails of a mailbox by time. The store finds the emails that match a text; time, flags and folders are in
// memory, so totals are exact. Both exclude emails that only Trash and Junk show.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FLAGGED, flagBit, SEEN } from '../../../mail-format/flags.js';
import { isUuid } from '../../../mail-format/ids.js';
import type { SearchTerm } from '../../../mail-format/words/search-text.js';
import { SYSTEM_ROLES } from '../../../store/mailbox-rows.js';
import { SearchTooLarge } from '../../../store/search.js';
import type { ExportPosition } from '../protocol.js';
import type { FolderColumns } from '../state/folder-columns.js';
import type { MailboxState } from '../state/state.js';
import type { FieldTerms } from './field-terms.js';
import type { SearchIndexing } from './search-indexing.js';
import type { FoundPage, MatchStore, TextMatches, TextQuestion } from './search-memory.js';
import type { SearchMerging } from './search-merging.js';

/** The emails that are scanned before the event loop gets a turn. */
const STRETCH = 50_000;
/** Longer pages are not remembered. */
const LONGEST_PAGE = 100;
/** If the matches are fewer than 1/8 of the mailbox, only the matches are scanned. */
const FEW = 8;

export interface MailboxSearch {
  readonly store: MatchStore;
  readonly indexing: Pick<SearchIndexing, 'note' | 'reach'>;
  readonly merging: Pick<SearchMerging, 'removed'>;
}

export interface SearchCriteria {
  readonly terms?: readonly SearchTerm[] | undefined;
  /** Terms that fields of the header must have. */
  readonly fields?: readonly FieldTerms[] | undefined;
  /** ms since the epoch, both ends included. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly hasAttachments?: boolean | undefined;
  readonly isRead?: boolean | undefined;
  readonly isFlagged?: boolean | undefined;
  /** A flag or keyword. */
  readonly keyword?: string | undefined;
  /** Octets. */
  readonly minSize?: number | undefined;
  /** Ids of labels that the emails have. */
  readonly labels?: readonly string[] | undefined;
  /** Id or role of the only folder to search, which may be Trash or Junk. */
  readonly folder?: string | undefined;
  /** Without a folder: emails that only Trash and Junk show are found too. */
  readonly anywhere?: boolean | undefined;
  /** Only emails that are older than this one. */
  readonly before?: TimePlace | undefined;
}

/** A place in the order by time. */
export interface TimePlace {
  /** ms since the epoch. */
  readonly receivedAt: number;
  readonly id: string;
}

/**
 * True when the index should be checked for removed emails: after the first removal since the mailbox was loaded, and whenever their number
 * has doubled.
 */
export const isIndexLookDue = (deadBefore: number, dead: number): boolean => Math.clz32(dead) < Math.clz32(deadBefore);

/** Finds a folder by id or role; several folders share the roles `label` and `folder`, so these are not valid names. */
export function folderNamed(state: MailboxState, name: string): FolderColumns | undefined {
  const role = SYSTEM_ROLES.find((candidate) => candidate === name);
  return role === undefined ? state.folders.get(name) : state.folderOf(role);
}

/** Returns a test whether an email has a flag or keyword. */
function hasFlag({ emails }: MailboxState, name: string): (slot: number) => boolean {
  const bit = flagBit(name);
  return bit === 0 ? (slot) => emails.hasKeyword(slot, name) : (slot) => (emails.flags(slot) & bit) !== 0;
}

/** Returns the result, or the refusal of a search that needs too much memory. */
export async function unlessTooLarge<T>(searching: Promise<T>): Promise<T | { readonly refusal: 'searchTooLarge' }> {
  try {
    return await searching;
  } catch (error) {
    if (error instanceof SearchTooLarge) return { refusal: 'searchTooLarge' };
    throw error;
  }
}

type SearchRefusal = 'noSuchFolder' | 'noSuchLabel' | 'searchTooLarge';

/** Returns the page, or the refusal of a search of a folder or label that does not exist, or that needs too much memory. */
export async function foundPage(
  state: MailboxState,
  search: MailboxSearch,
  criteria: SearchCriteria,
  page: number,
  pageSize: number,
): Promise<FoundPage | { readonly refusal: SearchRefusal }> {
  const { folder, labels = [] } = criteria;
  if (folder !== undefined && folderNamed(state, folder) === undefined) return { refusal: 'noSuchFolder' };
  if (labels.some((id) => state.folders.get(id)?.row.role !== 'label')) return { refusal: 'noSuchLabel' };
  return unlessTooLarge(searchMailbox(state, search, criteria, page, pageSize));
}

/** @throws SearchTooLarge */
async function searchMailbox(
  state: MailboxState,
  search: MailboxSearch,
  criteria: SearchCriteria,
  page: number,
  pageSize: number,
): Promise<FoundPage> {
  const { modseq } = state;
  const question = JSON.stringify([criteria, page, pageSize]);
  const known = state.search.page(modseq, question);
  if (known !== undefined) return known;
  const matches: TextMatches[] = [];
  for (const question of questionsOf(criteria)) matches.push(await textMatches(state, search, question));
  const { emails } = state;
  const isWanted = wanted(state, criteria);
  const isLeftOut = leftOut(state, criteria);
  const rarest = matches.toSorted((a, b) => a.count - b.count)[0];
  const few = rarest !== undefined && rarest.count < emails.size / FEW ? rarest.slots() : undefined;
  const [order, start, end] = range(state, criteria, few && state.search.order.sorted(few));
  const first = (page - 1) * pageSize;
  const slots: number[] = [];
  let totalCount = 0;
  let unreadCount = 0;
  for (let i = end - 1; i >= start; i--) {
    if ((end - i) % STRETCH === 0) await nextTurn();
    const slot = order[i]!;
    if (!matches.every((some) => some.has(slot))) continue;
    if (!emails.isAlive(slot) || isLeftOut?.(slot) === true || !isWanted(slot)) continue;
    if (totalCount >= first && slots.length < pageSize) slots.push(slot);
    totalCount++;
    if ((emails.flags(slot) & SEEN) === 0) unreadCount++;
  }
  const found = { totalCount, unreadCount, slots };
  if (pageSize > LONGEST_PAGE) return found;
  // If the mailbox changed during a break, the result may mix both states and is not cached.
  if (state.modseq === modseq) state.search.keepPage(modseq, question, found);
  return found;
}

/** The questions about texts; a search with none matches any text. */
function questionsOf({ terms = [], fields = [] }: SearchCriteria): readonly TextQuestion[] {
  const ofText: TextQuestion[] = terms.length === 0 ? [] : [{ terms, part: 'text' }];
  return [...ofText, ...fields.map((field) => ({ terms: field.terms, part: field.field }))];
}

/** Returns a test of what memory knows of an email, apart from its time and folder. */
function wanted(state: MailboxState, criteria: SearchCriteria): (slot: number) => boolean {
  const { emails } = state;
  const { hasAttachments, isRead, isFlagged, keyword, minSize, labels = [] } = criteria;
  const mask = (isRead === undefined ? 0 : SEEN) | (isFlagged === undefined ? 0 : FLAGGED);
  const flags = (isRead === true ? SEEN : 0) | (isFlagged === true ? FLAGGED : 0);
  const tests: ((slot: number) => boolean)[] = [];
  if (mask !== 0) tests.push((slot) => (emails.flags(slot) & mask) === flags);
  if (hasAttachments !== undefined) tests.push((slot) => emails.hasAttachments(slot) === hasAttachments);
  if (minSize !== undefined) tests.push((slot) => emails.sizeOf(slot) >= minSize);
  if (keyword !== undefined) tests.push(hasFlag(state, keyword));
  for (const label of labels) tests.push((slot) => state.folders.get(label)?.shows(slot) === true);
  return (slot) => tests.every((test) => test(slot));
}

/** Finds the matching emails among those that exist when the query starts. */
async function textMatches(
  { accountId, emails, search: memory }: MailboxState,
  { store, indexing }: MailboxSearch,
  question: TextQuestion,
): Promise<TextMatches> {
  const { size } = emails;
  if (size > 0) await indexing.reach(accountId, emails.id(size - 1));
  return memory.matching(store, accountId, question, size);
}

/** UIDs of a folder's messages in which the terms match, ascending. @throws SearchTooLarge */
export async function searchFolder(
  state: MailboxState,
  search: MailboxSearch,
  folder: FolderColumns,
  { terms: asked, part }: TextQuestion,
): Promise<Uint32Array> {
  const terms = asked.filter(({ words }) => words.length > 0);
  const matches = terms.length === 0 ? undefined : await textMatches(state, search, { terms, part });
  if (matches !== undefined && matches.count < folder.count / FEW) {
    const uids = matches.slots().map((slot) => folder.uidOf(slot));
    return uids.filter((uid) => uid !== 0).sort();
  }
  const uids = new Uint32Array(folder.count);
  let count = 0;
  for (let i = 0; i < folder.count; i++) {
    if (matches?.has(folder.slotAt(i)) !== false) uids[count++] = folder.uidAt(i);
  }
  return uids.subarray(0, count);
}

/** Returns slots, oldest first, at most `limit`, and the position to continue at when there may be more. */
export async function exportedEmails(
  state: MailboxState,
  criteria: Pick<SearchCriteria, 'from' | 'to' | 'folder'>,
  place: ExportPosition | null,
  limit: number,
): Promise<{ readonly slots: number[]; readonly place: ExportPosition | null }> {
  const { emails } = state;
  if (emails.size === 0) return { slots: [], place: null };
  const newestId = place?.newestId ?? emails.id(emails.size - 1);
  const lastSlot = emails.lastUpTo(newestId);
  const isLeftOut = leftOut(state, criteria);
  const [order, start, end] = range(state, criteria);
  const isFurther = place !== null && isUuid(place.id);
  let i = isFurther ? state.search.order.before(order, place.receivedAt, emails.lastUpTo(place.id) + 1) : start;
  const slots: number[] = [];
  for (let examined = 1; i < end && slots.length < limit; i++, examined++) {
    if (examined % STRETCH === 0) await nextTurn();
    const slot = order[i]!;
    if (slot <= lastSlot && emails.isAlive(slot) && isLeftOut?.(slot) !== true) slots.push(slot);
  }
  const last = slots.at(-1);
  if (last === undefined || slots.length < limit) return { slots, place: null };
  return { slots, place: { receivedAt: emails.receivedAt(last), id: emails.id(last), newestId } };
}

export async function countExported(
  state: MailboxState,
  criteria: Pick<SearchCriteria, 'from' | 'to' | 'folder'>,
): Promise<number> {
  const isLeftOut = leftOut(state, criteria);
  const [order, start, end] = range(state, criteria);
  let count = 0;
  for (let i = start; i < end; i++) {
    if ((i - start + 1) % STRETCH === 0) await nextTurn();
    if (state.emails.isAlive(order[i]!) && isLeftOut?.(order[i]!) !== true) count++;
  }
  return count;
}

/** The lowest slot that does not come before the place, among emails of its time. */
export function slotAtPlace({ emails }: MailboxState, { id }: TimePlace): number {
  const last = emails.lastUpTo(id);
  return last >= 0 && emails.id(last) === id ? last : last + 1;
}

/** Returns slots in order (by default all) and the bounds of those that lie within the times. */
function range(
  state: MailboxState,
  { from, to, before }: Pick<SearchCriteria, 'from' | 'to' | 'before'>,
  order: Uint32Array = state.search.order.slots,
): readonly [order: Uint32Array, start: number, end: number] {
  const start = from === undefined ? 0 : state.search.order.before(order, from);
  const end = to === undefined ? order.length : state.search.order.before(order, to, Number.POSITIVE_INFINITY);
  if (before === undefined) return [order, start, end];
  const place = state.search.order.before(order, before.receivedAt, slotAtPlace(state, before));
  return [order, start, Math.min(end, place)];
}

/**
 * Returns a test whether an email is excluded: not shown in the named folder or, without one, shown nowhere, or only in Trash and Junk
 * unless these are searched too. Undefined when nothing is excluded.
 */
function leftOut(
  state: MailboxState,
  { folder: name, anywhere = false }: Pick<SearchCriteria, 'folder' | 'anywhere'>,
): ((slot: number) => boolean) | undefined {
  if (name !== undefined) {
    const folder = folderNamed(state, name);
    return (slot) => folder?.shows(slot) !== true;
  }
  const out: FolderColumns[] = [];
  const others: FolderColumns[] = [];
  for (const folder of state.folders.values()) {
    const { role } = folder.row;
    if (folder.count === 0) continue;
    (!anywhere && (role === 'trash' || role === 'junk') ? out : others).push(folder);
  }
  const marked = state.markedFolders();
  if (out.length + marked.length === 0) return undefined;
  const isDoubtful = (slot: number) =>
    out.some((folder) => folder.uidOf(slot) !== 0) || marked.some((folder) => folder.isDeleted(slot));
  return (slot) => isDoubtful(slot) && !others.some((folder) => folder.shows(slot));
}
