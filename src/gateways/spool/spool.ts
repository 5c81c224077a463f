// Octets of a message on their way from a socket to the store, for every gateway that takes messages in: hashed and indexed
// as they pass, kept in memory while they are few, else in a file, within one bound for all connections of the node
// (DESIGN D6, D11). Knows nothing of protocols; what is not a message any more is the caller's to discard.
import { createHash } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { MimeIndexer } from '../../mail/mime-index/indexer.js';
import type { BlobContent } from '../../store/blobs.js';
import { SpoolFault } from './errors.js';
import { SpoolFile, STAGING_BYTES } from './spool-file.js';

const SUFFIX = '.spool';
/** Pieces shorter than this are copied together: a Buffer of its own costs more than its octets. */
const SMALL_PIECE = 1024;
const JOINED_BYTES = 8192;

export interface SpoolOptions {
  /** See `prepareSpool`. */
  readonly directory: string;
  /** Octets of one message kept in memory. */
  readonly inMemory?: number;
  /** Octets in memory of all messages together. */
  readonly memoryLimit?: number;
}

/** Bytes to be stored, held until `release`. */
export interface SpooledContent extends BlobContent {
  release(): void;
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
  readonly #memoryLimit: number;
  #reserved = 0;
  #files = 0;

  constructor(options: SpoolOptions) {
    this.directory = options.directory;
    this.inMemory = options.inMemory ?? 262_144;
    this.#memoryLimit = options.memoryLimit ?? 67_108_864;
  }

  /** Octets held in memory now. */
  get reserved(): number {
    return this.#reserved;
  }

  writer(): SpoolWriter {
    return new SpoolWriter(this);
  }

  /** Whether there was room for so many octets. */
  reserve(octets: number): boolean {
    if (this.#reserved + octets > this.#memoryLimit) return false;
    this.#reserved += octets;
    return true;
  }

  unreserve(octets: number): void {
    this.#reserved -= octets;
  }

  fileName(): string {
    return `${process.pid}-${++this.#files}${SUFFIX}`;
  }
}

/** Takes one message. Exactly one of `finish` and `discard` ends it. */
export class SpoolWriter {
  readonly #spool: Spool;
  readonly #hash = createHash('sha256');
  readonly #indexer = new MimeIndexer();
  #pieces: Uint8Array[] = [];
  /** Copies of small pieces: a buffer and how much of it is in use. */
  #joined: Buffer | undefined;
  #joinedBytes = 0;
  #file: SpoolFile | undefined;
  #size = 0;
  #reserved = 0;
  #discarded = false;
  /** The last write that had to be waited for. */
  #writing: Promise<void> | undefined;

  constructor(spool: Spool) {
    this.#spool = spool;
  }

  /**
   * The chunk must not be changed afterwards. Returns a promise when the caller has to wait for it before it writes again.
   * Throws and rejects with SpoolFault.
   */
  write(chunk: Uint8Array): Promise<void> | undefined {
    this.#hash.update(chunk);
    this.#indexer.push(chunk);
    this.#size += chunk.length;
    if (this.#file !== undefined) this.#writing = this.#file.write(chunk);
    else if (this.#size > this.#spool.inMemory || !this.#reserve(chunk.length)) this.#writing = this.#toFile(chunk);
    else this.#keep(chunk);
    return this.#writing;
  }

  /** @throws SpoolFault, and has then discarded everything. */
  async finish(): Promise<SpooledContent> {
    try {
      // A stream may end though it was paused during its last chunk.
      await this.#writing;
      await this.#file?.flush();
    } catch (error) {
      this.discard();
      throw error;
    }
    const file = this.#file;
    this.#endJoined();
    const pieces = this.#pieces;
    return {
      hash: this.#hash.digest('hex'),
      size: this.#size,
      index: this.#indexer.finish(),
      chunks: () => (file === undefined ? pieces : file.chunks()),
      release: () => this.discard(),
    };
  }

  /** Gives back memory and file; may be called again. */
  discard(): void {
    if (this.#discarded) return;
    this.#discarded = true;
    this.#pieces = [];
    this.#joined = undefined;
    this.#spool.unreserve(this.#reserved);
    this.#reserved = 0;
    void this.#file?.close();
  }

  #reserve(octets: number): boolean {
    if (!this.#spool.reserve(octets)) return false;
    this.#reserved += octets;
    return true;
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
    if (!this.#reserve(STAGING_BYTES)) throw new SpoolFault('spool-memory', 'the memory of the spool is used up');
    const file = await SpoolFile.create(this.#spool.directory, this.#spool.fileName());
    if (this.#discarded) {
      await file.close();
      return;
    }
    this.#file = file;
    this.#endJoined();
    for (const piece of this.#pieces) {
      await file.write(piece);
      // A connection may break while the disk works; what was reserved is given back then.
      if (this.#discarded) return;
    }
    this.#pieces = [];
    this.#spool.unreserve(this.#reserved - STAGING_BYTES);
    this.#reserved = STAGING_BYTES;
    await file.write(chunk);
  }
}
