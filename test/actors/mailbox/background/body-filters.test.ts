// Tests filters of mail whose body could not be read in time for its delivery: they apply later, once, whatever happens meanwhile.

import pino from 'pino';
import { startBodyFiltering } from '../../../../src/actors/mailbox/background/body-filters.js';
import type { Mailboxes } from '../../../../src/actors/mailbox/protocol.js';
import test from '../../../support/test.js';
import { until } from '../../../support/until.js';
import { checkRows, mailboxWorld } from '../mailbox-world.js';

const CONDITIONS = { fromAddressContains: null, subjectContains: null, hasAttachments: null };
const NOTHING_DONE = { markAsRead: null, assignLabelId: null, delete: null };

async function setUp() {
  const world = await mailboxWorld();
  const account = await world.directory.createAccount('deferred@example.test', 'x');
  const mailbox = world.mailboxes.of(account.id);
  const filter = async (name: string, bodyContains: string | null, actions: object, priority = 1) => {
    const conditions = { ...CONDITIONS, ...(bodyContains === null ? { subjectContains: 'mail' } : {}), bodyContains };
    const rule = { ...conditions, name, isEnabled: true, priority, ...NOTHING_DONE, ...actions };
    return (await mailbox.ask('createFilter', { rule })).reply!.id;
  };
  const label = async (name: string) =>
    (await mailbox.ask('createLabel', { name, color: '#808080', sortOrder: 0 })).reply!.id;
  const deliver = async (body: string) => {
    const [spooled] = await world.spool([account.id], 1, { body });
    return (await spooled!.deliver()).reply!.emailId!;
  };
  const shown = async (emailId: string) => {
    const { reply } = await mailbox.ask('detail', { emailId });
    return reply && { isRead: reply.isRead, labels: reply.labels.map(({ name }) => name) };
  };
  const waiting = async () =>
    (await mailbox.ask('filtersAwaitingBody', {})).reply!.emails.map(({ emailId }) => emailId);
  const applied = async () =>
    (await mailbox.ask('filters', {})).reply!.filters.map(({ name, timesApplied, lastAppliedAt }) => [
      name,
      timesApplied,
      lastAppliedAt !== null,
    ]);
  /** Waits until no email waits for filters. */
  const settled = () => until(async () => (await waiting()).length === 0);
  return { world, accountId: account.id, mailbox, filter, label, deliver, shown, waiting, applied, settled };
}

test('mail is delivered without its body, and the filters that look at it follow', async (t) => {
  const { world, accountId, filter, label, deliver, shown, waiting, applied, settled } = await setUp();
  t.teardown(world.end);
  const [money, all] = [await label('Money'), await label('All')];
  await filter('body', 'INVOICE', { assignLabelId: money, markAsRead: true });
  await filter('no such words', 'holiday', { delete: true });
  await filter('subject', null, { assignLabelId: all });
  world.texts.fault = new Error('no body today');
  const emailId = await deliver('your invoice');
  t.deepEqual(await shown(emailId), { isRead: false, labels: ['All'] });
  t.deepEqual(await waiting(), [emailId]);
  t.deepEqual(await applied(), [
    ['body', 0, false],
    ['no such words', 0, false],
    ['subject', 1, true],
  ]);
  const { seq: before } = (await world.events.read(accountId, 0, 1000)).at(-1)!;
  world.texts.fault = undefined;
  await settled();
  t.deepEqual(await shown(emailId), { isRead: true, labels: ['All', 'Money'] });
  t.deepEqual(await applied(), [
    ['body', 1, true],
    ['no such words', 0, false],
    ['subject', 1, true],
  ]);
  t.deepEqual(
    (await world.events.read(accountId, before, 1000)).map(({ type }) => type),
    ['BodyFiltersEnded', 'FilterChanged', 'EmailPlaced', 'FlagsChanged', 'UnreadCountChanged'],
  );
  const [rows] = await world.sql`select count(*)::int as count from deferred_filters`;
  t.is(rows?.['count'], 0);
});

test('what waits outlives its owner; a body that deletes does so then; an email that is gone leaves nothing', async (t) => {
  const { world, mailbox, filter, deliver, shown, waiting, settled } = await setUp();
  t.teardown(world.end);
  await filter('spam', 'spam', { delete: true });
  world.texts.fault = new Error('no body today');
  const [spam, gone] = [await deliver('this is spam'), await deliver('this is spam, too')];
  t.deepEqual((await waiting()).toSorted(), [spam, gone].toSorted());
  await mailbox.ask('remove', { emailIds: [gone] });
  t.deepEqual(await waiting(), [spam]);
  world.reload();
  t.deepEqual(await waiting(), [spam]);
  world.texts.fault = undefined;
  await settled();
  t.is(await shown(spam), undefined);
});

test('a body that deletes takes away what the delivery made; copies that clients made meanwhile stay', async (t) => {
  const { world, accountId, mailbox, filter, label, deliver, waiting, settled } = await setUp();
  t.teardown(world.end);
  const [given, chosen] = [await label('Given'), await label('Chosen')];
  await filter('subject', null, { assignLabelId: given }, 0);
  await filter('spam', 'spam', { delete: true });
  world.texts.fault = new Error('no body today');
  const [alone, copied, moved, back] = await Promise.all(['a', 'b', 'c', 'd'].map((word) => deliver(`${word} spam`)));
  const uidOf = async (folder: string, emailId: string) => {
    const [row] = await world.sql`select p.uid::int from placements p join folders f on f.id = p.folder_id
      where p.account_id = ${accountId} and p.email_id = ${emailId} and (f.role = ${folder} or f.id::text = ${folder})`;
    return row?.['uid'] as number;
  };
  const byUid = async (folderId: string, emailId: string) => {
    const uid = await uidOf(folderId, emailId);
    return { folderId, uids: [[uid, uid]] as [number, number][] };
  };
  const inbox = async (emailId: string) => ({ selection: await byUid('inbox', emailId) });
  t.is((await mailbox.ask('copy', { ...(await inbox(copied!)), toFolderId: chosen })).reply?.count, 1);
  t.is((await mailbox.ask('move', { ...(await inbox(moved!)), toFolderId: 'archive' })).reply?.count, 1);
  t.is((await mailbox.ask('move', { ...(await inbox(back!)), toFolderId: 'archive' })).reply?.count, 1);
  const away = { selection: await byUid('archive', back!), toFolderId: 'inbox' };
  t.is((await mailbox.ask('move', away)).reply?.count, 1);
  const uids = await Promise.all([uidOf(chosen, copied!), uidOf('archive', moved!), uidOf('inbox', back!)]);
  world.reload();
  t.is((await waiting()).length, 4);
  world.texts.fault = undefined;
  await settled();
  const rows = await world.sql`select p.email_id as id, f.role, f.name, p.uid::int from placements p
    join folders f on f.id = p.folder_id where p.account_id = ${accountId} order by p.email_id`;
  t.deepEqual(
    rows.map(({ id, name, uid }) => [id, name, uid]),
    [
      [copied, 'Chosen', uids[0]],
      [moved, 'Archive', uids[1]],
      [back, 'INBOX', uids[2]],
    ].toSorted(([a], [b]) => (a! < b! ? -1 : 1)),
    alone,
  );
  await checkRows(world, t, accountId);
});

test('a filter that deletes an email that is announced ends what came with it; copies that clients made stay', async (t) => {
  const { world, accountId, mailbox, filter, label, deliver, waiting, settled } = await setUp();
  t.teardown(world.end);
  const [given, chosen] = [await label('Given'), await label('Chosen')];
  await filter('subject', null, { assignLabelId: given }, 0);
  const ids = await Promise.all(['a', 'b', 'c', 'd'].map((word) => deliver(`${word} spam`)));
  const [alone, copied, moved, late] = ids;
  const inInbox = async (emailId: string) => {
    const [row] = await world.sql`select p.uid::int from placements p join folders f on f.id = p.folder_id
      where p.account_id = ${accountId} and p.email_id = ${emailId} and f.role = 'inbox'`;
    const uid = row!['uid'] as number;
    return { folderId: 'inbox', uids: [[uid, uid]] as [number, number][] };
  };
  await new Promise((resolve) => setTimeout(resolve, 2));
  for (const id of [copied, late]) {
    await mailbox.ask('copy', { selection: await inInbox(id!), toFolderId: chosen });
  }
  await mailbox.ask('move', { selection: await inInbox(moved!), toFolderId: 'archive' });
  await filter('spam', 'spam', { delete: true }, -1);
  const announced = async (id: string) => (await mailbox.ask('announce', { emailId: id })).reply;
  t.deepEqual(await announced(alone!), { isKept: false });
  t.deepEqual(await announced(copied!), { isKept: true });
  t.deepEqual(await announced(moved!), { isKept: true });
  world.texts.fault = new Error('no body today');
  t.deepEqual(await announced(late!), { isKept: true });
  t.deepEqual(await waiting(), [late]);
  world.texts.fault = undefined;
  await settled();
  const rows = await world.sql`select p.email_id as id, f.name from placements p
    join folders f on f.id = p.folder_id where p.account_id = ${accountId} order by p.email_id, f.name`;
  t.deepEqual(
    rows.map(({ id, name }) => [id, name]),
    [
      [copied, 'Chosen'],
      [moved, 'Archive'],
      [late, 'Chosen'],
    ].toSorted(([a], [b]) => (a! < b! ? -1 : 1)),
  );
  await checkRows(world, t, accountId);
});

test('an email that is announced twice at once is filtered once, and counted once where it ends', async (t) => {
  const { world, accountId, mailbox, filter, deliver, waiting, settled } = await setUp();
  t.teardown(world.end);
  const [kept, ended] = [await deliver('kept'), await deliver('spam')];
  await filter('spam', 'spam', { delete: true });
  const announcedTwice = (emailId: string) =>
    Promise.all([mailbox.ask('announce', { emailId }), mailbox.ask('announce', { emailId })]);
  const [first, second] = await announcedTwice(ended);
  t.deepEqual([first!.reply, second!.refusal], [{ isKept: false }, 'noSuchEmail']);
  await checkRows(world, t, accountId);

  const late = await deliver('late');
  await filter('late', 'late', { delete: true });
  world.texts.fault = new Error('no body today');
  await announcedTwice(late);
  t.deepEqual(await waiting(), [late]);
  world.texts.fault = undefined;
  await settled();
  const { reply } = await mailbox.ask('list', { folder: 'inbox', page: 1, pageSize: 10 });
  t.deepEqual(
    reply!.items.map(({ id }) => id),
    [kept],
  );
  t.is(reply!.totalCount, 1);
  await checkRows(world, t, accountId);
});

test('a body that is never decoded whole is judged by its start, after some tries', async (t) => {
  const { world, filter, deliver, shown, settled } = await setUp();
  t.teardown(world.end);
  await filter('read', 'start', { markAsRead: true });
  world.texts.isUndecoded = true;
  const emailId = await deliver('the start of it');
  const asked = world.texts.asked;
  await settled();
  t.deepEqual(await shown(emailId), { isRead: true, labels: [] });
  t.true(world.texts.asked - asked > 3);
});

test('of a long body what was read counts at once, what was not read afterwards', async (t) => {
  const { world, filter, label, deliver, shown, waiting, settled } = await setUp();
  t.teardown(world.end);
  const [start, end, beyond] = [await label('Start'), await label('End'), await label('Beyond')];
  await filter('start', 'first words', { assignLabelId: start });
  await filter('end', 'ÉND of it', { assignLabelId: end });
  await filter('beyond', 'nobody reads', { assignLabelId: beyond });
  world.texts.most = 100;
  // The words cross the end of a piece that is searched in one turn, and a letter is written as two characters.
  const before = `First words ${'x'.repeat(256 * 1024 - 15)}e\u0301nd of it`;
  world.texts.mostLong = before.length;
  world.texts.longFault = new Error('not yet');
  const emailId = await deliver(`${before} nobody reads this`);
  t.deepEqual(await shown(emailId), { isRead: false, labels: ['Start'] });
  t.deepEqual(await waiting(), [emailId]);
  const { asked } = world.texts;
  world.texts.longFault = undefined;
  await settled();
  t.deepEqual(await shown(emailId), { isRead: false, labels: ['End', 'Start'] });
  t.is(world.texts.asked, asked + 1, 'what is too long is not tried again');
});

test('a filter that is tried says of which emails it cannot tell', async (t) => {
  const { world, mailbox, filter, deliver, settled } = await setUp();
  t.teardown(world.end);
  const id = await filter('f', 'words', {});
  world.texts.most = 20;
  const [near, far] = [await deliver('words and what follows'), await deliver(`${'x'.repeat(40)} words`)];
  await settled();
  const { reply } = await mailbox.ask('testFilter', { filterId: id, limit: 10 });
  t.deepEqual(reply, { matchCount: 1, matchedEmailIds: [near], untestedCount: 1 }, far);
});

test('filters that are disabled or deleted meanwhile do nothing', async (t) => {
  const { world, mailbox, filter, deliver, shown, settled } = await setUp();
  t.teardown(world.end);
  const [disabled, deleted] = [
    await filter('a', 'words', { markAsRead: true }),
    await filter('b', 'words', { delete: true }),
  ];
  world.texts.fault = new Error('no body today');
  const emailId = await deliver('words');
  const conditions = { ...CONDITIONS, bodyContains: 'words' };
  const rule = { ...conditions, name: 'a', isEnabled: false, priority: 1, ...NOTHING_DONE, markAsRead: true };
  await mailbox.ask('updateFilter', { filterId: disabled, rule });
  await mailbox.ask('deleteFilter', { filterId: deleted });
  world.texts.fault = undefined;
  await settled();
  t.deepEqual(await shown(emailId), { isRead: false, labels: [] });
});

test('an account that gets mail all the time has a last try, too', async (t) => {
  const emails = [{ emailId: 'e', blob: 'b', filters: [{ id: 'f', bodyContains: 'start' }] }];
  let tries = 0;
  let isApplied = false;
  await new Promise<void>((resolve, reject) => {
    const bodyFilters = startBodyFiltering({
      texts: {
        header: async () => Promise.reject(new Error('no header is asked for')),
        async longText() {
          if (++tries > 50) reject(new Error('no try is the last one'));
          bodyFilters.note('a');
          return { text: 'the start', extent: 'undecoded' as const };
        },
      },
      mailboxes: {
        of: () => ({
          async ask(name: string, payload: unknown) {
            if (name === 'filtersAwaitingBody') return { reply: { emails: isApplied ? [] : emails } };
            t.deepEqual(payload, { emailId: 'e', filterIds: ['f'] });
            isApplied = true;
            resolve();
            return { reply: { applied: 1 } };
          },
        }),
      } as unknown as Mailboxes,
      log: pino({ level: 'silent' }),
      retryMs: 1,
    });
    t.teardown(() => bodyFilters.stop());
    bodyFilters.note('a');
  });
  t.is(tries, 5);
});
