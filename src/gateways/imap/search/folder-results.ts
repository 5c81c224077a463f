// What searches, SORT and THREAD made of all messages of a folder, kept with their UIDs: messages never change, so a result stays
// right for these messages until others come. Bounded in octets; an account alone has all, beside others half.
import type { FolderKey } from '../messages/message-source.js';
import { type CacheEntry, OctetCache } from '../messages/octet-cache.js';

/** What results of this name are. */
export interface ResultKind<T> {
  readonly name: string;
  octetsOf(value: T): number;
}

export interface FolderResult<T> {
  /** Of the messages of which it was made, ascending. */
  readonly uids: Uint32Array;
  readonly value: T;
}

/** Of the bound, that one result may take. */
const MOST_OF_ALL = 1 / 4;
/** Of an entry beside its columns. */
const ENTRY_OCTETS = 500;

export class FolderResults {
  readonly #maxOctets: number;
  readonly #cache: OctetCache<CacheEntry & FolderResult<unknown>>;

  constructor(maxOctets: number) {
    this.#maxOctets = maxOctets;
    this.#cache = new OctetCache(maxOctets);
  }

  get<T>({ accountId, folderId }: FolderKey, { name }: ResultKind<T>): FolderResult<T> | undefined {
    // A name is of one kind.
    return this.#cache.get(accountId, `${folderId}/${name}`) as FolderResult<T> | undefined;
  }

  /** A result that is too large is not kept. */
  keep<T>({ accountId, folderId }: FolderKey, { name, octetsOf }: ResultKind<T>, uids: Uint32Array, value: T): void {
    const octets = ENTRY_OCTETS + uids.byteLength + octetsOf(value);
    if (octets > this.#maxOctets * MOST_OF_ALL) return;
    this.#cache.keep({ accountId, key: `${folderId}/${name}`, octets, worth: 1, uids, value });
  }
}
