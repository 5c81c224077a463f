// Tests to whom the data directory belongs that root makes.
import { chmodSync, chownSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { CommandError } from '../../../src/cli/output.js';
import { giveTo, makeDataDirectory } from '../../../src/cli/setup/data-directory.js';
import { openDataDirectory } from '../../../src/store/local/data-directory.js';
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

asRoot('a directory of another user, or one in use, stays as it is', (t) => {
  const directory = temporaryDirectory('mansio-owner-');
  const owner = { uid: 12_345, gid: 12_346 };
  const held = openDataDirectory(directory);
  t.throws(() => giveTo(owner, directory), { instanceOf: CommandError, message: /runs in .*: stop it first/ });
  t.is(lstatSync(directory).uid, 0);
  held.release();
  chownSync(directory, 54_321, 54_321);
  t.throws(() => giveTo(owner, directory), { instanceOf: CommandError, message: /belongs to user 54321/ });
  t.is(lstatSync(directory).uid, 54_321);
});

asRoot('a link to the data directory stays, and its target is handed over', (t) => {
  const above = temporaryDirectory('mansio-owner-');
  mkdirSync(join(above, 'data'));
  symlinkSync(join(above, 'data'), join(above, 'link'));
  makeDataDirectory(join(above, 'link'), { uid: 12_345, gid: 12_346 });
  t.is(lstatSync(join(above, 'link')).uid, 0);
  t.is(lstatSync(join(above, 'data')).uid, 12_345);
});
