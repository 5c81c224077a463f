// Reads the messages of a folder for FETCH, SEARCH, SORT and THREAD: from the store in pages, which a cache of the node keeps
// within a bound in octets. Cached data of a message never changes, so nothing in the cache becomes stale (decision 0044).

import { FairSemaphore } from '../../../concurrency/fair-semaphore.js';
import { needsTextCharset } from '../../../mail-format/header/field-text.js';
import type { FolderMessageRow, FolderMessageStore } from '../../../store/folder-messages.js';
import type { Message, MessageNeeds } from './message.js';
import { type MessagePage, PAGE_UIDS, type PageMessage } from './message-page.js';
import { PageCache } from './page-cache.js';

export type { Message, MessageNeeds } from './message.js';

export interface FolderKey {
  readonly accountId: string;
  readonly folderId: string;
}

export interface MessageSource {
  /**
   * Returns messages in the order of `uids`, which ascend, without those that are gone. Returns an array when the cache has all of
   * them. Use `batches` for many messages. @throws StoreFault
   */
  read(folder: FolderKey, uids: Uids, needs: MessageNeeds): readonly Message[] | Promise<readonly Message[]>;
  /** Yields at most one page at a time and reads the next one meanwhile. @throws StoreFault */
  batches(folder: FolderKey, uids: Uids, needs: MessageNeeds): AsyncIterable<readonly Message[]>;
}

type Uids = Uint32Array | readonly number[];

export interface MessageSourceOptions {
  readonly store: FolderMessageStore;
  /** Octets of all cached messages. */
  readonly maxOctets: number;
}

/** Concurrent statements, of all accounts and of one. */
const STATEMENTS = { total: 4, share: 2 };
/** Octets of headers and indexes that a batch should not exceed, and the size of the first batch, whose octets are unknown. */
const BATCH_OCTETS = 4 * 1024 * 1024;
const FIRST_BATCH = 32;
/** The index is read with the header of at most this many messages, because a client that reads one header mostly needs the index next. */
const FEW = 4;

export function createMessageSource({ store, maxOctets }: MessageSourceOptions): MessageSource {
  return new CachedMessageSource({ store, maxOctets });
}

class CachedMessageSource implements MessageSource {
  readonly #store: FolderMessageStore;
  readonly #cache: PageCache;
  readonly #statements = new FairSemaphore(STATEMENTS);

  constructor({ store, maxOctets }: MessageSourceOptions) {
    this.#store = store;
    this.#cache = new PageCache(maxOctets);
  }

  read(folder: FolderKey, uids: Uids, needs: MessageNeeds): PageMessage[] | Promise<readonly PageMessage[]> {
    return this.#cached(folder, uids, needs) ?? this.#readPages(folder, uids, needs);
  }

  async *batches(folder: FolderKey, uids: Uids, needs: MessageNeeds): AsyncGenerator<readonly Message[]> {
    let most = FIRST_BATCH;
    let end = 0;
    const next = () => {
      const start = end;
      end = endOfBatch(uids, start, most);
      return start === end ? undefined : this.read(folder, uids.slice(start, end), needs);
    };
    for (let reading = next(); reading !== undefined; ) {
      const messages = await reading;
      most = mostOfBatch(messages);
      reading = next();
      // Nobody awaits the batch when the caller stops early, so its fault is dropped.
      if (reading instanceof Promise) reading.catch(() => {});
      yield messages;
    }
  }

  /** Returns undefined when the cache lacks something. */
  #cached(folder: FolderKey, uids: Uids, needs: MessageNeeds): PageMessage[] | undefined {
    const messages = new Array<PageMessage>(uids.length);
    let number = -1;
    let page: MessagePage | undefined;
    for (let i = 0; i < uids.length; i++) {
      const uid = uids[i]!;
      if (pageOf(uid) !== number) {
        number = pageOf(uid);
        page = this.#cache.get(folder.accountId, keyOf(folder, number), needs);
      }
      const message = page?.message(uid, needs);
      if (message === undefined) return undefined;
      messages[i] = message;
    }
    return messages;
  }

  async #readPages(folder: FolderKey, uids: Uids, needs: MessageNeeds): Promise<readonly PageMessage[]> {
    const parts = partsOf(uids);
    const found = new Map<Part, readonly PageMessage[]>();
    for (let open = parts; open.length > 0; ) {
      const others: Promise<void>[] = [];
      const later: Part[] = [];
      const own: Load[] = [];
      for (const part of open) {
        const page = this.#cache.open(folder.accountId, keyOf(folder, part.number), needs);
        const missing = part.uids.filter((uid) => page.message(uid, needs) === undefined);
        if (missing.length === 0) found.set(part, page.messages(part.uids, needs));
        else if (page.loading === undefined) own.push({ part, page, missing });
        else {
          others.push(page.loading);
          later.push(part);
        }
      }
      await Promise.all([...groupsOf(own).map((group) => this.#loadGroup(folder, group, needs)), ...others]);
      // Messages that are still missing are gone.
      for (const { part, page } of own) found.set(part, page.messages(part.uids, needs));
      open = later;
    }
    return parts.flatMap((part) => found.get(part)!);
  }

  /** Runs one statement. Other readers of one of its pages wait for it, and then read what is missing. */
  async #loadGroup(folder: FolderKey, group: readonly Load[], needs: MessageNeeds): Promise<void> {
    const { accountId, folderId } = folder;
    const uids = group.flatMap(({ missing }) => missing);
    const header = isWanted(needs.header);
    const wanted = { header, index: isWanted(needs.index) || (header && uids.length <= FEW) };
    const loading = this.#statements.run(accountId, async () => {
      const rows = await this.#withTextCharsets(folder, await this.#store.rows(accountId, folderId, uids, wanted));
      let at = 0;
      for (const { part, page } of group) {
        const from = at;
        while (at < rows.length && pageOf(rows[at]!.uid) === part.number) at++;
        page.add(rows.slice(from, at));
      }
    });
    const settled = loading.catch(() => {});
    for (const { page } of group) page.loading = settled;
    try {
      await loading;
    } finally {
      for (const { page } of group) {
        page.loading = undefined;
        this.#cache.close(page);
      }
    }
  }

  /** Adds the index to a header whose raw octets need the charset of a text. */
  async #withTextCharsets(
    { accountId, folderId }: FolderKey,
    rows: readonly FolderMessageRow[],
  ): Promise<readonly FolderMessageRow[]> {
    const raw = rows.filter(({ header, indexJson }) => indexJson === undefined && header && needsTextCharset(header));
    if (raw.length === 0) return rows;
    const uids = raw.map(({ uid }) => uid);
    const indexed = await this.#store.rows(accountId, folderId, uids, { header: false, index: true });
    const indexes = new Map(indexed.map(({ uid, indexJson }) => [uid, indexJson]));
    return rows.map((row) => {
      const indexJson = row.indexJson ?? indexes.get(row.uid);
      return indexJson === undefined ? row : { ...row, indexJson };
    });
  }
}

/** UIDs of one page. */
interface Part {
  readonly number: number;
  readonly uids: readonly number[];
}

interface Load {
  readonly part: Part;
  readonly page: MessagePage;
  readonly missing: readonly number[];
}

const pageOf = (uid: number): number => Math.floor(uid / PAGE_UIDS);

const keyOf = ({ folderId }: FolderKey, number: number): string => `${folderId}/${number}`;

const isWanted = (need: boolean | readonly string[] | undefined): boolean => need !== undefined && need !== false;

function partsOf(uids: Uids): Part[] {
  const parts: Part[] = [];
  for (let start = 0, end = 0; start < uids.length; start = end) {
    const number = pageOf(uids[start]!);
    while (end < uids.length && pageOf(uids[end]!) === number) end++;
    parts.push({ number, uids: [...uids.slice(start, end)] });
  }
  return parts;
}

/** Returns groups that one statement reads each: a full page, or several pages of which little is needed. */
function groupsOf(loads: readonly Load[]): Load[][] {
  const groups: Load[][] = [];
  let room = 0;
  for (const load of loads) {
    if (load.missing.length > room) {
      groups.push([]);
      room = PAGE_UIDS;
    }
    groups.at(-1)!.push(load);
    room -= load.missing.length;
  }
  return groups;
}

/** Ends a batch at the end of a page, if one ends within it, so that few pages are read in two parts. */
function endOfBatch(uids: Uids, start: number, most: number): number {
  const end = Math.min(uids.length, start + most);
  if (end === uids.length) return end;
  for (let at = end; at > start; at--) if (pageOf(uids[at - 1]!) !== pageOf(uids[at]!)) return at;
  return end;
}

/** The size of the next batch, if its messages are like these. */
function mostOfBatch(messages: readonly PageMessage[]): number {
  const octets = messages.reduce((sum, { sourceOctets }) => sum + sourceOctets, 0);
  const fitting = Math.floor((BATCH_OCTETS * messages.length) / octets);
  return octets === 0 ? PAGE_UIDS : Math.min(PAGE_UIDS, Math.max(1, fitting));
}
