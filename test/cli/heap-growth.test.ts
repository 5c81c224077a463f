import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import test from '../support/test.js';

// V8 ignores unknown options.
test('V8 has the option that a node sets for its heap', async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--v8-options']);
  t.regex(stdout, /^ {2}--heap-growing-percent \(.*\n +type: int {2}default: --heap-growing-percent=0$/mu);
});
