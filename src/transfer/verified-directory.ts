// A directory of another user that is read. Its owner may replace a directory by a link while an import reads it, so each file
// that was opened is compared with the directory in which it should be.
import { constants, type Dirent } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Links are not followed, and a pipe without a writer is not waited for. */
const FILE_PROPER = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** A path leads to a link, to something that is no directory, or to another directory than before. */
class DirectoryReplaced extends Error {
  override readonly name = 'DirectoryReplaced';
}

export class VerifiedDirectory {
  /** Without links, down from the root. */
  readonly path: string;
  readonly #parent: VerifiedDirectory | undefined;
  /** Device and inode. */
  readonly #identity: string;

  private constructor(path: string, parent: VerifiedDirectory | undefined, identity: string) {
    this.path = path;
    this.#parent = parent;
    this.#identity = identity;
  }

  /** The directory that the operator names; a link to it is followed. @throws Error of the file system; DirectoryReplaced */
  static async root(path: string): Promise<VerifiedDirectory> {
    const real = await realpath(path);
    return new VerifiedDirectory(real, undefined, await identityOf(real));
  }

  /** @throws Error of the file system; DirectoryReplaced when it is a link or no directory */
  async child(name: string): Promise<VerifiedDirectory> {
    const path = join(this.path, name);
    return new VerifiedDirectory(path, this, await identityOf(path));
  }

  /** @throws Error of the file system; DirectoryReplaced */
  async entries(): Promise<Dirent[]> {
    const entries = await readdir(this.path, { withFileTypes: true });
    await this.#verify();
    return entries;
  }

  /** Opens a file of this very directory for reading. @throws Error of the file system; DirectoryReplaced */
  async open(name: string): Promise<FileHandle> {
    const file = await open(join(this.path, name), FILE_PROPER);
    try {
      const path = await openedPath(file);
      if (path === undefined) await this.#verify();
      else if (dirname(path) !== this.path) throw replaced(this.path);
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Compares this directory and those above it with what they were. */
  async #verify(): Promise<void> {
    if ((await identityOf(this.path)) !== this.#identity) throw replaced(this.path);
    if (this.#parent !== undefined) await this.#parent.#verify();
  }
}

/** The real path of an open file, as Linux tells it; undefined on other systems. No link above the file can change it. */
const openedPath = (file: FileHandle): Promise<string | undefined> =>
  readlink(`/proc/self/fd/${file.fd}`).catch(() => undefined);

async function identityOf(path: string): Promise<string> {
  const status = await lstat(path, { bigint: true });
  if (!status.isDirectory()) throw replaced(path);
  return `${status.dev}:${status.ino}`;
}

const replaced = (path: string): DirectoryReplaced =>
  new DirectoryReplaced(`${path} is no directory, or another one than before`);
