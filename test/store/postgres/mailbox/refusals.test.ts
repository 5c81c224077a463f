// Tests the record of refused mail in a real database: what was added is found, and the newest are kept.
import { connect, type Sql } from '../../../../src/store/postgres/driver/client.js';
import { postgresRefusals } from '../../../../src/store/postgres/mailbox/refusals.js';
import { postgresTraces } from '../../../../src/store/postgres/mailbox/traces.js';
import type { RefusedMail } from '../../../../src/store/traces/refused-mail.js';
import { migratedDatabase } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';

let sql: Sql;
let drop: () => Promise<void>;

test.before(async () => {
  const database = await migratedDatabase();
  sql = connect(database.address, { max: 2, applicationName: 'test' });
  drop = database.drop;
});

test.after.always(async () => {
  await sql?.end();
  await drop?.();
});

test('refusals are found by transaction, Message-ID, sender and recipient, until they are pruned', async (t) => {
  const [refusals, traces] = [postgresRefusals(sql), postgresTraces(sql)];
  const at = Date.now();
  const first: RefusedMail = {
    at,
    node: 'one',
    listener: 'mx',
    remoteAddress: '192.0.2.1',
    sender: 'Zoe@there.test',
    recipients: ['Ann@here.test', 'bob@here.test'],
    transaction: '01900000-0000-7000-8000-000000000001',
    messageId: '<a@there.test>',
    code: 550,
    reason: 'dmarc',
  };
  const second: RefusedMail = {
    ...first,
    at: at + 1,
    sender: null,
    recipients: [],
    transaction: null,
    messageId: null,
  };
  const old: RefusedMail = { ...second, at: at - 100_000 };
  await refusals.add([first, second, old]);
  for (const of of [
    { transaction: first.transaction! },
    { messageId: '<a@there.test>' },
    { address: 'zoe@there.test' },
    { address: 'ann@here.test' },
  ])
    t.deepEqual(await traces.refusals(of, 10), [first]);
  t.deepEqual(await traces.refusals({ address: 'other@here.test' }, 10), []);
  t.is(await refusals.prune(50_000, 10), 1);
  t.is(await refusals.prune(50_000, 1), 1);
  t.deepEqual(await traces.refusals({ address: 'ann@here.test' }, 10), []);
  t.is(await refusals.prune(50_000, 1), 0);
});
