// Tests to whom the data directory belongs that root makes.
import { chmodSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { giveTo } from '../../../src/cli/setup/data-directory.js';
import test from '../../support/test.js';

const asRoot = process.getuid?.() === 0 ? test : test.skip;

test('a directory of the owner stays as it is', (t) => {
  const directory = temporaryDirectory('mansio-owner-');
  chmodSync(directory, 0o750);
  const { uid, gid } = lstatSync(directory);
  giveTo({ uid, gid }, directory);
  t.is(lstatSync(directory).mode & 0o777, 0o750);
});

asRoot('a new directory is handed over with what is in it, once', (t) => {
  const directory = temporaryDirectory('mansio-owner-');
  mkdirSync(join(directory, 'spool'));
  writeFileSync(join(directory, 'spool/first'), '');
  const owner = { uid: 12_345, gid: 12_346 };
  giveTo(owner, directory);
  for (const path of ['', 'spool', 'spool/first']) t.like(lstatSync(join(directory, path)), owner, path);
  t.is(lstatSync(directory).mode & 0o777, 0o700);
  writeFileSync(join(directory, 'second'), '');
  giveTo(owner, directory);
  t.is(lstatSync(join(directory, 'second')).uid, 0);
});
