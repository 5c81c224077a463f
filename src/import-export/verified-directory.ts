// A directory of another user, opened for reading. Its owner may replace a directory by a link while an import reads it, so each
// opened file is checked to be in the directory where it should be.
import { constants, type Dirent } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Opening follows no link and does not wait for a pipe without a writer. */
const FILE_PROPER = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** A path leads to a link, to something that is no directory, or to another directory than before. */
class DirectoryReplaced extends Error {
  override readonly name = 'DirectoryReplaced';
}

export class VerifiedDirectory {
  /** The absolute path, without links. */
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

  /** Opens a file directly in this directory for reading. @throws Error of the file system; DirectoryReplaced */
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

  /** Checks that this directory and those above it are still the same. */
  async #verify(): Promise<void> {
    if ((await identityOf(this.path)) !== this.#identity) throw replaced(this.path);
    if (this.#parent !== undefined) await this.#parent.#verify();
  }
}

/** The real path of an open file, as Linux reports it; undefined on other systems. Links cannot falsify it. */
const openedPath = (file: FileHandle): Promise<string | undefined> =>
  readlink(`/proc/self/fd/${file.fd}`).catch(() => undefined);

async function identityOf(path: string): Promise<string> {
  const status = await lstat(path, { bigint: true });
  if (!status.isDirectory()) throw replaced(path);
  return `${status.dev}:${status.ino}`;
}

const replaced = (path: string): DirectoryReplaced =>
  new DirectoryReplaced(`${path} is no directory, or another one than before`);
