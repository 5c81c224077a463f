// One session's view of the selected mailbox: the sequence numbers of messages for the client, and the changes that the client has
// not been sent yet. It is pure: the mirror is the actual state, the view is what the client knows of it.
import type { SequenceSet } from '../grammar/sequence-set.js';
import type { FlagChange, FolderMirror } from './folder-mirror.js';

export interface ViewUpdates {
  /** Expunged messages, ascending by the sequence numbers that the client knew before any of them is sent. */
  readonly expunged: readonly { readonly seq: number; readonly uid: number }[];
  /** The new number of messages when it has grown. */
  readonly exists: number | undefined;
  /** Positions (sequence number - 1, after the changes above) whose flags changed. */
  readonly flagged: readonly number[];
}

export interface FolderView {
  readonly mirror: FolderMirror;
  /** The number of messages that the client knows, including expunged ones that were not sent yet. */
  readonly count: number;
  /** UIDs of all these messages, valid up to `count`; the mirror's own array while no expunge waits to be sent. */
  readonly uids: Uint32Array;
  /** Returns the UID at a position, which is the sequence number - 1. */
  uidAt(position: number): number;
  /** The result may be a slice of `uids`. */
  uidsAt(positions: Uint32Array): Uint32Array;
  /** Returns the positions whose messages were not expunged. */
  presentAt(positions: Uint32Array): Uint32Array;
  /** Returns the positions whose messages have changed after the modseq and were not expunged. */
  changedAfter(modseq: number, positions: Uint32Array): Uint32Array;
  /** Returns -1 when the client does not know such a message. */
  positionOf(uid: number): number;
  /** Returns the index in the mirror; -1 when the message was expunged. */
  indexAt(position: number): number;
  /**
   * Returns the positions that a set names, ascending, each once; UIDs that do not exist are skipped.
   * @throws Refused BAD when a sequence number is beyond the mailbox
   */
  resolve(set: SequenceSet, isUid: boolean, saved: readonly number[]): Uint32Array;
  /** The client has been sent everything up to this modseq; it may know more. */
  readonly sentModseq: number;
  /** Whether an expunge waits to be sent. */
  readonly hasExpunged: boolean;
  /**
   * Returns what the client must be sent now and counts it as sent. Without `mayExpunge`, expunges wait; without `maySendFlags`, flags
   * wait, as do flags beyond a limit.
   */
  takeUpdates(mayExpunge: boolean, maySendFlags?: boolean): ViewUpdates;
  /** Whether `takeUpdates` left flags for the next call because they are many. */
  readonly hasPendingFlags: boolean;
  /** Tells whether messages have keywords that the client has not been sent, and counts them as sent. */
  takeNewKeywords(): boolean;
  /** The client knows the present flags of these messages in the mirror: FETCH of FLAGS. */
  markFlagsSent(uids: ArrayLike<number>): void;
  /** The client may not know the flags of these messages, although they count as sent. */
  markFlagsUnknown(uids: ArrayLike<number>): void;
  /**
   * Call it before a STORE with .SILENT; `uids` ascend. Call the result when the mirror has the outcome: flags that have become as
   * the client expects are known to it; others, changed by another session, are sent. `isAlone` says that nothing else has
   * changed the folder since.
   */
  expectFlags(uids: ArrayLike<number>, change: FlagChange): (isAlone: boolean) => void;
  close(): void;
}
