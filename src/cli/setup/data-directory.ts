// The data directory that `mansio setup` makes. It belongs to the user of the service before anything is in it: then the embedded database,
// and whatever root writes there later, is that user's too.
import { chmodSync, lchownSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { findPostmaster } from '../../store/embedded/postmaster.js';
import { holderOf, makeDirectory } from '../../store/local/data-directory.js';
import { CommandError } from '../output.js';
import type { SystemUser } from './system-user.js';

/** `owner`: the user who will run the node, where it exists on this machine. */
export function makeDataDirectory(path: string, owner: SystemUser | undefined): void {
  try {
    makeDirectory(path, 0o755);
  } catch (error) {
    throw new CommandError(`cannot make ${path}: ${(error as Error).message}`);
  }
  if (owner !== undefined) giveTo(owner, realpathSync(path));
}

/**
 * Changes nothing when the directory is the owner's: a node may be at work there. Its top is the last, so that a broken run is repeated.
 * @throws CommandError when the directory is not root's, or a node or its database runs there
 */
export function giveTo({ uid, gid }: SystemUser, path: string): void {
  const { uid: current } = lstatSync(path);
  if (current === uid) return;
  const other = 'take another MANSIO_DATA_DIR';
  if (current !== 0)
    throw new CommandError(`${path} belongs to user ${current}: give it to root or user ${uid}, or ${other}`);
  if (holderOf(path) !== undefined || findPostmaster(join(path, 'postgres')) !== undefined)
    throw new CommandError(`a node or its database runs in ${path}: stop it first, or ${other}`);
  chmodSync(path, 0o700);
  for (const entry of readdirSync(path, { withFileTypes: true, recursive: true }))
    giveEntry(join(entry.parentPath, entry.name), uid, gid);
  lchownSync(path, uid, gid);
}

/** A file that is gone meanwhile needs no owner. */
function giveEntry(path: string, uid: number, gid: number): void {
  try {
    lchownSync(path, uid, gid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
