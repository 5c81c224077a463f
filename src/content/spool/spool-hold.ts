// Holds octets for a while: in memory while they are few and the spool has room, otherwise in a file (decision 0011). When the
// memory is used up, messages become slower but none is refused; when a share of the disk is used up, messages are refused.
import { SpoolFault } from './errors.js';
import type { SpoolBudget } from './spool-budget.js';
import { SpoolFile, STAGING_BYTES } from './spool-file.js';

/** Pieces shorter than this are joined: a separate Buffer costs more than its octets. */
const SMALL_PIECE = 1024;
const JOINED_BYTES = 8192;

/** The caller ends it either with `discard`, or with `finish` and a later `discard`. */
export class SpoolHold {
  readonly #budget: SpoolBudget;
  readonly #holder: string;
  #pieces: Uint8Array[] = [];
  /** A buffer of copied small pieces; `#joinedBytes` of it are in use. */
  #joined: Buffer | undefined;
  #joinedBytes = 0;
  #file: SpoolFile | undefined;
  #size = 0;
  #reserved = 0;
  #onDisk = 0;
  #discarded = false;
  /** The last write that returned a promise. */
  #writing: Promise<void> | undefined;

  constructor(budget: SpoolBudget, holder: string) {
    this.#budget = budget;
    this.#holder = holder;
  }

  /**
   * The caller must not change the chunk afterwards. Returns a promise when the caller has to wait for it before the next write.
   * Throws and rejects with SpoolFault.
   */
  write(chunk: Uint8Array): Promise<void> | undefined {
    this.#size += chunk.length;
    if (this.#file !== undefined) {
      this.#takeDisk(chunk.length);
      this.#writing = this.#file.write(chunk);
    } else if (this.#size > this.#budget.inMemory || !this.#reserve(chunk.length)) {
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
    this.#unreserve(this.#reserved);
    this.#budget.disk.give(this.#holder, this.#onDisk);
    void this.#file?.close();
  }

  #takeDisk(octets: number): void {
    const exhausted = this.#budget.disk.tryTake(this.#holder, octets);
    if (exhausted === 'share') throw new SpoolFault('spool-full', `${this.#holder} has its share of the spool's disk`);
    if (exhausted === 'total') throw new SpoolFault('spool-full', 'the spool has its half of the free disk');
    this.#onDisk += octets;
  }

  #reserve(octets: number): boolean {
    if (!this.#budget.reserve(this.#holder, octets)) return false;
    this.#reserved += octets;
    return true;
  }

  #unreserve(octets: number): void {
    this.#budget.unreserve(this.#holder, octets);
    this.#reserved -= octets;
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
    const more = STAGING_BYTES - this.#reserved;
    const staging = more <= 0 || this.#reserve(more) ? STAGING_BYTES : 0;
    const file = await SpoolFile.create(this.#budget.directory, this.#budget.fileName(), staging);
    if (this.#discarded) {
      await file.close();
      return;
    }
    this.#file = file;
    await this.#budget.measureDisk();
    if (this.#discarded) return;
    this.#takeDisk(this.#size);
    this.#endJoined();
    for (const piece of this.#pieces) {
      await file.write(piece);
      // A connection may break during a write to the disk; `discard` has then released the reservation.
      if (this.#discarded) return;
    }
    this.#pieces = [];
    this.#unreserve(this.#reserved - staging);
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
