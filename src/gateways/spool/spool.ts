// Octets of a message on their way from a socket to the store, for every gateway that takes messages in: hashed and indexed,
// kept in memory while they are few, else in a file, within one bound for all connections of the node
// (DESIGN D6, D11). Knows nothing of protocols; what is not a message any more is the caller's to discard.
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SpoolFile } from './spool-file.js';
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

  /** For a message whose header is written last. */
  bodyWriter(): BodyWriter {
    return new BodyWriter(this);
  }

  /** For octets that are no message: a file from the start, and the caller's to close. @throws SpoolFault */
  file(): Promise<SpoolFile> {
    return SpoolFile.create(this.directory, this.fileName());
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
