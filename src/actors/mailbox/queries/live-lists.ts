// Answers the query `lists`, with which gateways follow lists: the emails of a list, each with a version that changes when the list shows
// the email differently, and the items of these emails. A list that the caller already has only costs a look at memory. Texts, threads and
// orders other than by time come from the store, as for `list`, `search` and `thread`.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ANSWERED, FLAGGED, SEEN } from '../../../mail-format/flags.js';
import type { FolderRow } from '../../../store/mailbox-rows.js';
import type { MailboxStore } from '../../../store/mailboxes.js';
import type { QueryHandlers } from '../../runtime/behavior.js';
import type { ListQuery, ListState } from '../list-operations.js';
import type { MailboxProtocol } from '../protocol.js';
import { folderNamed, foundPage, type MailboxSearch } from '../search/search.js';
import type { FoundPage } from '../search/search-memory.js';
import type { MailboxState } from '../state/state.js';
import { Digest } from './digest.js';
import { listItems } from './email-views.js';
import { conversationsOf } from './folder-conversations.js';
import { currentThreads } from './list-threads.js';
import { type FolderPage, folderPage } from './lists.js';
import { threadItems } from './thread-items.js';
import { wholeThread } from './thread-views.js';

/** The emails of folders that are scanned before the event loop gets a turn. */
const STRETCH = 50_000;
const SHOWN_FLAGS = SEEN | FLAGGED | ANSWERED;

const NOTHING: FoundPage = { totalCount: 0, unreadCount: 0, slots: [] };

type Found = { readonly page: FolderPage; readonly folderId?: string } | { readonly refusal: string };

export function liveListQueries(
  store: MailboxStore,
  search: MailboxSearch,
): Pick<QueryHandlers<MailboxProtocol, MailboxState>, 'lists'> {
  return {
    async lists(state, { lists: asked, emailIds, threadsOf }) {
      const { modseq } = state;
      let versions = new ItemVersions(state);
      const lists: { readonly state?: ListState; readonly refusal?: string }[] = [];
      let gone = 0;
      for (const { query, tag } of asked) {
        gone += folderNamed(state, query.list?.folder ?? '')?.count ?? 0;
        if (gone > STRETCH) {
          gone = 0;
          await nextTurn();
        }
        const found = await foundBy(store, search, state, query);
        if (versions.modseq !== state.modseq) versions = new ItemVersions(state);
        if ('refusal' in found) lists.push(found);
        else {
          const now = stateOf(state, found, versions);
          lists.push(now.tag === tag ? {} : { state: now });
        }
      }
      const versionsNow = () => {
        if (versions.modseq !== state.modseq) versions = new ItemVersions(state);
        return versions;
      };
      const slots = emailIds.map((id) => state.findShown(id)).filter((slot) => slot >= 0);
      const items =
        threadsOf === undefined
          ? await listItems(store, state, slots, (item, slot) => ({ item, version: versionsNow().of(slot) }))
          : await itemsOfRows(store, state, threadsOf, slots, versionsNow);
      return { reply: { modseq, lists, items } };
    },
  };
}

async function itemsOfRows(
  store: MailboxStore,
  state: MailboxState,
  name: string,
  newest: readonly number[],
  versions: () => ItemVersions,
) {
  const folder = folderNamed(state, name);
  if (folder === undefined || newest.length === 0) return [];
  await currentThreads(store, state);
  const rows = conversationsOf(state, folder).of(newest);
  return threadItems(store, state, folder, [...rows.values()], (item, row) => ({
    item,
    version: versions().ofRow(row),
  }));
}

async function foundBy(
  store: MailboxStore,
  search: MailboxSearch,
  state: MailboxState,
  { list, search: asked, thread }: ListQuery,
): Promise<Found> {
  if (list !== undefined) {
    const { folder: name, ...criteria } = list;
    const folder = folderNamed(state, name);
    if (folder === undefined) return { refusal: 'noSuchFolder' };
    return { page: await folderPage(store, state, folder, criteria), folderId: folder.row.id };
  }
  if (asked !== undefined) {
    const { page, pageSize, ...criteria } = asked;
    const found = await foundPage(state, search, criteria, page, pageSize);
    return 'refusal' in found ? found : { page: found };
  }
  return thread === undefined ? { page: NOTHING } : threadPage(store, state, thread);
}

async function threadPage(
  store: MailboxStore,
  state: MailboxState,
  { threadId, page, pageSize }: NonNullable<ListQuery['thread']>,
): Promise<Found> {
  const thread = await wholeThread(store, state, threadId);
  const slots = thread.filter((slot) => state.isShown(slot));
  if (slots.length === 0) return { refusal: 'noSuchThread' };
  const unreadCount = slots.filter((slot) => (state.emails.flags(slot) & SEEN) === 0).length;
  const shown = slots.slice((page - 1) * pageSize, page * pageSize);
  return { page: { totalCount: slots.length, unreadCount, slots: shown } };
}

function stateOf(state: MailboxState, found: Exclude<Found, { refusal: string }>, of: ItemVersions): ListState {
  const { emails } = state;
  const { slots: all, totalCount, unreadCount } = found.page;
  // Other emails were deleted or hidden while the list was made.
  const slots = all.filter((slot) => state.isShown(slot));
  const rows = new Map(found.page.rows?.map((row) => [row[0], row]));
  const versions = slots.map((slot) => of.ofRow(rows.get(slot) ?? [slot]));
  const digest = new Digest().add(totalCount).add(unreadCount);
  for (const word of emails.idWords(Uint32Array.from(slots))) digest.add(word);
  for (const version of versions) digest.add(version).add(version / 2 ** 32);
  const emailIds = slots.map((slot) => emails.id(slot));
  const { folderId } = found;
  const tag = digest.value.toString(36);
  return { emailIds, versions, totalCount, unreadCount, tag, ...(folderId !== undefined && { folderId }) };
}

/** Versions of list items: digests of every part of an item that can change. */
class ItemVersions {
  readonly modseq: number;
  readonly #state: MailboxState;
  readonly #folders: readonly { readonly shows: (slot: number) => boolean; readonly digest: number }[];
  readonly #made = new Map<number, number>();

  constructor(state: MailboxState) {
    this.modseq = state.modseq;
    this.#state = state;
    this.#folders = [...state.folders.values()].map((folder) => ({
      shows: (slot) => folder.shows(slot),
      digest: shownOf(folder.row),
    }));
  }

  of(slot: number): number {
    let version = this.#made.get(slot);
    if (version === undefined) {
      version = this.#make(slot);
      this.#made.set(slot, version);
    }
    return version;
  }

  /** The version of a row of these emails. */
  ofRow(slots: readonly number[]): number {
    if (slots.length === 1) return this.of(slots[0]!);
    const digest = new Digest();
    for (const word of this.#state.emails.idWords(Uint32Array.from(slots))) digest.add(word);
    for (const slot of slots) digest.add(this.of(slot)).add(this.of(slot) / 2 ** 32);
    return digest.value;
  }

  #make(slot: number): number {
    const digest = new Digest().add(this.#state.emails.flags(slot) & SHOWN_FLAGS).add(this.#state.threadsAt);
    for (const folder of this.#folders) {
      if (folder.shows(slot)) digest.add(folder.digest).add(folder.digest / 2 ** 32);
    }
    return digest.value;
  }
}

/** A digest of the folder's properties that items show. */
function shownOf({ id, role, name, color, sortOrder }: FolderRow): number {
  const text = role === 'label' ? JSON.stringify([id, name, color, sortOrder]) : id;
  const digest = new Digest();
  for (let i = 0; i < text.length; i++) digest.add(text.charCodeAt(i));
  return digest.value;
}
