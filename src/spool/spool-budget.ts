// How much of memory and disk the messages in the spool may use, all together and by holder, and what the spool's files are
// called. Every writer of the spool takes from this budget what it keeps, and gives it back.
import { statfs } from 'node:fs/promises';
import { FixedShares } from '../bounds/fixed-shares.js';

export const SUFFIX = '.spool';

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

export class SpoolBudget {
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
