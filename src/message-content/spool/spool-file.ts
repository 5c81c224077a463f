// A message that is too large for memory, in a file without a name: it is unlinked as soon as it is open, so nothing remains
// after the process ends, even after kill -9. Writes pass through one buffer or go directly to the file; reads by position can be
// repeated.
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { asSpoolFault } from './errors.js';

export const STAGING_BYTES = 65_536;
const READ_BYTES = 262_144;

export class SpoolFile {
  readonly #handle: FileHandle;
  readonly #staging: Buffer;
  #staged = 0;
  #written = 0;

  private constructor(handle: FileHandle, staging: number) {
    this.#handle = handle;
    this.#staging = Buffer.allocUnsafeSlow(staging);
  }

  /** `staging`: octets of the buffer; 0 means that each write goes directly to the file. @throws SpoolFault */
  static async create(directory: string, name: string, staging: number): Promise<SpoolFile> {
    const path = join(directory, name);
    try {
      const handle = await create(path).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
        // Someone has removed the directory while the node runs.
        await mkdir(directory, { mode: 0o700 }).catch(() => {});
        return create(path);
      });
      await unlink(path);
      return new SpoolFile(handle, staging);
    } catch (error) {
      throw asSpoolFault(error);
    }
  }

  /** Returns a promise when the caller has to wait before the next write. Rejects with SpoolFault. */
  write(chunk: Uint8Array): Promise<void> | undefined {
    if (this.#staged + chunk.length > this.#staging.length) return this.#writeThrough(chunk);
    this.#staging.set(chunk, this.#staged);
    this.#staged += chunk.length;
    return undefined;
  }

  /** Writes everything that is buffered to the file. @throws SpoolFault */
  async flush(): Promise<void> {
    const staged = this.#staged;
    this.#staged = 0;
    await this.#put(this.#staging.subarray(0, staged));
  }

  /** Yields the octets [from, to) that are in the file. @throws SpoolFault */
  async *chunks(from = 0, to = this.#written): AsyncGenerator<Uint8Array> {
    for (let position = from; position < to; ) {
      const piece = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, to - position));
      const { bytesRead } = await this.#handle.read(piece, 0, piece.length, position).catch((error: unknown) => {
        throw asSpoolFault(error);
      });
      if (bytesRead === 0) throw asSpoolFault(new Error('the spool file is shorter than what was written'));
      position += bytesRead;
      yield piece.subarray(0, bytesRead);
    }
  }

  async close(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
  }

  async #writeThrough(chunk: Uint8Array): Promise<void> {
    await this.flush();
    if (chunk.length > this.#staging.length) await this.#put(chunk);
    else this.write(chunk);
  }

  async #put(octets: Uint8Array): Promise<void> {
    for (let done = 0; done < octets.length; ) {
      const { bytesWritten } = await this.#handle
        .write(octets, done, octets.length - done, this.#written)
        .catch((error: unknown) => {
          throw asSpoolFault(error);
        });
      done += bytesWritten;
      this.#written += bytesWritten;
    }
  }
}

function create(path: string): Promise<FileHandle> {
  return open(path, 'wx+', 0o600);
}
