// Tests the units of deploy/ that save the store every night: systemd reads them, and their command makes a backup and deletes old ones.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { mansio } from '../../support/command.js';
import { bareEnvironment, PROGRAM } from '../../support/node.js';
import test from '../../support/test.js';
import { testWith } from '../../support/test-with.js';

const SERVICE = 'deploy/mansio-backup.service';

testWith('systemd-analyze')('systemd reads the units, and confines the service', (t) => {
  // It ends with 0 for an unknown key too, and says so.
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', SERVICE, 'deploy/mansio-backup.timer'], {
    encoding: 'utf8',
  });
  t.deepEqual([status, stdout, stderr], [0, '', '']);
  t.notThrows(() => execFileSync('systemd-analyze', ['security', '--offline=yes', '--threshold=40', SERVICE]));
});

test('the command of the service makes a private backup, and then deletes those that are too old', async (t) => {
  const [state, programs] = [temporaryDirectory('mansio-state-'), temporaryDirectory('mansio-bin-')];
  const dataDir = join(temporaryDirectory('mansio-backup-timer-'), 'data');
  symlinkSync(PROGRAM, join(programs, 'mansio'));
  const backups = join(state, 'mansio-backups');
  mkdirSync(backups);
  for (const [name, days] of [
    ['mansio-20260101T000000Z', 20],
    ['mansio-20260110T000000Z', 5],
    ['mine', 20],
  ] as const) {
    writeFileSync(join(backups, name), '');
    const at = Date.now() / 1000 - days * 86_400;
    utimesSync(join(backups, name), at, at);
  }
  const command = /^ExecStart=\/bin\/sh -c '(.*)'$/m.exec(readFileSync(SERVICE, 'utf8'))![1]!;
  const meant: Readonly<Record<string, string>> = { '%%': '%', '%S': state, $$: '$' };
  const script = command.replace(/%%|%S|\$\$/g, (code) => meant[code]!);
  const env = { ...bareEnvironment(), MANSIO_DATA_DIR: dataDir, PATH: `${programs}:${process.env['PATH']}` };
  const run = (more: Readonly<Record<string, string>> = {}) =>
    spawnSync('/bin/sh', ['-c', script], { encoding: 'utf8', env: { ...env, ...more } });
  t.is(run().status, 1, 'there is no store');
  t.is(readdirSync(backups).length, 3, 'nothing is deleted without a new backup');

  t.is((await mansio(dataDir, ['domain', 'add', 'example.test', '--create'])).code, 0);
  const passphrase = join(state, 'passphrase');
  writeFileSync(passphrase, 'secret\n');
  const { status, stderr } = run({ BACKUP_OPTIONS: `--passphrase-file ${passphrase}` });
  t.is(status, 0, stderr);
  const left = readdirSync(backups).toSorted();
  t.is(left.length, 3);
  t.deepEqual([left[0], left[2]], ['mansio-20260110T000000Z', 'mine']);
  const made = join(backups, left[1]!);
  t.regex(made, /mansio-\d{8}T\d{6}Z$/);
  t.is(statSync(made).mode & 0o777, 0o600);
  t.true(readFileSync(made).subarray(0, 21).equals(Buffer.from('age-encryption.org/v1')));
});
