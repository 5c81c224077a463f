// Results of searches, SORT and THREAD over all messages of a folder, cached with their UIDs. Messages never change, so a result is
// valid for these messages until others arrive. The octets are bounded; an account alone may use all, otherwise half.
import type { FolderKey } from '../messages/message-source.js';
import { type CacheEntry, OctetCache } from '../messages/octet-cache.js';

/** The type of the results with this name. */
export interface ResultKind<T> {
  readonly name: string;
  octetsOf(value: T): number;
}

export interface FolderResult<T> {
  /** The ascending UIDs of the messages from which the result was made. */
  readonly uids: Uint32Array;
  readonly value: T;
}

/** The largest share of the bound that one result may take. */
const MOST_OF_ALL = 1 / 4;
/** Memory of an entry without its columns. */
const ENTRY_OCTETS = 500;

export class FolderResults {
  readonly #maxOctets: number;
  readonly #cache: OctetCache<CacheEntry & FolderResult<unknown>>;

  constructor(maxOctets: number) {
    this.#maxOctets = maxOctets;
    this.#cache = new OctetCache(maxOctets);
  }

  get<T>({ accountId, folderId }: FolderKey, { name }: ResultKind<T>): FolderResult<T> | undefined {
    // All results of one name have the same type.
    return this.#cache.get(accountId, `${folderId}/${name}`) as FolderResult<T> | undefined;
  }

  /** Caches the result unless it is too large. */
  keep<T>({ accountId, folderId }: FolderKey, { name, octetsOf }: ResultKind<T>, uids: Uint32Array, value: T): void {
    const octets = ENTRY_OCTETS + uids.byteLength + octetsOf(value);
    if (octets > this.#maxOctets * MOST_OF_ALL) return;
    this.#cache.keep({ accountId, key: `${folderId}/${name}`, octets, worth: 1, uids, value });
  }
}
