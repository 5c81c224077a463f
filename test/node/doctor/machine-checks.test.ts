// Tests the clock against the database's, and the bounds of disk and files.
import { clockCheck, diskCheck, filesCheck, judgeFiles, judgeSpace } from '../../../src/node/doctor/machine-checks.js';
import test from '../../support/test.js';
import { subjectFor } from './subjects.js';

test('the clock: a difference of seconds is a warning, of minutes a failure', async (t) => {
  for (const [apart, status, detail] of [
    [0, 'ok', 'this machine and the database have one time'],
    [-5_000, 'warn', 'this machine and the database are 5 s apart'],
    [600_000, 'fail', 'this machine and the database are 10 min apart'],
  ] as const) {
    const { subject } = await subjectFor(t, { store: { clock: async () => Date.now() + apart } });
    t.like(await clockCheck.run(subject), [{ status, detail }]);
  }
});

test('disk and files: what this machine has', async (t) => {
  const { subject } = await subjectFor(t, { env: { MANSIO_DATA_DIR: process.cwd() } });
  t.regex((await diskCheck.run(subject))[0]!.detail, /^[\d.]+ \wB of [\d.]+ \wB free/);
  t.regex((await filesCheck.run(subject))[0]!.detail, /^\d+ open, it may open \d+ files/);
  const [nobody] = await filesCheck.run({ ...subject, pid: undefined });
  t.like(nobody, { status: 'warn', fix: 'systemctl start mansio' });
});

test('the disk fails when commits would, and warns before', (t) => {
  const of = (free: number, size: number, files = 1000, ffree = 500) =>
    judgeSpace('/data', { bsize: 4096, bavail: free / 4096, blocks: size / 4096, files, ffree });
  const [MB, GB] = [1024 * 1024, 1024 * 1024 * 1024];
  t.like(of(50 * GB, 100 * GB), { subject: '/data', status: 'ok', fix: null });
  t.like(of(31 * MB, 100 * GB), { status: 'fail', fix: 'du -xh --max-depth=2 /data | sort -h | tail' });
  t.is(of(500 * MB, 2 * GB).status, 'warn');
  t.is(of(4 * GB, 100 * GB).status, 'warn');
  t.like(of(50 * GB, 100 * GB, 1000, 5), { status: 'warn', detail: '53.7 GB of 107 GB free, but hardly an inode' });
  t.is(of(50 * GB, 100 * GB, 0, 0).status, 'ok', 'a file system that counts no inodes');
});

test('files fail when most of the limit is used, and warn of a low limit', (t) => {
  t.like(judgeFiles(7, 65_536, 100), { subject: 'process 7', status: 'ok' });
  t.like(judgeFiles(7, 65_536, 60_000), { status: 'fail', detail: '60000 open, it may open 65536 files' });
  t.like(judgeFiles(7, 1024, 100), { status: 'warn' });
  t.like(judgeFiles(7, 1024, undefined), {
    status: 'warn',
    detail: 'it may open 1024 files: each connection takes one',
  });
  t.like(judgeFiles(7, undefined, undefined), { status: 'ok', fix: null });
});
