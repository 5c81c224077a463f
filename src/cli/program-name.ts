// What a shell calls the program: `mansio` where it was installed, `bin/mansio` in a clone.
import { delimiter, dirname, resolve } from 'node:path';

/** `started`: the absolute path that the program was started by, links not followed; `path`: PATH. */
export function programName(started: string, path: string): string {
  const onPath = path.split(delimiter).some((folder) => folder !== '' && resolve(folder) === dirname(started));
  return onPath ? 'mansio' : 'bin/mansio';
}
