// The system user of the service. On this machine it is made at once; below a prefix, the declaration for systemd-sysusers makes it when the
// image starts.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { CommandError } from '../output.js';

export const SYSTEM_USER = 'mansio';

export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/** Undefined below a prefix. @throws CommandError when the user cannot be made */
export async function makeUser(prefix: string): Promise<SystemUser | undefined> {
  if (prefix !== '') return undefined;
  const there = findUser();
  if (there !== undefined) return there;
  const args = ['--system', '--user-group', '--home-dir', '/var/lib/mansio', '--no-create-home'];
  const { status, stderr, error } = spawnSync('useradd', [...args, '--shell', '/usr/sbin/nologin', SYSTEM_USER], {
    encoding: 'utf8',
  });
  if (status !== 0)
    throw new CommandError(`the user ${SYSTEM_USER} cannot be made: ${error?.message ?? stderr.trim()}`);
  return findUser();
}

function findUser(): SystemUser | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.startsWith(`${SYSTEM_USER}:`));
  const fields = line?.split(':');
  return fields && { uid: Number(fields[2]), gid: Number(fields[3]) };
}
