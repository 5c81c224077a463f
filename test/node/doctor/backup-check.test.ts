// Tests the age of the last backup.
import { backupCheck } from '../../../src/node/doctor/backup-check.js';
import test from '../../support/test.js';
import { subjectFor } from './subjects.js';

test('a store without a recent backup is warned of', async (t) => {
  const DAY = 86_400_000;
  const of = async (ageMs: number | undefined) => {
    const lastBackup = async () =>
      ageMs === undefined ? undefined : { at: 10 * DAY - ageMs, bytes: 2_500, isEncrypted: true };
    const { subject } = await subjectFor(t, { store: { lastBackup, clock: async () => 10 * DAY } });
    return (await backupCheck.run(subject))[0]!;
  };
  t.like(await of(undefined), { status: 'warn', fix: 'mansio backup FILE' });
  t.like(await of(DAY), { status: 'ok', detail: 'the last one is 24 h old (2.5 kB, encrypted)', fix: null });
  t.like(await of(4 * DAY), { status: 'warn', detail: 'the last one is 4 days old (2.5 kB, encrypted)' });
});
