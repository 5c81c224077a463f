// Copies of blobs that this node has read, in one file that has no name: it is unlinked as soon as it is open, so nothing of it
// outlives the node. New copies go over the oldest ones. Blobs that were read together lie side by side, so they are read
// again by one call of the system, mostly from its memory. Nothing depends on a copy: the store has every blob.
import { readSync } from 'node:fs';
import { type FileHandle, mkdir, open, statfs, unlink } from 'node:fs/promises';
import { join } from 'node:path';

interface Copy {
  readonly offset: number;
  readonly length: number;
}

/** Octets of one reading, and of a gap that is read along. */
const RUN_OCTETS = 4 * 1024 * 1024;
const GAP_OCTETS = 32 * 1024;
/** Octets that wait to be written; what comes beyond is not kept. */
const WAITING_OCTETS = 16 * 1024 * 1024;
/** Octets that are written at once without waiting for more, and ms that fewer wait: a call of the system each would cost more. */
const GROUP_OCTETS = 512 * 1024;
const GROUP_MS = 50;
/** Octets of one reading that does not pass the thread pool: what the system has in its memory takes less time than the way there. */
const SHORT_OCTETS = 64 * 1024;
/**
 * ms of a reading from the disk. Readings pass the thread pool for a while then: one in that time may hold up the event loop. One
 * that took as long because others had the processor says nothing of the disk. And ms after which the rest of a call passes the
 * pool: many short readings take long too.
 */
const SLOW_MS = 5;
const PATIENT_MS = 10_000;
const NAME = 'blobs';

export class BlobDiskCache {
  readonly #handle: FileHandle;
  readonly #capacity: number;
  /** By hash, oldest first: these lie right behind the position. */
  readonly #copies = new Map<string, Copy>();
  #position = 0;
  /** Octets that are not written yet, those of `#group` among them. */
  #waiting = 0;
  /** What is written together with what comes soon. */
  #group = new Map<string, Uint8Array>();
  #groupOctets = 0;
  #groupEnds: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #isBroken = false;
  /** Until when all readings pass the thread pool, by the clock of `performance`. */
  #patientUntil = 0;
  /** By this process from disks, when a reading was slow the last time. */
  #blocksRead = blocksRead();

  private constructor(handle: FileHandle, capacity: number) {
    this.#handle = handle;
    this.#capacity = capacity;
  }

  /** `maxOctets`: of the file, which never takes more than a tenth of what is free. */
  static async open(directory: string, maxOctets: number): Promise<BlobDiskCache> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const { bavail, bsize } = await statfs(directory);
    const path = join(directory, NAME);
    const handle = await open(path, 'w+', 0o600);
    await unlink(path);
    return new BlobDiskCache(handle, Math.min(maxOctets, Math.floor((bavail * bsize) / 10)));
  }

  /** Copies of those that are there; each is a part of a larger buffer. */
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
        // What was written over meanwhile is not the blob.
        if (this.#copies.get(hash) !== copy) continue;
        found.set(hash, octets.subarray(copy.offset - start, copy.offset - start + copy.length));
      }
    }
    return found;
  }

  /** Keeps copies of them soon, unless too many wait. */
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
        // The disk is full, or broken: the store gives what is missing.
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

  /** All that was given to `keep` is there. */
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
    // The disk has become full within the call. A hole behind what was written would read as zeros.
    if (bytesWritten !== octets) throw new Error('a part of the copies was not written');
    for (const [hash, { length }] of blobs) {
      if (!this.#copies.has(hash)) this.#copies.set(hash, { offset, length });
      offset += length;
    }
  }

  /** Copies in [start, end), which are the oldest, before others are written there. */
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

  /** Since it was asked before. */
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
      // The store gives what cannot be read.
      return 0;
    }
  }
}

function blocksRead(): number {
  return process.resourceUsage().fsRead;
}

/** To be read along with [start, end). */
function isNear({ offset, length }: Copy, start: number, end: number): boolean {
  return offset - end <= GAP_OCTETS && offset + length - start <= RUN_OCTETS;
}
