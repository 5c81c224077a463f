// Octets of a message on their way from a socket to the store, for every gateway that takes messages in: hashed and indexed,
// kept in memory while they are few, else in a file, within one bound for all connections of the node
// (decisions 0006, 0011). Knows nothing of protocols; what is not a message any more is the caller's to discard.
import { mkdir, readdir, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { FixedShares } from '../bounds/fixed-shares.js';
import { SpoolFile, STAGING_BYTES } from './spool-file.js';
import { BodyWriter, SpoolWriter } from './spool-writer.js';

export type { BodyWriter, SpooledContent, SpoolWriter } from './spool-writer.js';

const SUFFIX = '.spool';

export interface SpoolOptions {
  /** See `prepareSpool`. */
  readonly directory: string;
  /** Octets of one message kept in memory. */
  readonly inMemory?: number;
  /** Octets in memory of all messages together. */
  readonly memoryLimit?: number;
  /** Octets in memory of all messages of one holder. */
  readonly memoryShare?: number;
  /** Octets in files of all messages of one holder. */
  readonly diskShare?: number;
  /** Octets of the disk that are free. */
  readonly freeDisk?: () => Promise<number>;
}

/** Makes the directory and empties it of what a process that was killed may have left. */
export async function prepareSpool(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  for (const name of await readdir(directory))
    if (name.endsWith(SUFFIX)) await rm(join(directory, name), { force: true });
}

export class Spool {
  readonly inMemory: number;
  readonly directory: string;
  /** Files have at most half of what is free without them, and one holder's at most half of that: the database needs the rest. */
  readonly disk: FixedShares;
  readonly #freeDisk: () => Promise<number>;
  #diskTotal = Number.POSITIVE_INFINITY;
  readonly #memory: FixedShares;
  #files = 0;

  constructor(options: SpoolOptions) {
    this.directory = options.directory;
    this.inMemory = options.inMemory ?? 262_144;
    const { memoryLimit: total = 67_108_864, memoryShare: share = total / 8 } = options;
    const { diskShare = 1_073_741_824, freeDisk = () => freeOf(this.directory) } = options;
    const diskTotal = (): number => this.#diskTotal;
    this.disk = new FixedShares({
      get total() {
        return diskTotal();
      },
      get share() {
        return Math.min(diskShare, diskTotal() / 2);
      },
    });
    this.#freeDisk = freeDisk;
    this.#memory = new FixedShares({ total, share });
  }

  /** Octets held in memory now. */
  get reserved(): number {
    return this.#memory.held;
  }

  /** `holder`: whose message it is, an account id or the network of an address. */
  writer(holder: string): SpoolWriter {
    return new SpoolWriter(this, holder);
  }

  /** For a message whose header is written last. */
  bodyWriter(holder: string): BodyWriter {
    return new BodyWriter(this, holder);
  }

  /** For octets that are no message: a file from the start, and the caller's to close. @throws SpoolFault */
  file(): Promise<SpoolFile> {
    return SpoolFile.create(this.directory, this.fileName(), STAGING_BYTES);
  }

  /** Looks how much of the disk is free, for a file that was just made. A disk that cannot be asked bounds nothing. */
  async measureDisk(): Promise<void> {
    const free = await this.#freeDisk().catch(() => Number.POSITIVE_INFINITY);
    this.#diskTotal = (this.disk.held + free) / 2;
  }

  /** Whether there was room for so many octets. */
  reserve(holder: string, octets: number): boolean {
    return this.#memory.tryTake(holder, octets) === undefined;
  }

  unreserve(holder: string, octets: number): void {
    this.#memory.give(holder, octets);
  }

  fileName(): string {
    return `${process.pid}-${++this.#files}${SUFFIX}`;
  }
}

async function freeOf(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}
