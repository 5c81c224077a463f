// Tests the lessons of the junk filter in a real database: a lesson counts once and ends with what it teaches, and a judgment that has changed
// meanwhile stays due.
import { createHash, randomUUID } from 'node:crypto';
import { SEEN } from '../../../../src/mail-format/flags.js';
import type { JunkLessonStore, NewLesson } from '../../../../src/store/feedback/junk-lessons.js';
import { postgresDirectory } from '../../../../src/store/postgres/accounts/directory.js';
import { connect, type Sql } from '../../../../src/store/postgres/driver/client.js';
import { postgresJunkLessons } from '../../../../src/store/postgres/mailbox/junk-lessons.js';
import { migratedDatabase } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';

let sql: Sql;
let drop: () => Promise<void>;

test.before(async () => {
  const database = await migratedDatabase();
  sql = connect(database.address, { max: 4, applicationName: 'test' });
  drop = database.drop;
});

test.after.always(async () => {
  await sql?.end();
  await drop?.();
});

async function account() {
  const store = postgresJunkLessons(sql);
  const { id: accountId } = await postgresDirectory(sql, 1).createAccount(`${randomUUID()}@example.test`, 'x');
  const folders = await sql<
    { id: string; role: string }[]
  >`select id, role from folders where account_id = ${accountId}`;
  let uid = 0;
  const email = async (role: string, flags = 0, origin: string | null = null) => {
    const emailId = randomUUID();
    const blob = createHash('sha256').update(emailId).digest('hex');
    await sql`
      insert into emails (account_id, id, blob, thread_id, refs, from_address, from_name, subject, preview,
        received_at, size, has_attachments, attachment_count, flags, modseq, origin)
      values (${accountId}, ${emailId}, ${Buffer.from(blob, 'hex')}, ${emailId}, '{}', 'x@y.z', '', '', '', now(), 1, false, 0,
        ${flags}, 1, ${origin})`;
    const folderId = folders.find((folder) => folder.role === role)!.id;
    await sql`insert into placements (account_id, folder_id, uid, email_id, modseq)
      values (${accountId}, ${folderId}, ${++uid}, ${emailId}, 1)`;
    return { emailId, blob };
  };
  const judge = (emailId: string, isJunk: boolean) => sql`
    insert into due_junk_lessons (account_id, email_id, is_junk) values (${accountId}, ${emailId}, ${isJunk})
    on conflict (account_id, email_id) do update set is_junk = excluded.is_junk`;
  return { store, accountId, email, judge };
}

/** Learns everything that is due, and returns what was new. */
async function learnAll(store: JunkLessonStore, accountId: string): Promise<readonly NewLesson[]> {
  let all: readonly NewLesson[] = [];
  const due = await store.due(accountId, 100);
  await store.learn(accountId, due, [], (words, lessons) => {
    all = lessons;
    return { words: Buffer.concat([words ?? Buffer.of(), Buffer.from('x'.repeat(lessons.length))]), taught: lessons };
  });
  return all;
}

test('a lesson counts once; the other judgment of the same message undoes it', async (t) => {
  const { store, accountId, email, judge } = await account();
  const { emailId, blob } = await email('junk');
  await judge(emailId, true);
  t.true((await store.accountsDue([0], 1_000)).includes(accountId));
  t.deepEqual(await learnAll(store, accountId), [{ blob, isJunk: true, before: undefined }]);
  t.deepEqual(await store.due(accountId, 100), []);
  t.false((await store.accountsDue([0], 1_000)).includes(accountId));
  await judge(emailId, true);
  t.deepEqual(await learnAll(store, accountId), []);
  await judge(emailId, false);
  t.deepEqual(await learnAll(store, accountId), [{ blob, isJunk: false, before: true }]);
  const read = (await store.words([accountId])).get(accountId)!;
  t.is(Buffer.from(read.words!).toString(), 'xx');
  t.is(read.domain, 'example.test');
  const { accountId: silent } = await account();
  t.deepEqual((await store.words([silent])).get(silent), { words: null, domain: 'example.test' });
  t.is((await store.words([randomUUID()])).size, 0);
});

test('a judgment that changes while it is learnt stays due, and a failure leaves everything as it was', async (t) => {
  const { store, accountId, email, judge } = await account();
  const [one, other] = [await email('junk'), await email('junk')];
  await judge(one.emailId, true);
  await judge(other.emailId, true);
  const due = await store.due(accountId, 100);
  await judge(one.emailId, false);
  await t.throwsAsync(
    store.learn(accountId, due, [], () => {
      throw new Error('no');
    }),
  );
  t.is((await store.due(accountId, 100)).length, 2);
  await store.learn(accountId, due, [], (_, lessons) => {
    t.deepEqual(
      lessons.map(({ blob }) => blob),
      [other.blob],
    );
    return { words: Buffer.from('w'), taught: lessons };
  });
  t.deepEqual(await store.due(accountId, 100), [{ emailId: one.emailId, isJunk: false, blob: one.blob }]);
  await store.end(accountId, await store.due(accountId, 100));
  t.deepEqual(await store.due(accountId, 100), []);
});

test('examples are read emails outside of Junk, Trash, Sent and Drafts, each until it has taught something', async (t) => {
  const { store, accountId, email, judge } = await account();
  const read = await email('inbox', SEEN);
  const archived = await email('archive', SEEN, 'appended');
  await email('inbox');
  await email('inbox', SEEN, 'sent');
  for (const role of ['junk', 'trash', 'sent', 'drafts']) await email(role, SEEN);
  const judged = await email('inbox', SEEN);
  await judge(judged.emailId, false);
  const kept = await store.kept(accountId, 10);
  t.deepEqual(kept.map(({ emailId }) => emailId).sort(), [read.emailId, archived.emailId].sort());
  await store.learn(accountId, [], kept, (words, lessons) => {
    t.is(words, undefined);
    return { words: Buffer.from('w'), taught: lessons.slice(0, 1) };
  });
  t.is((await store.kept(accountId, 10)).length, 1);
  // An example that the user calls junk later is unlearnt.
  for (const { emailId } of kept) await judge(emailId, true);
  const lessons = await learnAll(store, accountId);
  t.deepEqual(lessons.map(({ before }) => before).sort(), [false, undefined, undefined]);
});
