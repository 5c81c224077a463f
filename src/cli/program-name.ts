// The name by which a shell calls the program: `mansio` where the installation has put a link on the PATH, `bin/mansio` in a clone.
import { lstatSync } from 'node:fs';

/** `started`: the path with which the program was started, without resolving links. */
export function programName(started: string): string {
  return lstatSync(started, { throwIfNoEntry: false })?.isSymbolicLink() === true ? 'mansio' : 'bin/mansio';
}
