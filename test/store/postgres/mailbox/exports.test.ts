// Tests the interval between exports of an account: exports that were served count, and a limited number of those that were not
// is given back.
import { randomUUID } from 'node:crypto';
import { postgresDirectory } from '../../../../src/store/postgres/accounts/directory.js';
import { postgresExports } from '../../../../src/store/postgres/mailbox/exports.js';
import { migratedSql, type Teardown } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';

const INTERVAL = 600;

async function setUp(t: Teardown) {
  const sql = await migratedSql(t, { max: 4 });
  const { id } = await postgresDirectory(sql, 1).createAccount(`${randomUUID()}@example.test`, 'x');
  const exports = postgresExports(sql);
  return {
    claim: (interval = INTERVAL) => exports.claim(id, interval),
    giveBack: (permit: string) => exports.giveBack(id, permit, INTERVAL, 3),
    /** Moves all that has happened into the past by this time. */
    age: (seconds: number) => sql`
      update accounts set mbox_exported_at = mbox_exported_at - ${seconds} * interval '1 second',
        mbox_returned_at = mbox_returned_at - ${seconds} * interval '1 second'`,
  };
}

test('of exports at once one has the permit, and the next after the interval', async (t) => {
  const { claim, age } = await setUp(t);
  const claims = await Promise.all([1, 2, 3].map(() => claim()));
  t.is(claims.filter(({ permit }) => permit !== undefined).length, 1);
  t.true(claims.filter(({ permit }) => permit === undefined).every(({ waitSeconds }) => waitSeconds > 590));
  await age(INTERVAL);
  t.is((await claim()).waitSeconds, 0);
  t.deepEqual(await claim(0), { waitSeconds: 0, permit: null });
});

test('a permit that is given back is free at once; the fourth within the interval counts', async (t) => {
  const { claim, giveBack, age } = await setUp(t);
  for (let i = 0; i < 3; i++) {
    const { permit } = await claim();
    await giveBack(permit!);
  }
  const { permit } = await claim();
  await giveBack(permit!);
  t.true((await claim()).waitSeconds > 590);
  await age(INTERVAL);
  for (let i = 0; i < 3; i++) {
    const { permit } = await claim();
    await giveBack(permit!);
  }
  t.is((await claim()).waitSeconds, 0);
});

test('an export does not give back the permit of another', async (t) => {
  const { claim, giveBack, age } = await setUp(t);
  const { permit: old } = await claim();
  await age(INTERVAL);
  t.is((await claim()).waitSeconds, 0);
  await giveBack(old!);
  t.true((await claim()).waitSeconds > 590);
});
