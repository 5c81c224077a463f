// Copies of blobs that this node has read, in one file without a name: it is unlinked as soon as it is open, so nothing of it
// outlives the node. New copies overwrite the oldest ones. Blobs that were read together are stored next to each other, so one
// system call reads them again, mostly from the page cache. Nothing depends on a copy: the store has every blob.
import { readSync } from 'node:fs';
import { type FileHandle, mkdir, open, statfs, unlink } from 'node:fs/promises';
import { join } from 'node:path';

interface Copy {
  readonly offset: number;
  readonly length: number;
}

/** Octets of one read at most, and of a gap between two copies that one read includes. */
const RUN_OCTETS = 4 * 1024 * 1024;
const GAP_OCTETS = 32 * 1024;
/** Octets that may wait to be written; blobs beyond them are not cached. */
const WAITING_OCTETS = 16 * 1024 * 1024;
/** A group is written when it has this many octets, or after this many ms: one system call per blob would cost more. */
const GROUP_OCTETS = 512 * 1024;
const GROUP_MS = 50;
/** A read of at most this many octets bypasses the thread pool: a read from the page cache takes less time than the pool. */
const SHORT_OCTETS = 64 * 1024;
/**
 * A synchronous read of more than SLOW_MS blocks the event loop. If it has read from the disk, all reads use the thread pool for
 * PATIENT_MS; if only other processes had the processor, they do not. Within one call, reads also use the pool after SLOW_MS,
 * because many short reads take long too.
 */
const SLOW_MS = 5;
const PATIENT_MS = 10_000;
const NAME = 'blobs';

export class BlobDiskCache {
  readonly #handle: FileHandle;
  readonly #capacity: number;
  /** Copies by hash, oldest first: the oldest copy lies directly after the write position. */
  readonly #copies = new Map<string, Copy>();
  #position = 0;
  /** Octets that are not yet written, including those of `#group`. */
  #waiting = 0;
  /** Blobs that the next write contains. */
  #group = new Map<string, Uint8Array>();
  #groupOctets = 0;
  #groupEnds: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #isBroken = false;
  /** All reads use the thread pool until this time of `performance.now()`. */
  #patientUntil = 0;
  /** Blocks that this process had read from disks when a read was last slow. */
  #blocksRead = blocksRead();

  private constructor(handle: FileHandle, capacity: number) {
    this.#handle = handle;
    this.#capacity = capacity;
  }

  /** `maxOctets`: size of the file, which never takes more than a tenth of the free disk. */
  static async open(directory: string, maxOctets: number): Promise<BlobDiskCache> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const { bavail, bsize } = await statfs(directory);
    const path = join(directory, NAME);
    const handle = await open(path, 'w+', 0o600);
    await unlink(path);
    return new BlobDiskCache(handle, Math.min(maxOctets, Math.floor((bavail * bsize) / 10)));
  }

  /** Returns the copies that exist; each is a slice of a larger buffer. */
  async read(hashes: readonly string[]): Promise<Map<string, Uint8Array>> {
    const found = new Map<string, Uint8Array>();
    const wanted: { readonly hash: string; readonly copy: Copy }[] = [];
    for (const hash of hashes.length > 1 ? new Set(hashes) : hashes) {
      const copy = this.#copies.get(hash);
      if (copy !== undefined) wanted.push({ hash, copy });
    }
    if (wanted.length > 1) wanted.sort((a, b) => a.copy.offset - b.copy.offset);
    const shortUntil = performance.now() + SLOW_MS;
    for (let from = 0, to = 0; from < wanted.length; from = to) {
      const start = wanted[from]!.copy.offset;
      let end = start;
      do {
        const { offset, length } = wanted[to]!.copy;
        end = offset + length;
        to++;
      } while (to < wanted.length && isNear(wanted[to]!.copy, start, end));
      const reading = this.#run(start, end, shortUntil);
      const octets = reading instanceof Promise ? await reading : reading;
      if (octets === undefined) return found;
      for (const { hash, copy } of wanted.slice(from, to)) {
        // A copy that was overwritten meanwhile is no longer the blob.
        if (this.#copies.get(hash) !== copy) continue;
        found.set(hash, octets.subarray(copy.offset - start, copy.offset - start + copy.length));
      }
    }
    return found;
  }

  /** Schedules copies of the blobs, unless too many wait already. */
  keep(blobs: ReadonlyMap<string, Uint8Array>): void {
    const fresh = [...blobs].filter(
      ([hash, { length }]) => length > 0 && !this.#copies.has(hash) && !this.#group.has(hash),
    );
    const octets = fresh.reduce((sum, [, { length }]) => sum + length, 0);
    if (octets === 0 || octets > this.#capacity / 2 || this.#isBroken) return;
    if (this.#waiting + octets > WAITING_OCTETS) return;
    if (this.#groupOctets + octets > this.#capacity / 2) this.#endGroup();
    this.#waiting += octets;
    this.#groupOctets += octets;
    for (const [hash, bytes] of fresh) this.#group.set(hash, bytes);
    if (this.#groupOctets >= GROUP_OCTETS) this.#endGroup();
    else this.#groupEnds ??= setTimeout(() => this.#endGroup(), GROUP_MS);
  }

  #endGroup(): void {
    clearTimeout(this.#groupEnds);
    this.#groupEnds = undefined;
    const [blobs, octets] = [[...this.#group], this.#groupOctets];
    if (octets === 0) return;
    this.#group = new Map();
    this.#groupOctets = 0;
    this.#writing = this.#writing.then(async () => {
      await this.#write(blobs, octets).catch(() => {
        // The disk is full or broken: the store supplies what is missing.
        this.#isBroken = true;
        this.#copies.clear();
      });
      this.#waiting -= octets;
    });
  }

  async close(): Promise<void> {
    this.#isBroken = true;
    this.#copies.clear();
    await this.settled();
    await this.#handle.close();
  }

  /** Resolves when everything that was given to `keep` is written. */
  settled(): Promise<void> {
    this.#endGroup();
    return this.#writing;
  }

  async #write(blobs: readonly (readonly [string, Uint8Array])[], octets: number): Promise<void> {
    if (this.#isBroken) return;
    if (this.#position + octets > this.#capacity) {
      this.#forget(this.#position, this.#capacity);
      this.#position = 0;
    }
    let offset = this.#position;
    this.#forget(offset, offset + octets);
    this.#position += octets;
    const { bytesWritten } = await this.#handle.writev(
      blobs.map(([, bytes]) => bytes),
      offset,
    );
    // The disk became full during the call. A gap after the written octets would read as zeros.
    if (bytesWritten !== octets) throw new Error('a part of the copies was not written');
    for (const [hash, { length }] of blobs) {
      if (!this.#copies.has(hash)) this.#copies.set(hash, { offset, length });
      offset += length;
    }
  }

  /** Removes the copies in [start, end), which are the oldest, before new ones are written there. */
  #forget(start: number, end: number): void {
    for (const [hash, copy] of this.#copies) {
      if (copy.offset >= end || copy.offset + copy.length <= start) return;
      this.#copies.delete(hash);
    }
  }

  #run(start: number, end: number, shortUntil: number): Buffer | undefined | Promise<Buffer | undefined> {
    const octets = Buffer.allocUnsafeSlow(end - start);
    const began = performance.now();
    if (octets.length <= SHORT_OCTETS && began < shortUntil && began >= this.#patientUntil) {
      const length = this.#readNow(octets, start);
      const now = performance.now();
      if (now - began > SLOW_MS && this.#hasReadDisk()) this.#patientUntil = now + PATIENT_MS;
      return length === octets.length ? octets : undefined;
    }
    return this.#readSoon(octets, start);
  }

  /** Whether this process has read from a disk since the last call. */
  #hasReadDisk(): boolean {
    const before = this.#blocksRead;
    this.#blocksRead = blocksRead();
    return this.#blocksRead !== before;
  }

  async #readSoon(octets: Buffer, start: number): Promise<Buffer | undefined> {
    const { bytesRead } = await this.#handle.read(octets, 0, octets.length, start).catch(() => ({ bytesRead: 0 }));
    return bytesRead === octets.length ? octets : undefined;
  }

  #readNow(octets: Buffer, start: number): number {
    try {
      return readSync(this.#handle.fd, octets, 0, octets.length, start);
    } catch {
      // The store supplies what cannot be read.
      return 0;
    }
  }
}

function blocksRead(): number {
  return process.resourceUsage().fsRead;
}

/** Whether one read can include both this copy and [start, end). */
function isNear({ offset, length }: Copy, start: number, end: number): boolean {
  return offset - end <= GAP_OCTETS && offset + length - start <= RUN_OCTETS;
}
