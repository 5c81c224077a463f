// Tests that a claim returns a small mailbox as reading it part by part would, and never one that a commit of the previous owner
// has changed meanwhile.

import { FLAGGED, SEEN } from '../../../../src/mail-format/flags.js';
import { postgresDirectory } from '../../../../src/store/postgres/accounts/directory.js';
import { connect } from '../../../../src/store/postgres/driver/client.js';
import { postgresMailboxes } from '../../../../src/store/postgres/mailbox/mailboxes.js';
import { migratedDatabase } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';
import { emailAdded, flaggedTogether, newEmail, Writer } from '../../contracts/writer.js';

const database = await migratedDatabase();
const sql = connect(database.address, { max: 4, applicationName: 'test' });
const writerSql = connect(database.address, { max: 2, applicationName: 'test', byKey: true });
const directory = postgresDirectory(sql, 1);
const mailboxes = postgresMailboxes(sql, writerSql);
let accounts = 0;

test.after.always(async () => {
  await writerSql.end();
  await sql.end();
  await database.drop();
});

async function open(): Promise<Writer> {
  const { id } = await directory.createAccount(`a${++accounts}@example.test`, 'A');
  await mailboxes.claim(id, 1);
  return new Writer({ mailboxes }, id, (await mailboxes.overview(id)).folders);
}

async function claimed(accountId: string, epoch = 2) {
  const account = await mailboxes.claim(accountId, epoch);
  if (account.kind !== 'claimed') throw new Error(account.kind);
  return account;
}

async function all<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const page of pages) list.push(page);
  return list;
}

/** Makes columns of different classes comparable by their content. */
function plain(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return Array.from(value as Uint8Array);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, plain(part)]));
}

async function read(id: string) {
  const [emails, placements] = [await all(mailboxes.emails(id)), await all(mailboxes.placements(id))];
  return plain({
    overview: await mailboxes.overview(id),
    keywords: await mailboxes.keywords(id),
    emails,
    placements,
  });
}

test('a claim has all of a small mailbox', async (t) => {
  const empty = await open();
  t.deepEqual(plain((await claimed(empty.accountId)).mailbox), await read(empty.accountId));

  const writer = await open();
  const [inbox, junk] = [writer.folder('inbox'), writer.folder('junk')];
  const emails = [{ keywords: ['a', 'b'] }, { keywords: ['c'] }, { flags: SEEN }, { keywords: ['a', 'b'] }].map(
    newEmail,
  );
  for (const [i, email] of emails.entries()) {
    await writer.commit([emailAdded(email, [{ folderId: i % 2 === 0 ? inbox : junk, uid: i + 1 }])]);
  }
  const [first, second] = emails;
  await writer.commit([
    { type: 'DeletedChanged', payload: { folderId: inbox, emailId: first!.id, uid: 1, isDeleted: true } },
    { type: 'EmailRemoved', payload: { emailId: second!.id, placements: [{ folderId: junk, uid: 2 }] } },
  ]);
  const { mailbox, modseq } = await claimed(writer.accountId);
  t.is(modseq, writer.modseq);
  t.deepEqual(plain(mailbox), await read(writer.accountId));
  t.deepEqual(mailbox!.placements.map(({ count }) => count).sort(), [1, 2]);
});

test('a mailbox that is large, or has deferred flag writes, is read after its claim', async (t) => {
  const writer = await open();
  const emails = Array.from({ length: 501 }, () => newEmail());
  await writer.commit(emails.map((email, i) => emailAdded(email, [{ folderId: writer.folder('inbox'), uid: i + 1 }])));
  t.is((await claimed(writer.accountId)).mailbox, undefined);

  const flagged = await open();
  const few = [newEmail(), newEmail()];
  await flagged.commit(few.map((email, i) => emailAdded(email, [{ folderId: flagged.folder('inbox'), uid: i + 1 }])));
  t.not((await claimed(flagged.accountId, 1)).mailbox, undefined);
  await flagged.commit([
    flaggedTogether(
      few.map(({ id }) => id),
      FLAGGED,
    ),
  ]);
  t.is((await claimed(flagged.accountId)).mailbox, undefined);
});

test('what was read before a commit that the claim has waited for is not the mailbox', async (t) => {
  const writer = await open();
  const { accountId: id } = writer;
  await writer.add();
  let claiming: ReturnType<typeof claimed> | undefined;
  await sql.begin(async (tx) => {
    await tx`update accounts set modseq = modseq + 1 where id = ${id}`;
    await tx`update emails set subject = 'changed', modseq = modseq + 1 where account_id = ${id}`;
    claiming = claimed(id);
    // Claims of other tests, which wait for other accounts, do not count.
    const isWaiting = async () =>
      (await tx`select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`).length > 0;
    while (!(await isWaiting()));
  });
  const { modseq, mailbox } = await claiming!;
  t.is(modseq, writer.modseq + 1);
  t.is(mailbox, undefined);
  t.is((await claimed(id, 3)).mailbox?.emails[0]?.count, 1);
});

test('claims that are asked for together share a statement, and none of them waits for an account that is locked', async (t) => {
  const writers = [await open(), await open(), await open()];
  for (const writer of writers) await writer.add();
  const [first, locked, last] = writers.map(({ accountId }) => accountId) as [string, string, string];
  let waiting: ReturnType<typeof claimed> | undefined;
  await sql.begin(async (tx) => {
    await tx`update accounts set display_name = 'changed' where id = ${locked}`;
    waiting = claimed(locked);
    const claims = await Promise.all([claimed(first), claimed(last)]);
    t.deepEqual(
      claims.map(({ mailbox }) => mailbox?.emails[0]?.count),
      [1, 1],
    );
  });
  t.is((await waiting!).mailbox?.emails[0]?.count, 1);
  const epochs = async () =>
    (await sql`select epoch from accounts where id = any(${[first, locked, last]})`).map((row) => Number(row['epoch']));
  t.deepEqual(await epochs(), [2, 2, 2]);

  const kinds = await Promise.all([
    mailboxes.claim(first, 4),
    mailboxes.claim(first, 3),
    mailboxes.claim(locked, 1),
    mailboxes.claim('00000000-0000-7000-8000-000000000000', 4),
    mailboxes.claim(last, 4),
  ]);
  t.deepEqual(
    kinds.map(({ kind }) => kind),
    ['claimed', 'fenced', 'fenced', 'noSuchAccount', 'claimed'],
  );
});

test('a mailbox of which many UIDs were expunged is read after its claim', async (t) => {
  const writer = await open();
  const { accountId: id } = writer;
  await writer.add();
  const expunge = (count: number) => sql`
    insert into expunged (account_id, folder_id, uid, modseq)
    select ${id}, ${writer.folder('junk')}, n, 1 from generate_series(1, ${count}::int) n on conflict do nothing`;
  await expunge(2_000);
  t.is((await claimed(id)).mailbox?.overview.expunged.folders[0]?.count, 2_000);
  await expunge(2_001);
  t.is((await claimed(id)).mailbox, undefined);
  t.is((await mailboxes.overview(id)).expunged.folders[0]?.count, 2_001);
});
