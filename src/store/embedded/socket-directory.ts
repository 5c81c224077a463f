// The directory of the database's Unix socket. Anyone who can enter it is the superuser of the database, so only the database's
// user (and root) can. Its path must fit into a socket address, so a long one moves to the temporary directory of the system.
import { createHash } from 'node:crypto';
import { chmodSync, lchownSync, lstatSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LocalFault } from '../local/local-fault.js';
import type { DatabaseUser } from './database-user.js';

// unix(7): sun_path has 108 octets, 104 on BSD and macOS, the last one NUL.
const LONGEST = process.platform === 'linux' ? 107 : 103;
export const PORT = 5432;

/** Creates the directory when missing and returns its path. @throws LocalFault */
export function socketDirectory(dataDirectory: string, user: DatabaseUser | undefined): string {
  const uid = user?.uid ?? process.getuid?.() ?? 0;
  const near = join(dataDirectory, 'run');
  if (fits(near)) return secured(near, uid, user);
  const name = createHash('sha256').update(dataDirectory).digest('hex').slice(0, 12);
  const far = join(tmpdir(), `mansio-${uid}-${name}`);
  if (!fits(far)) throw new LocalFault(`no short path for the database's socket: ${near} and ${far} are too long`);
  try {
    return secured(far, uid, user);
  } catch {
    // Another user can create a directory with that name first.
    return secured(mkdtempSync(join(tmpdir(), 'mansio-')), uid, user);
  }
}

function fits(directory: string): boolean {
  return Buffer.byteLength(join(directory, `.s.PGSQL.${PORT}.lock`)) <= LONGEST;
}

function secured(directory: string, uid: number, user: DatabaseUser | undefined): string {
  let made = false;
  try {
    mkdirSync(directory, { mode: 0o700 });
    made = true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const before = lstatSync(directory);
  const mine = before.uid === uid || before.uid === process.getuid?.();
  if (!before.isDirectory() || !(made || mine)) throw new LocalFault(`${directory} belongs to somebody else`);
  if (user !== undefined) lchownSync(directory, user.uid, user.gid);
  chmodSync(directory, 0o700);
  return directory;
}
