// Writes a file whole or not at all: beside its name, to the disk, and then renamed. A kill at any moment leaves the old file or the new one.
import { randomBytes } from 'node:crypto';
import { closeSync, fchmodSync, fchownSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

export interface WholeFileOptions {
  /** The file has this mode, whatever the umask is. */
  readonly mode: number;
  /** Without it, the file belongs to this process. */
  readonly owner?: FileOwner | undefined;
  /** The path until the file is whole; what a killed writer has left there is replaced. Without it, a new name each time. */
  readonly temporary?: string;
}

export function writeWhole(path: string, content: string, { mode, owner, temporary }: WholeFileOptions): void {
  if (temporary !== undefined) rmSync(temporary, { force: true });
  const beside = temporary ?? `${path}.${randomBytes(6).toString('hex')}`;
  try {
    const file = openSync(beside, 'wx', 0o600);
    try {
      writeFileSync(file, content);
      if (owner !== undefined) fchownSync(file, owner.uid, owner.gid);
      fchmodSync(file, mode);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
  syncDirectory(dirname(path));
}

/** Puts the names of the directory on the disk. */
export function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
