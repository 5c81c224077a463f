// Tests what is said of the condition of a database.
import { databaseCheck } from '../../../src/node/doctor/database-check.js';
import { StoreFault } from '../../../src/store/errors.js';
import type { DatabaseCondition } from '../../../src/store/postgres/driver/database-condition.js';
import test from '../../support/test.js';
import { CONDITION, subjectFor } from './subjects.js';

test('each fault is one finding of its kind', async (t) => {
  const of = async (change: Partial<DatabaseCondition>, env = {}) => {
    const { subject } = await subjectFor(t, { env, store: { condition: async () => ({ ...CONDITION, ...change }) } });
    const findings = await databaseCheck.run(subject);
    return findings.filter(({ status }) => status !== 'ok').map((found) => `${found.subject} ${found.status}`);
  };
  const { facts } = CONDITION;
  t.deepEqual(await of({}), []);
  t.deepEqual(await of({ facts: { ...facts, versionNumber: 140_002, version: '14.2' } }), ['version fail']);
  t.deepEqual(await of({ facts: { ...facts, fsync: 'off' } }), ['settings fail']);
  t.deepEqual(await of({ facts: { ...facts, fsync: 'off' } }, { MANSIO_ALLOW_UNSAFE_DATABASE: 'true' }), [
    'settings warn',
  ]);
  t.deepEqual(await of({ connections: { used: 95, most: 97 } }), ['settings warn']);
  t.deepEqual(await of({ autovacuum: false }), ['settings warn']);
  t.deepEqual(await of({ transactionsLeft: 10_000_000 }), ['space warn']);
  const standby = { name: 'two', state: 'streaming', syncState: 'async', lagOctets: 100 };
  t.deepEqual(await of({ standbys: [standby] }), []);
  t.deepEqual(await of({ standbys: [standby], synchronousNames: 'two' }), ['replication fail']);
  t.deepEqual(await of({ standbys: [{ ...standby, lagOctets: 5e9 }] }), ['replication warn']);
  t.deepEqual(await of({ synchronousNames: 'two' }), ['replication fail']);
  t.deepEqual(await of({ hasPatroni: true }), ['replication warn']);
  t.deepEqual(await of({ hasPatroni: true, standbys: [standby] }), ['replication warn']);
  const synchronous = { ...standby, syncState: 'sync' };
  t.deepEqual(await of({ hasPatroni: true, standbys: [synchronous], synchronousNames: 'two' }), []);
  t.deepEqual(await of({ idleSlots: [{ name: 'old', keptOctets: 3e9 }] }), ['replication warn']);
  t.deepEqual(await of({}, { DATABASE_URL: 'postgres://m:secret@db.example.org/mansio' }), ['TLS warn']);
  t.deepEqual(await of({}, { DATABASE_URL: 'postgres://m:secret@db.example.org/mansio?sslmode=verify-full' }), []);
  // The role of Mansio may not see the columns of other users.
  const hidden = { name: 'two', state: null, syncState: null, lagOctets: null };
  t.deepEqual(await of({ standbys: [hidden], synchronousNames: 'two' }), []);
});

test('a database that does not answer is a failure, with the reason', async (t) => {
  const refused = () =>
    Promise.reject(new StoreFault('store-unavailable', 'connect ECONNREFUSED', { temporary: true }));
  const { subject } = await subjectFor(t, { store: { condition: refused } });
  t.like(await databaseCheck.run(subject), [{ subject: 'server', status: 'fail' }]);
});
