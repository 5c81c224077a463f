// Tests commands that change many emails at once: the size of what one writes, the commits that they share, and the records in the log.
import { randomUUID } from 'node:crypto';
import { FLAGGED, SEEN } from '../../../../src/mail-format/flags.js';
import test from '../../../support/test.js';
import { message } from '../command-world.js';
import { mailboxWorld } from '../mailbox-world.js';
import type { Selection } from './placements-model.js';

test('a command that would write more than 4 MiB of keywords is refused, and changes nothing', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const account = await world.directory.createAccount(`${randomUUID()}@example.test`, 'Keywords');
  const mailbox = world.mailboxes.of(account.id);
  const emails = 250;
  for (let i = 0; i < emails; i += 50) {
    await Promise.all(
      Array.from({ length: 50 }, (_, k) =>
        mailbox.ask('append', { folderId: 'archive', messages: [message([], { receivedAt: i + k })] }),
      ),
    );
  }
  const selection: Selection = { folderId: 'archive', uids: [[1, emails]] };
  const names = (count: number) => Array.from({ length: count }, (_, i) => `k${i}`.padEnd(100, 'x'));
  const store = async (mode: 'add' | 'remove' | 'replace', flags: string[]) => {
    const { reply, refusal } = await mailbox.ask('storeFlags', { selection, mode, flags });
    return refusal ?? reply?.changed;
  };
  t.is(await store('add', names(180)), 'tooManyEmails');
  t.is(await store('replace', names(180)), 'tooManyEmails');
  t.is(await store('add', names(160)), emails);
  t.is(await store('add', ['one-more'.padEnd(100, 'x'), ...names(20)]), 'tooManyEmails');
  t.is(await store('add', ['\\Flagged']), emails, 'keywords that stay are not written');
  t.is(await store('remove', names(160)), emails);
  const [row] = await world.sql`
    select max(octet_length(entries::text)) as largest,
      (select count(*)::int from emails where account_id = ${account.id} and keywords <> '{}') as kept
    from events where account_id = ${account.id}`;
  t.is(row!['kept'], 0);
  t.true(row!['largest'] < 5 * 1024 * 1024);
});

test('commands on many emails do not all share one commit', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const account = await world.directory.createAccount(`${randomUUID()}@example.test`, 'Many');
  const mailbox = world.mailboxes.of(account.id);
  const added = await mailbox.ask('append', { folderId: 'inbox', messages: [message()] });
  const emailIds = [added.reply!.emails[0]!.emailId, ...Array.from({ length: 999 }, () => randomUUID())];
  const before = world.commits.length;
  const folders = ['archive', 'trash', 'inbox', 'archive', 'trash', 'inbox', 'sent'];
  const moves = folders.map((toFolderId) => mailbox.ask('move', { selection: { emailIds }, toFolderId }));
  for (const move of moves) t.is((await move).reply?.count, 1);
  const shared = world.commits.slice(before).map(({ modseqBefore, modseqAfter }) => modseqAfter - modseqBefore);
  t.true(Math.max(...shared) <= 2, shared.join());
});

test('a command on many emails is a record for all of them that end alike', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const account = await world.directory.createAccount(`${randomUUID()}@example.test`, 'Alike');
  const mailbox = world.mailboxes.of(account.id);
  const messages = Array.from({ length: 5 }, (_, i) => message(i < 2 ? ['\\Flagged'] : [], { receivedAt: i }));
  const appended = await mailbox.ask('append', { folderId: 'inbox', messages });
  const ids = appended.reply!.emails.map(({ emailId }) => emailId);
  const { seq } = (await world.events.read(account.id, 0, 100)).at(-1)!;
  const inInbox: Selection = { folderId: 'inbox', uids: [[1, 100]] };
  await mailbox.ask('storeFlags', { selection: inInbox, mode: 'add', flags: ['\\Seen'] });
  await mailbox.ask('copy', { selection: inInbox, toFolderId: 'archive' });
  await mailbox.ask('storeFlags', { selection: inInbox, mode: 'add', flags: ['\\Deleted'] });
  await mailbox.ask('expunge', { folderId: 'inbox' });
  await mailbox.ask('remove', { emailIds: ids });
  const [inbox, archive] = await Promise.all(
    ['inbox', 'archive'].map(async (folderId) => {
      const { reply } = await mailbox.ask('folderStatus', { folderIds: [folderId] });
      return reply!.folders[0]!.id;
    }),
  );
  const log = (await world.events.read(account.id, seq, 100)).filter(({ type }) => type !== 'UnreadCountChanged');
  const placements = ids.map((emailId, i) => ({ emailId, uid: i + 1 }));
  const placed = { ...placements[0]!, folderId: inbox, others: placements.slice(1) };
  t.deepEqual(
    log.map(({ type, payload }) => [type, payload]),
    [
      ['FlagsChanged', { emailId: ids[0], flags: SEEN | FLAGGED, changed: SEEN, others: [ids[1]] }],
      ['FlagsChanged', { emailId: ids[2], flags: SEEN, changed: SEEN, others: ids.slice(3) }],
      ['EmailPlaced', { emailId: ids[0], folderId: archive, uid: 1, others: ids.slice(1) }],
      ['DeletedChanged', { ...placed, isDeleted: true }],
      ['EmailExpunged', { ...placed, isHidden: true }],
      [
        'EmailRemoved',
        {
          emailId: ids[0],
          placements: [{ folderId: archive, uid: 1 }],
          others: placements.slice(1).map(({ emailId, uid }) => ({ emailId, uids: [uid] })),
        },
      ],
    ],
  );
});
