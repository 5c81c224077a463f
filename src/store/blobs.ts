// Port: immutable bytes of messages, content-addressed by SHA-256, stored once however many emails refer to them.
import { createHash } from 'node:crypto';
import type { MessageIndex, OctetRange } from '../mail/message-index.js';
import { indexMessage } from '../mail/mime-index/indexer.js';

/** Bytes ready to be stored: in memory when small, else readable any number of times from a spool file. */
export interface BlobContent {
  /** SHA-256 of the bytes, 64 lower-case hex digits. */
  readonly hash: string;
  /** Octets. */
  readonly size: number;
  readonly index: MessageIndex;
  /** The bytes from the start, in pieces of any size. */
  chunks(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Larger ones are written piece by piece, each by a transaction of its own. */
const SMALL_OCTETS = 256 * 1024;

/** Whether the bytes may be held back for a commit that others share. */
export function isSmall({ size }: Pick<BlobContent, 'size'>): boolean {
  return size <= SMALL_OCTETS;
}

/** What may be held back together for one commit. */
const MOST_HELD = 100;
const MOST_HELD_OCTETS = 512 * 1024;

/** Whether the bytes of several may be held back for one commit. */
export function areSmall(contents: readonly Pick<BlobContent, 'size'>[]): boolean {
  const octets = contents.reduce((sum, { size }) => sum + size, 0);
  return fitOneCommit(contents.length, octets) && contents.every(isSmall);
}

/** Whether so many small ones may be held back for one commit. `octets`: of all of them. */
export function fitOneCommit(count: number, octets: number): boolean {
  return count <= MOST_HELD && octets <= MOST_HELD_OCTETS;
}

/** A message that is in memory as a whole, and stays unchanged. */
export function blobOf(bytes: Uint8Array): BlobContent {
  const hash = createHash('sha256').update(bytes).digest('hex');
  return { hash, size: bytes.length, index: indexMessage(bytes), chunks: () => [bytes] };
}

export interface BlobStore {
  /**
   * Stores the bytes and their index, at once when they are there already. They survive a crash once what refers to them is
   * committed. What nothing refers to within the grace period of `collect` is deleted again. @throws StoreFault
   */
  put(content: BlobContent): Promise<void>;
  /** The MIME index of a blob; undefined when there is no such blob. */
  index(hash: string): Promise<MessageIndex | undefined>;
  /** The MIME indexes of blobs by hash, of those that are there. */
  indexes(hashes: readonly string[]): Promise<ReadonlyMap<string, MessageIndex>>;
  /** Octets [start, end) in one buffer; meant for slices of a bounded size. */
  read(hash: string, start: number, end: number): Promise<Uint8Array>;
  /**
   * Octets of ranges, which ascend and do not overlap, each in a buffer of its own that is the caller's; few statements,
   * however many ranges. Rejects with the reason of `signal` once that aborts.
   */
  readRanges(hash: string, ranges: readonly OctetRange[], signal?: AbortSignal): Promise<readonly Uint8Array[]>;
  /** Whole blobs by hash, those that are there; meant for many small ones. */
  readAll(hashes: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Octets [start, end) piece by piece, at most 256 kB in memory; pulled, so a slow reader holds it back. */
  stream(hash: string, start: number, end: number): AsyncIterable<Uint8Array>;
  /** Deletes blobs that nothing has referred to for `graceMs`; returns how many. */
  collect(graceMs: number, limit: number): Promise<number>;
}
