// Tests the clock against the database's.
import { clockCheck, diskCheck, filesCheck } from '../../../src/node/doctor/machine-checks.js';
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
