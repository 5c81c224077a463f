// What a shell calls the program: `mansio` where an installation has put a link to it on the PATH, `bin/mansio` in a clone.
import { lstatSync } from 'node:fs';

/** `started`: the path that the program was started by, links not followed. */
export function programName(started: string): string {
  return lstatSync(started, { throwIfNoEntry: false })?.isSymbolicLink() === true ? 'mansio' : 'bin/mansio';
}
