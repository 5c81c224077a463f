// Tests that the directory tells what changes of an account, over the notifications of a real store, and nothing when nothing changes.
import { randomBytes, randomUUID } from 'node:crypto';
import { newApiKey } from '../../../src/actors/directory/api-key.js';
import { createDirectory } from '../../../src/actors/directory/directory.js';
import type { AccountNotice } from '../../../src/actors/directory/protocol.js';
import type { Mailboxes } from '../../../src/actors/mailbox/protocol.js';
import { summarize } from '../../../src/mail-format/summary.js';
import { blobOf } from '../../../src/store/blobs.js';
import { postgresDirectory } from '../../../src/store/postgres/accounts/directory.js';
import { postgresQuotas } from '../../../src/store/postgres/accounts/quotas.js';
import { postgresSending } from '../../../src/store/postgres/accounts/sending.js';
import { postgresSessions } from '../../../src/store/postgres/accounts/sessions.js';
import { connect } from '../../../src/store/postgres/driver/client.js';
import { migratedDatabase } from '../../support/database/embedded-database.js';
import { deferred } from '../../support/deferred.js';
import test from '../../support/test.js';

test('sessions, quota and suspension of an account are told when they change, and only then', async (t) => {
  const { address, drop } = await migratedDatabase();
  const sql = connect(address, { max: 4, applicationName: 'test' });
  const store = postgresDirectory(sql, 16);
  await store.addDomain('example.test');
  const { id } = await store.createAccount('ann@example.test', 'Ann');
  const mailboxes = {} as Mailboxes;
  const directory = await createDirectory({ store, mailboxes, unknownRecipients: 'reject', log: { info() {} } });
  t.teardown(async () => {
    await directory.close();
    await sql.end({ timeout: 5 });
    await drop();
  });
  const told: AccountNotice[] = [];
  let heard = deferred();
  directory.accountNotices$.subscribe((notice) => {
    told.push(notice);
    heard.resolve();
  });
  const tells = async (about: AccountNotice['about'], act: () => Promise<unknown>) => {
    heard = deferred();
    await act();
    await heard.promise;
    t.deepEqual(told.splice(0), [{ accountId: id, about }]);
  };
  const [sessions, quotas, sending] = [postgresSessions(sql), postgresQuotas(sql), postgresSending(sql)];
  const { prefix, hash } = newApiKey(randomBytes);
  await tells('sessions', () => sessions.create(id, 10, { prefix, hash, userAgent: 'Firefox' }));
  await tells('quotas', () => quotas.setAccount(id, { bytes: 1_000 }));
  await tells('quotas', () => quotas.setFull({ accountId: id }, true));
  const content = blobOf(Buffer.from('Subject: nearly full\r\n\r\n'));
  await sql`insert into blobs (hash, size, mime_index) values (${Buffer.from(content.hash, 'hex')}, 24, '{}')`;
  const envelope = { receivedAt: 0, summary: summarize(content.index) };
  await tells('quotas', () => quotas.notice(id, randomUUID(), content, envelope));
  await tells('quotas', () => quotas.endNotice(id));
  await tells('sending', () => sending.suspend(id, { by: 'operator', reason: 'spam' }));
  // None of these changes what the user reads; the resumption after them is the next that is told.
  await quotas.setFull({ accountId: id }, true);
  await quotas.endNotice(id);
  await quotas.setDomain('example.test', { bytes: 1_000 });
  await sending.setDomain('example.test', { hour: 10 });
  await tells('sending', () => sending.resume(id));
});
