// The messages of a selected folder, as this node knows them: columns in UID order, shared by all sessions of the node that have the
// folder selected, and brought up to date from the owner of the mailbox (query `folderChanges`).

import type { PositionSet } from './position-set.js';

export interface FlagChange {
  readonly mode: 'add' | 'remove' | 'replace';
  /** System flags with their backslash, and keywords. */
  readonly flags: readonly string[];
}

/** A change that was stored. */
export interface StoredFlags extends FlagChange {
  /** Keywords of `flags` as the account spells them; undefined where the owner has not said so. */
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
  /** Ascending; valid up to `count`. Never changed where it is valid: expunges replace the array. */
  readonly uids: Uint32Array;
  /** The folder is deleted. */
  readonly isGone: boolean;
  /** Modseq of the newest expunge that the mirror knows of; 0 for none. */
  readonly expungedAt: number;
  /** The position of the first UID that is not below this one; `count` when there is none. */
  indexOf(uid: number): number;
  /** Bits of mail/flags. */
  flagsAt(index: number): number;
  /** Bits of mail/flags, and `DELETED_BIT`. */
  bitsAt(index: number): number;
  /** Indexes of the messages that have the bit, which is one of those of `bitsAt`, as it is now. */
  withBit(bit: number): PositionSet;
  /** The index of the first of these messages (UIDs, ascending) where all are there and no UID is missing between them; else -1. */
  startOfRun(uids: ArrayLike<number>): number;
  isDeletedAt(index: number): boolean;
  keywordsAt(index: number): readonly string[];
  modseqAt(index: number): number;
  /** All keywords that emails of the folder have, and perhaps some that they had; another object when there are new ones. */
  readonly keywords: ReadonlySet<string>;
  /** The folder may have changed since the last `sync`: an event said so, or events may have been missed. */
  readonly isStale: boolean;
  /** Nothing has changed since the last `sync`, as the owner on this node knows: `sync` would bring nothing. */
  readonly isCurrent: boolean;
  /** The folder has changed at this modseq: it is stale if the mirror does not have the change. */
  changedAt(modseq: number): void;
  /**
   * Takes in a change of flags that the owner has stored for these messages (UIDs, ascending), without a question. False where that
   * needs more than is known here: `sync` then. `modseqs`: undefined where the owner does not say them.
   */
  takeFlags(uids: ArrayLike<number>, change: StoredFlags, modseqs: FolderModseqs | undefined): boolean;
  /** Asks the owner for what changed; calls at the same time share the question. @throws ActorFault */
  sync(): Promise<void>;
  /**
   * Calls back after each `sync` that changed something. The mirror syncs whenever it is stale, until the returned function is
   * called.
   */
  watch(callback: () => void): () => void;
  close(): void;
}
