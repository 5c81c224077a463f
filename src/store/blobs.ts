// Port: the immutable bytes of messages, addressed by SHA-256 and stored once, however many emails refer to them.
import { createHash } from 'node:crypto';
import type { MessageIndex, OctetRange } from '../mail-format/message-index.js';
import { indexMessage } from '../mail-format/mime-index/indexer.js';

/** Bytes ready to be stored: in memory when small, otherwise in a spool file that can be read repeatedly. */
export interface BlobContent {
  /** SHA-256 of the bytes, 64 lower-case hex digits. */
  readonly hash: string;
  /** Octets. */
  readonly size: number;
  readonly index: MessageIndex;
  /** The index as JSON, where it is known. */
  readonly indexJson?: string;
  /** The bytes from the start, in pieces of any size. */
  chunks(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Larger blobs are written in pieces, each blob in its own transaction. */
const SMALL_OCTETS = 256 * 1024;

/** Whether the blob may wait for a commit that it shares with others. */
export function isSmall({ size }: Pick<BlobContent, 'size'>): boolean {
  return size <= SMALL_OCTETS;
}

/** Bounds of the blobs that wait together for one commit. */
const MOST_HELD = 100;
const MOST_HELD_OCTETS = 512 * 1024;

/** Whether several blobs may wait together for one commit. */
export function areSmall(contents: readonly Pick<BlobContent, 'size'>[]): boolean {
  const octets = contents.reduce((sum, { size }) => sum + size, 0);
  return fitOneCommit(contents.length, octets) && contents.every(isSmall);
}

/** Whether this many small blobs may wait for one commit. `octets`: of all of them. */
export function fitOneCommit(count: number, octets: number): boolean {
  return count <= MOST_HELD && octets <= MOST_HELD_OCTETS;
}

/** Makes the blob of a message that is completely in memory; the bytes must not change. */
export function blobOf(bytes: Uint8Array): BlobContent {
  const hash = createHash('sha256').update(bytes).digest('hex');
  return { hash, size: bytes.length, index: indexMessage(bytes), chunks: () => [bytes] };
}

export interface BlobStore {
  /**
   * Stores the bytes and their index; returns at once when they are stored already. They survive a crash once the row that refers
   * to them is committed. A blob without a reference is deleted after the grace period of `collect`. @throws StoreFault
   */
  put(content: BlobContent): Promise<void>;
  /** The MIME index of a blob; undefined when there is no such blob. */
  index(hash: string): Promise<MessageIndex | undefined>;
  /** The MIME indexes by hash of those blobs that exist. */
  indexes(hashes: readonly string[]): Promise<ReadonlyMap<string, MessageIndex>>;
  /** Octets [start, end) in one buffer; meant for slices of a bounded size. */
  read(hash: string, start: number, end: number): Promise<Uint8Array>;
  /**
   * Octets of ranges that ascend and do not overlap, each in its own buffer, which the caller owns. It uses few statements,
   * however many ranges there are. Rejects with the reason of `signal` once that aborts.
   */
  readRanges(hash: string, ranges: readonly OctetRange[], signal?: AbortSignal): Promise<readonly Uint8Array[]>;
  /** Whole blobs by hash, those that exist; meant for many small ones. */
  readAll(hashes: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Octets [start, end) in pieces, at most 256 kB in memory; a slow reader slows the reading down. */
  stream(hash: string, start: number, end: number): AsyncIterable<Uint8Array>;
  /** Looks at up to `limit` candidates, deletes those that had no reference for `graceMs`, and returns how many it has looked at. */
  collect(graceMs: number, limit: number): Promise<number>;
}
