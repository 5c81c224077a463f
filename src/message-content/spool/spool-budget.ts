// How much memory and disk the messages in the spool may use, in total and by key (an account or a network), and how the files of the spool
// are named. Each writer of the spool reserves what it keeps.
import { statfs } from 'node:fs/promises';
import { KeyedLimiter } from '../../concurrency/keyed-limiter.js';
import { fixedShare } from '../../concurrency/share-policies.js';

export const SUFFIX = '.spool';

export interface SpoolOptions {
  /** See `prepareSpool`. */
  readonly directory: string;
  /** Octets of one message kept in memory. */
  readonly inMemory?: number;
  /** Octets in memory of all messages together. */
  readonly memoryLimit?: number;
  /** Octets in memory of all messages of one key. */
  readonly memoryShare?: number;
  /** Octets in files of all messages of one key. */
  readonly diskShare?: number;
  /** Returns the free octets of the disk. */
  readonly freeDisk?: () => Promise<number>;
}

export class SpoolBudget {
  readonly inMemory: number;
  readonly directory: string;
  /** Octets in memory. */
  readonly memory: KeyedLimiter;
  /**
   * Octets in files: at most half of the disk that would be free without them, and of one key at most half of that. The database needs
   * the rest.
   */
  readonly disk: KeyedLimiter;
  readonly #freeDisk: () => Promise<number>;
  #diskTotal = Number.POSITIVE_INFINITY;
  #files = 0;

  constructor(options: SpoolOptions) {
    this.directory = options.directory;
    this.inMemory = options.inMemory ?? 262_144;
    const { memoryLimit: total = 67_108_864, memoryShare: share = total / 8 } = options;
    const { diskShare = 1_073_741_824, freeDisk = () => freeOf(this.directory) } = options;
    const diskTotal = (): number => this.#diskTotal;
    const diskPolicy = fixedShare({
      get total() {
        return diskTotal();
      },
      get share() {
        return Math.min(diskShare, diskTotal() / 2);
      },
    });
    this.disk = new KeyedLimiter(diskPolicy);
    this.#freeDisk = freeDisk;
    this.memory = new KeyedLimiter(fixedShare({ total, share }));
  }

  /** Measures the free disk for a new file. A disk that cannot be measured sets no limit. */
  async measureDisk(): Promise<void> {
    const free = await this.#freeDisk().catch(() => Number.POSITIVE_INFINITY);
    this.#diskTotal = (this.disk.used + free) / 2;
  }

  fileName(): string {
    return `${process.pid}-${++this.#files}${SUFFIX}`;
  }
}

async function freeOf(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}
