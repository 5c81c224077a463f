// One session's view of the selected mailbox: which message has which sequence number for the client, and what the client has
// not been sent yet. Pure: the mirror is what there is, the view is what the client knows of it.
import type { SequenceSet } from '../grammar/sequence-set.js';
import type { FlagChange, FolderMirror } from './folder-mirror.js';

export interface ViewUpdates {
  /** Expunged messages, ascending by sequence number as the client knows them before any of them is sent. */
  readonly expunged: readonly { readonly seq: number; readonly uid: number }[];
  /** The new number of messages when it has grown. */
  readonly exists: number | undefined;
  /** Positions (sequence number less 1, after the above) whose flags changed. */
  readonly flagged: readonly number[];
}

export interface FolderView {
  readonly mirror: FolderMirror;
  /** How many messages the client knows of, those included that are expunged and not sent yet. */
  readonly count: number;
  /** Of all these messages, valid up to `count`; the mirror's own array while no expunge waits to be sent. */
  readonly uids: Uint32Array;
  /** By position: sequence number less 1. */
  uidAt(position: number): number;
  /** Perhaps a part of `uids`. */
  uidsAt(positions: Uint32Array): Uint32Array;
  /** Those of the positions whose messages were not expunged. */
  presentAt(positions: Uint32Array): Uint32Array;
  /** Those of the positions whose messages have changed after the modseq and were not expunged. */
  changedAfter(modseq: number, positions: Uint32Array): Uint32Array;
  /** -1 when the client knows of no such message. */
  positionOf(uid: number): number;
  /** The index in the mirror; -1 when the message was expunged meanwhile. */
  indexAt(position: number): number;
  /**
   * Positions that a set names, ascending, each once; UIDs that are not there are passed over.
   * @throws Refused BAD when a sequence number is beyond the mailbox
   */
  resolve(set: SequenceSet, isUid: boolean, saved: readonly number[]): Uint32Array;
  /** The client has been sent everything up to this modseq; it may know of more. */
  readonly sentModseq: number;
  /** Whether an expunge waits to be sent. */
  readonly hasExpunged: boolean;
  /**
   * What the client is to be sent now; it counts as sent. Without `mayExpunge` expunges wait, without `maySendFlags` flags; so
   * do flags of too many messages.
   */
  takeUpdates(mayExpunge: boolean, maySendFlags?: boolean): ViewUpdates;
  /** Whether flags wait that `takeUpdates` left for the next time because they are many. */
  readonly hasPendingFlags: boolean;
  /** Whether messages of the folder have keywords that the client has not been sent; they count as sent. */
  takeNewKeywords(): boolean;
  /** The client knows the flags of these messages as they are in the mirror now: FETCH of FLAGS. */
  markFlagsSent(uids: ArrayLike<number>): void;
  /** The client may not know the flags of these messages, though they count as sent. */
  markFlagsUnknown(uids: ArrayLike<number>): void;
  /**
   * Before a STORE with .SILENT; `uids` ascend. Call the result when the mirror has the outcome: the client knows the flags of those
   * messages that have become as it expects; where another session changed flags too, they are sent. `isAlone`: nothing but this
   * change has changed the folder meanwhile.
   */
  expectFlags(uids: ArrayLike<number>, change: FlagChange): (isAlone: boolean) => void;
  close(): void;
}
