// Tests the name of the program where an installation has made a link to it, and in a clone.
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../dev/temporary-directory.js';
import { programName } from '../../src/cli/program-name.js';
import { PROGRAM } from '../support/node.js';
import test from '../support/test.js';

test('the program is called mansio behind the link of an installation, and bin/mansio in a clone', (t) => {
  const link = join(temporaryDirectory('mansio-test-program-name-'), 'mansio');
  symlinkSync(PROGRAM, link);
  t.is(programName(link), 'mansio');
  t.is(programName(PROGRAM), 'bin/mansio');
  t.is(programName(''), 'bin/mansio');
});
