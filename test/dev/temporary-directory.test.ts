// Tests where temporary directories are: measurements must include the cost of the disk.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { temporaryDirectoryOnDisk } from '../../dev/temporary-directory.js';
import test from '../support/test.js';

test('benchmarks and clusters by hand have their data on disk', (t) => {
  const directory = temporaryDirectoryOnDisk('mansio-test-💌-');
  t.is(dirname(directory), tmpdir());
  rmSync(directory, { recursive: true });
  const inMemory = ['bench', 'dev'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((path) => path.endsWith('.ts') && path !== 'dev/temporary-directory.ts')
      .filter((path) => /\btemporaryDirectory\(/.test(readFileSync(path, 'utf8'))),
  );
  t.deepEqual(inMemory, []);
});
