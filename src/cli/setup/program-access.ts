// Whether the user of the service can start the program: Node.js and Mansio may lie where only root can look, below /root or after an
// installation with a strict umask.
import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandError } from '../output.js';
import { SYSTEM_USER } from './system-user.js';

const ADVICE = 'install Node.js and Mansio for all users, not below /root, with umask 022';

/** @throws CommandError when Node.js or the program is closed to other users */
export function refuseClosedProgram(
  paths: readonly string[] = [process.execPath, process.argv[1] ?? '', fileURLToPath(import.meta.url)],
): void {
  for (const path of paths) {
    const closed = closedPart(path);
    if (closed === undefined) continue;
    const what = closed === path ? 'it' : closed;
    throw new CommandError(
      `the user ${SYSTEM_USER} could not use ${path}, because ${what} is closed to other users: ${ADVICE}`,
    );
  }
}

/** The first part of the path, from its top, that other users may not read or enter. */
function closedPart(path: string): string | undefined {
  const real = realpathSync(path);
  const above = [];
  for (let at = dirname(real); ; at = dirname(at)) {
    above.unshift(at);
    if (dirname(at) === at) break;
  }
  const isOpen = (each: string, bit: number) => (statSync(each).mode & bit) !== 0;
  return above.find((directory) => !isOpen(directory, 1)) ?? (isOpen(real, 4) ? undefined : path);
}
