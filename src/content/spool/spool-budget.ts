// How much memory and disk the messages in the spool may use, in total and per holder, and how the files of the spool are named.
// Each writer of the spool takes what it keeps from this budget, and gives it back.
import { statfs } from 'node:fs/promises';
import { FixedShares } from '../../work/fixed-shares.js';

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
  /** Returns the free octets of the disk. */
  readonly freeDisk?: () => Promise<number>;
}

export class SpoolBudget {
  readonly inMemory: number;
  readonly directory: string;
  /**
   * Files use at most half of the disk that would be free without them, and one holder at most half of that: the database needs
   * the rest.
   */
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

  /** Octets that are held in memory now. */
  get reserved(): number {
    return this.#memory.held;
  }

  /** Measures the free disk for a new file. A disk that cannot be measured sets no limit. */
  async measureDisk(): Promise<void> {
    const free = await this.#freeDisk().catch(() => Number.POSITIVE_INFINITY);
    this.#diskTotal = (this.disk.held + free) / 2;
  }

  /** Reserves memory; returns whether there was room for the octets. */
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
