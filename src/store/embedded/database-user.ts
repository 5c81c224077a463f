// PostgreSQL refuses to run as root. When Mansio is root, the database runs as the user who owns it, or the data directory that it is made
// in: as the user of the service. Where both are root's, it runs as an unprivileged user who owns only the database directory. Where that user cannot reach the files (a clone below /root), setpriv(1) gives it the one capability that it needs.
// When neither works, the error says what to do.
import type { SpawnOptions } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LocalFault } from '../local/local-fault.js';
import type { Binaries } from './binaries.js';

export interface DatabaseUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** How a program of PostgreSQL is started. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly options: SpawnOptions;
}

const ADVICE =
  'Put the clone and MANSIO_DATA_DIR where other users may enter (for example under /srv), start Mansio as an ordinary user, or set DATABASE_URL';
// Bits of capability sets (linux/capability.h).
const CAPABILITIES = { dac_override: 1n << 1n, dac_read_search: 1n << 2n, setpcap: 1n << 8n };
type Passage = 'dac_override' | 'dac_read_search';

/**
 * The user that the database runs as; undefined: the same as Mansio. `directory`: that of the database, which may not exist yet.
 */
export function databaseUser(directory: string): DatabaseUser | undefined {
  const own = process.getuid?.();
  const owner = existsSync(directory) ? statSync(directory) : undefined;
  if (own !== 0) {
    if (owner === undefined || owner.uid === own) return undefined;
    const message = `the database in ${directory} belongs to user ${owner.uid}, Mansio runs as user ${own}`;
    throw new LocalFault(`${message}: start it as that user or as root, or take another MANSIO_DATA_DIR`);
  }
  if (owner !== undefined && owner.uid !== 0) return { name: `user ${owner.uid}`, uid: owner.uid, gid: owner.gid };
  const user = makerOf(dirname(directory));
  if (user !== undefined) return user;
  throw new LocalFault(`PostgreSQL refuses to run as root and there is no user postgres or nobody. ${ADVICE}`);
}

/** The user, not root, as whom root makes a database in `dataDirectory`: its owner, where that is a known user, as PostgreSQL demands. */
function makerOf(dataDirectory: string): DatabaseUser | undefined {
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const owner = existsSync(dataDirectory) ? statSync(dataDirectory).uid : 0;
  const fields =
    users.find(([, , uid]) => owner !== 0 && uid === `${owner}`) ??
    users.find(([name]) => name === 'postgres') ??
    users.find(([name]) => name === 'nobody');
  return fields && { name: `user ${fields[0]}`, uid: Number(fields[2]), gid: Number(fields[3]) };
}

/** Prepares starts of PostgreSQL's programs as `user` on a database below `directory`. @throws LocalFault */
export function launcher(
  user: DatabaseUser | undefined,
  binaries: Binaries,
  directory: string,
): (program: string, args: readonly string[]) => Launch {
  // PostgreSQL gets none of Mansio's environment: a locale or PG* variable would only change its behaviour.
  const options = { cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } };
  if (user === undefined) return (command, args) => ({ command, args, options });
  const passage = passageFor(user, binaries, directory);
  if (passage === undefined) {
    return (command, args) => ({ command, args, options: { ...options, uid: user.uid, gid: user.gid } });
  }
  const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find(existsSync);
  const granted = grantable(passage);
  if (setpriv === undefined || granted === undefined) {
    const lacks = setpriv === undefined ? 'setpriv (package util-linux) is not installed' : 'capabilities are missing';
    const where = `${user.name}, as whom the database has to run, cannot reach ${binaries.root} or ${directory}`;
    throw new LocalFault(`PostgreSQL refuses to run as root, ${where}, and ${lacks}. ${ADVICE}`);
  }
  const prefix = [
    `--reuid=${user.uid}`,
    `--regid=${user.gid}`,
    '--clear-groups',
    '--no-new-privs',
    `--inh-caps=-all,+${granted}`,
    `--ambient-caps=-all,+${granted}`,
    // Without this bit access(2) ignores the capabilities of a user other than root, and PostgreSQL itself calls access(2).
    '--securebits=+no_setuid_fixup',
  ];
  return (command, args) => ({ command: setpriv, args: [...prefix, command, ...args], options });
}

/** The capability that `user` needs to reach the programs and the directory, if any. It does not read access control lists. */
function passageFor(user: DatabaseUser, binaries: Binaries, directory: string): Passage | undefined {
  if (!permits(binaries.postgres, user, 1) || !permits(binaries.initdb, user, 1)) return 'dac_override';
  const samples = [binaries.postgres, join(binaries.root, 'pg-symlinks.json')].filter(existsSync);
  const readable = samples.every((path) => permits(path, user, 4));
  const enterable = [binaries.postgres, directory].every((path) => above(path).every((dir) => permits(dir, user, 1)));
  return readable && enterable ? undefined : 'dac_read_search';
}

function above(path: string): string[] {
  const directories = [];
  let at = existsSync(path) ? realpathSync(path) : path;
  while (dirname(at) !== at) {
    at = dirname(at);
    directories.push(at);
  }
  return directories;
}

function permits(path: string, user: DatabaseUser, bit: 1 | 4): boolean {
  const { mode, uid, gid } = statSync(path);
  if (uid === user.uid) return (mode & (bit << 6)) !== 0;
  if (gid === user.gid) return (mode & (bit << 3)) !== 0;
  return (mode & bit) !== 0;
}

function grantable(wanted: Passage): Passage | undefined {
  const field = /^CapPrm:\s*([0-9a-f]+)$/m.exec(readStatus())?.[1];
  const held = field === undefined ? 0n : BigInt(`0x${field}`);
  const has = (name: keyof typeof CAPABILITIES) => (held & CAPABILITIES[name]) !== 0n;
  if (!has('setpcap')) return undefined;
  // Containers often keep only the wider capability.
  return [wanted, 'dac_override' as const].find(has);
}

function readStatus(): string {
  try {
    return readFileSync('/proc/self/status', 'utf8');
  } catch {
    return '';
  }
}
