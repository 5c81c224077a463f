// The messages of a selected folder as this node knows them: columns in UID order. All sessions of the node that selected the folder
// share them, and they are updated from the owner of the mailbox (query `folderChanges`).

import type { PositionSet } from './position-set.js';

export interface FlagChange {
  readonly mode: 'add' | 'remove' | 'replace';
  /** System flags with their backslash, and keywords. */
  readonly flags: readonly string[];
}

/** A change that was stored. */
export interface StoredFlags extends FlagChange {
  /** Keywords of `flags` as the account spells them; undefined when the owner has not reported it. */
  readonly keywords?: readonly string[] | undefined;
}

/** HIGHESTMODSEQ of a folder before a command and after it. */
export interface FolderModseqs {
  readonly before: number;
  readonly after: number;
}

export interface FolderMirror {
  readonly accountId: string;
  readonly folderId: string;
  readonly uidValidity: number;
  readonly uidNext: number;
  /** HIGHESTMODSEQ. */
  readonly modseq: number;
  readonly count: number;
  /** Ascending and valid up to `count`. The valid part never changes: expunges replace the array. */
  readonly uids: Uint32Array;
  /** Whether the folder is deleted. */
  readonly isGone: boolean;
  /** The modseq of the newest expunge that the mirror knows of; 0 for none. */
  readonly expungedAt: number;
  /** Returns the index of the first UID that is not below this one; `count` when there is none. */
  indexOf(uid: number): number;
  /** Returns bits of mail/flags. */
  flagsAt(index: number): number;
  /** Returns bits of mail/flags, and `DELETED_BIT`. */
  bitsAt(index: number): number;
  /** Returns the indexes of the messages that now have the bit, which is one of `bitsAt`. */
  withBit(bit: number): PositionSet;
  isDeletedAt(index: number): boolean;
  keywordsAt(index: number): readonly string[];
  modseqAt(index: number): number;
  /** All keywords that emails of the folder have, and maybe earlier ones; another object when there are new ones. */
  readonly keywords: ReadonlySet<string>;
  /** Whether the folder may have changed since the last `sync`: an event reported it, or events may have been missed. */
  readonly isStale: boolean;
  /** Whether the owner on this node knows that nothing has changed since the last `sync`, so that `sync` would find nothing. */
  readonly isCurrent: boolean;
  /** Reports a change at this modseq: the mirror becomes stale if it lacks the change. */
  changedAt(modseq: number): void;
  /**
   * Applies a change of flags that the owner has stored for these ascending UIDs, without asking the owner. Returns false when that needs
   * more knowledge: call `sync` then. `modseqs` is undefined when the owner does not report them.
   */
  takeFlags(uids: ArrayLike<number>, change: StoredFlags, modseqs: FolderModseqs | undefined): boolean;
  /** Asks the owner for changes; concurrent calls share the request. @throws ActorFault */
  sync(): Promise<void>;
  /**
   * Calls back after each `sync` that changed something. The mirror syncs whenever it is stale, until the returned function is
   * called.
   */
  watch(callback: () => void): () => void;
  close(): void;
}
