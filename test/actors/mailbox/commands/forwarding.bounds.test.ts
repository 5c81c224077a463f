// Tests what is not sent on: junk, what is due already, what an account has too much of, and where its copy is then.
import { NO_RULE } from '../../../support/filter-row.js';
import test from '../../../support/test.js';
import { until } from '../../../support/until.js';
import { checkRows } from '../mailbox-world.js';
import { setUp, TO } from './forwards.js';

const limited = (hour: number) => ({
  limits: { account: { hour, day: null }, domain: { hour: null, day: null } },
});

test('mail that a filter puts in a folder comes there when the target refuses it', async (t) => {
  const { world, accountId, mailbox, forward, deliver, listed, inbox, send, end } = await setUp(t);
  await forward({ keepCopy: false });
  const work = (await mailbox.ask('createFolder', { name: 'Work', role: 'folder' })).reply!;
  const label = (await mailbox.ask('createLabel', { name: 'Mine', color: '#112233', sortOrder: 0 })).reply!;
  const rule = { ...NO_RULE, subjectContains: 'mail', moveToFolderId: work.id, assignLabelId: label.id };
  await mailbox.ask('putFilter', { rule: { ...rule, markAsRead: true } });
  t.is(await deliver(), null);
  await send();
  world.reload();
  await end('permanent');
  t.deepEqual(await inbox(), []);
  t.deepEqual(
    (await listed(work.id)).map(({ isRead }) => isRead),
    [true],
  );
  t.is((await listed(label.id)).length, 1);
  t.is(await deliver(), null);
  await mailbox.ask('deleteFolder', { folderId: work.id, withInferiors: false });
  await send(async () => ({ skip: 'a loop' }));
  t.is((await inbox()).length, 1, 'the folder is deleted meanwhile');
  await checkRows(world, t, accountId);
});

test('mail that a filter puts in Junk is not forwarded, by no filter and not by the account', async (t) => {
  const { mailbox, forward, deliver, due, listed } = await setUp(t);
  await forward({ keepCopy: false });
  const junk = (await mailbox.ask('folders', {})).reply!.folders.find(({ role }) => role === 'junk')!;
  const rule = { ...NO_RULE, subjectContains: 'mail', moveToFolderId: junk.id, forwardTo: TO };
  await mailbox.ask('putFilter', { rule });
  t.not(await deliver(), null);
  t.is((await listed('junk')).length, 1);
  t.deepEqual(await due(), []);
});

test('a filter that waits for a body does not forward mail that somebody has put in Junk', async (t) => {
  const { world, accountId, mailbox, deliver, due } = await setUp(t);
  const { folders } = (await mailbox.ask('folders', {})).reply!;
  const [inbox, junk] = ['inbox', 'junk'].map((wanted) => folders.find(({ role }) => role === wanted)!);
  await mailbox.ask('putFilter', { rule: { ...NO_RULE, bodyContains: 'hello', forwardTo: TO } });
  world.texts.fault = new Error('no body today');
  const emailId = await deliver();
  await mailbox.ask('move', { selection: { emailIds: [emailId!] }, fromFolderId: inbox!.id, toFolderId: junk!.id });
  world.reload();
  world.texts.fault = undefined;
  await mailbox.ask('folders', {});
  await until(() => world.stateOf(accountId).awaitingBody.size === 0);
  t.deepEqual(await due(), []);
});

test('an email of which a report comes again is forwarded once, also after it was sent', async (t) => {
  const { world, accountId, mailbox, forward, deliver, due, outbound, send } = await setUp(t);
  const emailId = (await deliver())!;
  await forward({});
  await mailbox.ask('announce', { emailId });
  await mailbox.ask('announce', { emailId });
  t.is((await due()).length, 1);
  await send();
  world.reload();
  await mailbox.ask('announce', { emailId });
  await send();
  t.is((await outbound()).length, 1);
  await checkRows(world, t, accountId);
});

test('a target of an alias and of the account gets a message once', async (t) => {
  const { forward, deliver, due } = await setUp(t);
  await forward({ keepCopy: false });
  await deliver({ onward: { targets: ['x@elsewhere.test', TO], isPlaced: true } });
  t.deepEqual((await due()).map(({ targets }) => targets).sort(), [[TO], ['x@elsewhere.test']]);
});

test('beyond its limit, an account keeps what it would forward, and its user may still send', async (t) => {
  const { world, accountId, forward, deliver, inbox, outbound, rows, send } = await setUp(t, limited(2));
  await forward({ keepCopy: false });
  for (let i = 0; i < 3; i++) await deliver();
  t.deepEqual(await send(), ['hour']);
  t.is((await outbound()).length, 2);
  t.is((await inbox()).length, 1);
  world.reload();
  await deliver();
  t.deepEqual(await send(), ['hour']);
  t.is((await inbox()).length, 2, 'the next owner counts on');
  t.is(await rows(), 2);
  const [count] = await world.sql`select sum(recipients)::int as sent, sum(forwarded)::int as on from sent_counts`;
  t.deepEqual({ ...count }, { sent: 0, on: 2 });
  await checkRows(world, t, accountId);
});

test('with a thousand messages due, an account keeps further ones', async (t) => {
  const { world, accountId, mailbox, forward, deliver, due, inbox, rows } = await setUp(t);
  await forward({ keepCopy: false });
  await deliver();
  await world.sql`
    insert into due_automatic_mail (account_id, id, kind, blob, detail)
    select account_id, gen_random_uuid(), kind, blob, detail from due_automatic_mail, generate_series(1, 998)`;
  world.reload();
  t.is(await deliver(), null);
  t.not(await deliver(), null, 'forwarding without a copy');
  t.not(await deliver({ onward: { targets: ['x@elsewhere.test'], isPlaced: false } }), null);
  await mailbox.ask('putFilter', { rule: { ...NO_RULE, subjectContains: 'mail', delete: true, forwardTo: TO } });
  t.not(await deliver(), null, 'a filter that deletes');
  t.is((await inbox()).length, 3);
  t.is(await rows(), 1000);
  t.is(world.automaticKept.length, 3);
  await mailbox.ask('sendAutomaticMail', { dueId: (await due())[0]!.id, outgoing: null });
  t.is(await deliver(), null, 'there is room again');
  await checkRows(world, t, accountId);
});
