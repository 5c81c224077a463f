// The data directory that `mansio setup` makes. It belongs to the user of the service before anything is in it: then the embedded database,
// and whatever root writes there later, is that user's too.
import { chmodSync, existsSync, lchownSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from '../output.js';
import type { SystemUser } from './system-user.js';

/** `owner`: the user who will run the node, where it exists on this machine. */
export function makeDataDirectory(path: string, owner: SystemUser | undefined): void {
  try {
    if (!existsSync(path)) mkdirSync(path, { recursive: true, mode: 0o755 });
  } catch (error) {
    throw new CommandError(`cannot make ${path}: ${(error as Error).message}`);
  }
  if (owner !== undefined) giveTo(owner, path);
}

/** Changes nothing when the directory is the owner's: a node may be at work there. Its top is the last, so that a broken run is repeated. */
export function giveTo({ uid, gid }: SystemUser, path: string): void {
  if (lstatSync(path).uid === uid) return;
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
