// Tests that setup refuses a program which the user of the service could not start.
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { refuseClosedProgram } from '../../../src/cli/setup/program-access.js';
import test from '../../support/test.js';

test('a program in a closed directory, or that others may not read, is refused in a sentence', (t) => {
  const home = temporaryDirectory('mansio-access-');
  chmodSync(home, 0o755);
  mkdirSync(join(home, 'bin'), { mode: 0o755 });
  const program = join(home, 'bin/mansio');
  writeFileSync(program, '', { mode: 0o755 });
  const link = join(home, 'link');
  symlinkSync(program, link);
  t.notThrows(() => refuseClosedProgram([program, link]));

  chmodSync(program, 0o750);
  t.throws(() => refuseClosedProgram([link]), {
    message: `the user mansio could not use ${link}, because it is closed to other users: install Node.js and Mansio for all users, not below /root, with umask 022`,
  });
  chmodSync(home, 0o700);
  t.throws(() => refuseClosedProgram([program]), { message: new RegExp(`because ${home} is closed to other users`) });
});
