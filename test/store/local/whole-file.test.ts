import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { writeWhole } from '../../../src/store/local/whole-file.js';
import test from '../../support/test.js';

const asRoot = process.getuid?.() === 0 ? test : test.skip;

test('a file is replaced, with its mode and nothing beside it', (t) => {
  const path = join(temporaryDirectory('mansio-file-'), 'file');
  writeFileSync(path, 'a longer text than the new one', { mode: 0o600 });
  writeWhole(path, 'new', { mode: 0o666 });
  t.is(readFileSync(path, 'utf8'), 'new');
  t.is(statSync(path).mode & 0o777, 0o666);
  t.deepEqual(readdirSync(join(path, '..')), ['file']);
});

test('what cannot be written leaves everything as it was', (t) => {
  const directory = temporaryDirectory('mansio-file-');
  const path = join(directory, 'taken');
  // A directory that is not empty takes no file in its place.
  mkdirSync(join(path, 'full'), { recursive: true });
  t.throws(() => writeWhole(path, 'new', { mode: 0o600 }));
  t.throws(() => writeWhole(path, 'new', { mode: 0o600, temporary: `${path}.new` }));
  t.deepEqual(readdirSync(directory), ['taken']);
});

asRoot('a file of root can belong to somebody else', (t) => {
  const directory = temporaryDirectory('mansio-file-');
  chmodSync(directory, 0o755);
  const path = join(directory, 'file');
  writeWhole(path, 'new', { mode: 0o640, owner: { uid: 0, gid: 12_345 } });
  t.like(statSync(path), { uid: 0, gid: 12_345 });
  t.is(statSync(path).mode & 0o777, 0o640);
});
