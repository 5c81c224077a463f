// Holds octets for a while: in memory while they are few and the spool has room, otherwise in a file (decision 0011). When the
// memory is used up, messages become slower but none is refused; when a share of the disk is used up, messages are refused.
import type { Reservation } from '../../concurrency/keyed-limiter.js';
import { SpoolFault } from './errors.js';
import type { SpoolBudget } from './spool-budget.js';
import { SpoolFile, STAGING_BYTES } from './spool-file.js';

/** Pieces shorter than this are joined: a separate Buffer costs more than its octets. */
const SMALL_PIECE = 1024;
const JOINED_BYTES = 8192;

/** The caller ends it either with `discard`, or with `finish` and a later `discard`. */
export class SpoolHold {
  readonly #budget: SpoolBudget;
  readonly #memory: Reservation;
  readonly #disk: Reservation;
  #pieces: Uint8Array[] = [];
  /** A buffer of copied small pieces; `#joinedBytes` of it are in use. */
  #joined: Buffer | undefined;
  #joinedBytes = 0;
  #file: SpoolFile | undefined;
  #size = 0;
  #discarded = false;
  /** The last write that returned a promise. */
  #writing: Promise<void> | undefined;

  constructor(budget: SpoolBudget, key: string) {
    this.#budget = budget;
    this.#memory = budget.memory.charge(key, 0);
    this.#disk = budget.disk.charge(key, 0);
  }

  /**
   * The caller must not change the chunk afterwards. Returns a promise when the caller has to wait for it before the next write.
   * Throws and rejects with SpoolFault.
   */
  write(chunk: Uint8Array): Promise<void> | undefined {
    this.#size += chunk.length;
    if (this.#file !== undefined) {
      this.#reserveDisk(chunk.length);
      this.#writing = this.#file.write(chunk);
    } else if (this.#size > this.#budget.inMemory || !this.#memory.grow(chunk.length)) {
      this.#writing = this.#toFile(chunk);
    } else this.#keep(chunk);
    return this.#writing;
  }

  get isInMemory(): boolean {
    return this.#file === undefined;
  }

  /** Ends the writing. @throws SpoolFault after it has discarded everything. */
  async finish(): Promise<void> {
    try {
      // A stream may end even though it was paused during its last chunk.
      await this.#writing;
      await this.#file?.flush();
    } catch (error) {
      this.discard();
      throw error;
    }
    this.#endJoined();
  }

  /** Returns everything but the first `from` octets. Can be called repeatedly between `finish` and `discard`. */
  chunks(from = 0): Iterable<Uint8Array> | AsyncIterable<Uint8Array> {
    return this.#file?.chunks(from) ?? behind(this.#pieces, from);
  }

  /** Releases memory and file; may be called again. */
  discard(): void {
    if (this.#discarded) return;
    this.#discarded = true;
    this.#pieces = [];
    this.#joined = undefined;
    this.#memory.release();
    this.#disk.release();
    void this.#file?.close();
  }

  #reserveDisk(octets: number): void {
    if (this.#disk.grow(octets)) return;
    const { key } = this.#disk;
    const isOfKey = this.#budget.disk.exhausted(key, octets) === 'share';
    throw new SpoolFault(
      'spool-full',
      isOfKey ? `${key} has its share of the spool's disk` : 'the spool has its half of the free disk',
    );
  }

  #keep(chunk: Uint8Array): void {
    if (chunk.length >= SMALL_PIECE) {
      this.#endJoined();
      this.#pieces.push(chunk);
      return;
    }
    if (this.#joined === undefined || this.#joinedBytes + chunk.length > this.#joined.length) {
      this.#endJoined();
      this.#joined = Buffer.allocUnsafe(JOINED_BYTES);
    }
    this.#joined.set(chunk, this.#joinedBytes);
    this.#joinedBytes += chunk.length;
  }

  #endJoined(): void {
    if (this.#joined !== undefined && this.#joinedBytes > 0)
      this.#pieces.push(this.#joined.subarray(0, this.#joinedBytes));
    this.#joined = undefined;
    this.#joinedBytes = 0;
  }

  async #toFile(chunk: Uint8Array): Promise<void> {
    const isStaged = this.#memory.amount >= STAGING_BYTES || this.#memory.resize(STAGING_BYTES);
    const staging = isStaged ? STAGING_BYTES : 0;
    const file = await SpoolFile.create(this.#budget.directory, this.#budget.fileName(), staging);
    if (this.#discarded) {
      await file.close();
      return;
    }
    this.#file = file;
    await this.#budget.measureDisk();
    if (this.#discarded) return;
    this.#reserveDisk(this.#size);
    this.#endJoined();
    for (const piece of this.#pieces) {
      await file.write(piece);
      // A connection may break during a write to the disk; `discard` has then released the reservation.
      if (this.#discarded) return;
    }
    this.#pieces = [];
    this.#memory.resize(staging);
    await file.write(chunk);
  }
}

function behind(pieces: readonly Uint8Array[], from: number): readonly Uint8Array[] {
  if (from === 0) return pieces;
  let before = from;
  return pieces.flatMap((piece) => {
    const kept = piece.subarray(Math.min(before, piece.length));
    before -= piece.length - kept.length;
    return kept.length === 0 ? [] : [kept];
  });
}
