// Tests commits of mailboxes that share a transaction: a commit that passes its fence is written whole, any other one not at all.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { blobOf } from '../../../../src/store/blobs.js';
import { StoreFault } from '../../../../src/store/errors.js';
import { postgresDirectory } from '../../../../src/store/postgres/accounts/directory.js';
import { connect } from '../../../../src/store/postgres/driver/client.js';
import { postgresEvents } from '../../../../src/store/postgres/mailbox/events.js';
import { postgresInbound } from '../../../../src/store/postgres/mailbox/inbound.js';
import { postgresMailboxes } from '../../../../src/store/postgres/mailbox/mailboxes.js';
import { migratedDatabase } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';
import { emailsOf, placementsOf } from '../../contracts/contents.js';
import { messageFor, place } from '../../contracts/shared-messages.js';
import { emailAdded, newEmail, Writer } from '../../contracts/writer.js';

async function openStores(t: ExecutionContext) {
  const database = await migratedDatabase();
  const sql = connect(database.address, { max: 2, applicationName: 'test' });
  const writerSql = connect(database.address, { max: 2, applicationName: 'test', byKey: true });
  t.teardown(async () => {
    await writerSql.end({ timeout: 5 });
    await sql.end({ timeout: 5 });
    await database.drop();
  });
  const directory = postgresDirectory(sql, 1);
  const mailboxes = postgresMailboxes(sql, writerSql);
  const account = async (name: string) => (await directory.createAccount(`${name}@example.test`, name)).id;
  return { sql, writerSql, mailboxes, events: postgresEvents(sql), inbound: postgresInbound(sql, writerSql), account };
}

test('of accounts that share a transaction one does not pass its fence: it writes nothing, the others all of theirs', async (t) => {
  const { sql, mailboxes, events, inbound, account } = await openStores(t);
  const writers: Writer[] = [];
  for (const name of ['a', 'b', 'c']) {
    const id = await account(name);
    await mailboxes.claim(id, 1);
    writers.push(new Writer({ mailboxes }, id, (await mailboxes.overview(id)).folders));
  }
  const { references: _, ...rest } = newEmail();
  const waiting = writers.map(({ accountId }) => ({ accountId, id: randomUUID() }));
  const envelope = { receivedAt: 0, summary: { ...rest, references: [] } };
  await inbound.spool(blobOf(Buffer.from('Subject: a\r\n\r\nb')), envelope, waiting);

  // The second email has two message ids, one of which is that of the first.
  const commits = writers.map((writer, i) => {
    const folderId = writer.folder('inbox');
    const first = newEmail({ messageId: '<1@remote.test>' });
    const second = newEmail({ messageId: '<2@remote.test>', inReplyTo: '<1@remote.test>' });
    const counters = [{ id: folderId, uidNext: 3, total: 2, unread: 2, highestModseq: 2 }];
    const parts = { counters, inbound: [waiting[i]!.id], ...(i === 1 ? { modseqBefore: 7 } : {}) };
    const changes = [emailAdded(first, [{ folderId, uid: 1 }]), emailAdded(second, [{ folderId, uid: 2 }])];
    return { writer, folderId, ids: [first.id, second.id], done: writer.commit(changes, parts) };
  });
  const kinds = [];
  for (const { done } of commits) kinds.push((await done).kind);
  t.deepEqual(kinds, ['committed', 'fenced', 'committed']);

  for (const [i, { writer, folderId, ids }] of commits.entries()) {
    const isWritten = i !== 1;
    const { accountId } = writer;
    const written = <T>(rows: T[]) => (isWritten ? rows : []);
    t.deepEqual(
      (await emailsOf({ mailboxes }, accountId)).map(({ id }) => id),
      written(ids),
    );
    const placed = (await placementsOf({ mailboxes }, accountId))[folderId] ?? [];
    t.deepEqual(
      placed.map(([uid, id]) => [uid, id]),
      written([
        [1, ids[0]],
        [2, ids[1]],
      ]),
    );
    const inbox = (await mailboxes.overview(accountId)).folders.find(({ id }) => id === folderId)!;
    t.deepEqual([inbox.uidNext, inbox.total], isWritten ? [3, 2] : [1, 0]);
    t.is((await events.read(accountId, 0, 10)).length, isWritten ? 2 : 0);
    t.is((await mailboxes.thread(accountId, ids[0]!, { newest: 10 })).total, isWritten ? 2 : 0);
    const keys = await sql`select from thread_refs where account_id = ${accountId}`;
    t.is(keys.length, isWritten ? 2 : 0);
  }
  const left = await inbound.overdue([0], -1000, 10, []);
  t.deepEqual(
    left.map(({ id }) => id),
    [waiting[1]!.id],
  );
});

test('a commit or a message that the database begins with after its deadline is not stored, and the blob is given up', async (t) => {
  const { sql, writerSql, account } = await openStores(t);
  let deadline = Date.now() - 1;
  const mailboxes = postgresMailboxes(sql, writerSql, undefined, undefined, undefined, () => deadline);
  const inbound = postgresInbound(sql, writerSql, undefined, () => deadline);
  const accountId = await account('Zoë 💌');
  await mailboxes.claim(accountId, 1);
  const writer = new Writer({ mailboxes }, accountId, (await mailboxes.overview(accountId)).folders);
  const content = blobOf(Buffer.from('Subject: Zoë 💌\r\n\r\nlate'));
  const email = newEmail({ blob: content.hash });
  const added = [emailAdded(email, [{ folderId: writer.folder('inbox'), uid: 1 }])];
  const { references: _, ...rest } = email;
  const envelope = { receivedAt: 0, summary: { ...rest, references: [] } };
  const spooled = () => inbound.spool(content, envelope, [{ accountId, id: randomUUID() }]);
  const count = async (table: string) => (await sql`select from ${sql(table)}`).length;
  const rows = async () => [await count('emails'), await count('events'), await count('inbound'), await count('blobs')];

  t.is((await writer.commit(added, { contents: [content] })).kind, 'fenced');
  t.deepEqual(await rows(), [0, 0, 0, 0]);
  const shared = messageFor([accountId, await account('Other')]);
  const { id } = shared.deliveries[0]!;
  t.is((await writer.commit(added, { shared: [{ message: shared, id }] })).kind, 'withheld');
  t.deepEqual(await rows(), [0, 0, 0, 0]);
  const fault = await t.throwsAsync<StoreFault>(spooled(), { instanceOf: StoreFault, message: /late/ });
  t.true(fault.temporary);
  t.deepEqual(await rows(), [0, 0, 0, 1]);
  t.is(await count('blob_candidates'), 1);

  deadline = Date.now() + 60_000;
  t.is((await writer.commit(added, { contents: [content] })).kind, 'committed');
  await spooled();
  t.deepEqual(await rows(), [1, 1, 1, 1]);
});

test('a message for an account that is locked keeps no commit waiting', async (t) => {
  const { sql, account } = await openStores(t);
  // Locks have no time limit here.
  const mailboxes = postgresMailboxes(sql, sql);
  const accountId = await account('Zoë 💌');
  const locked = await account('Locked');
  await mailboxes.claim(accountId, 1);
  const writer = new Writer({ mailboxes }, accountId, (await mailboxes.overview(accountId)).folders);
  const message = messageFor([accountId, locked]);
  await sql.begin(async (tx) => {
    await tx`select from accounts where id = ${locked} for update`;
    t.deepEqual(await place(writer, message), { kind: 'withheld' });
  });
  t.false(await message.ended);
  t.is((await sql`select from inbound`).length, 0);
});
