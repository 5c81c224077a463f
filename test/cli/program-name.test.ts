// What the program is called where its folder is on the PATH, and where it is not.
import test from 'ava';
import { programName } from '../../src/cli/program-name.js';

test('the program is called mansio where the shell finds it, and bin/mansio in a clone', (t) => {
  t.is(programName('/usr/local/bin/mansio', '/usr/bin:/usr/local/bin/'), 'mansio');
  t.is(programName('/home/a/mansio/bin/mansio', '/usr/bin:/usr/local/bin'), 'bin/mansio');
  t.is(programName('/home/a/mansio/bin/mansio', ''), 'bin/mansio');
});
