// Tests outbound mail in a mailbox on a real store: what is queued and what is sent, what operators do, and suspect mail.
import { randomUUID } from 'node:crypto';
import test from '../../../support/test.js';
import { mailboxWorld } from '../mailbox-world.js';
import { added, enqueued, outcome, reported, sender, started, statusesLogged, stored } from '../outbound-world.js';

test('a queued message has its copy in Sent, read, in its thread, and hub clients hear of no new email', async (t) => {
  const { world, accountId, mailbox } = await sender(t);
  await mailbox.ask('createFilter', {
    rule: {
      name: 'all',
      isEnabled: true,
      priority: 0,
      fromAddressContains: 'me@',
      subjectContains: null,
      bodyContains: null,
      hasAttachments: null,
      markAsRead: null,
      assignLabelId: null,
      delete: true,
    },
  });
  const { id, sentEmailId, blob } = await enqueued(world, accountId, ['a@one.test', 'b@two.test']);
  t.deepEqual(world.noted, [id]);
  const sent = (await mailbox.ask('list', { folder: 'sent', page: 1, pageSize: 10 })).reply!;
  t.deepEqual([sent.items.map((item) => [item.id, item.outboundId]), sent.unreadCount], [[[sentEmailId, id]], 0]);
  const [reply] = await world.spool([accountId], 1, { inReplyTo: sent.items[0]!.messageId! });
  const { reply: delivered } = await reply!.deliver();
  const { threadId } = (await mailbox.ask('detail', { emailId: delivered!.emailId! })).reply!;
  t.is(threadId, sent.items[0]!.threadId);
  const [inbox, copies] = [await folder(world, accountId, 'inbox'), await folder(world, accountId, 'sent')];
  t.deepEqual(await added(world, accountId), [
    { id: sentEmailId, placements: [{ folderId: copies.id, uid: 1 }], isNew: false },
    { id: delivered!.emailId, placements: [{ folderId: inbox.id, uid: 1 }], isNew: true },
  ]);
  t.deepEqual(await statusesLogged(world, accountId), [{ outboundId: id, status: 'Queued' }]);
  const { email } = (await mailbox.ask('outbound', { outboundId: id })).reply!;
  t.deepEqual([email.blob, email.sentEmailId], [blob, sentEmailId]);
  t.deepEqual(
    email.recipients.map(({ address, status }) => [address, status]),
    [
      ['a@one.test', 'Pending'],
      ['b@two.test', 'Pending'],
    ],
  );
  await mailbox.ask('remove', { emailIds: [sentEmailId] });
  const after = (await mailbox.ask('outbound', { outboundId: id })).reply!.email;
  t.deepEqual([after.id, after.sentEmailId], [id, undefined]);
});

async function folder(world: Awaited<ReturnType<typeof mailboxWorld>>, accountId: string, role: string) {
  const { folders } = await world.store.overview(accountId);
  return folders.find((row) => row.role === role)!;
}

test('an email that is sent keeps no snapshot, and nothing more happens to it', async (t) => {
  const { world, accountId, mailbox } = await sender(t);
  const { id } = await enqueued(world, accountId, ['a@one.test']);
  const { reply, attemptId } = await started(world, accountId, id);
  const snapshot = async () => (await world.sql`select machine from outbound where id = ${id}`)[0]?.['machine'];
  t.is((await snapshot()).value, 'Sending');
  const over = await reported(world, accountId, id, attemptId, [outcome(reply!.recipients[0]!.id, 'delivered')]);
  t.is(over.reply?.status, 'Sent');
  t.is(await snapshot(), null);
  world.reload();
  t.is((await started(world, accountId, id)).refusal, 'notDue');
  t.is((await reported(world, accountId, id, attemptId, [])).refusal, 'notUnderWay');
  for (const action of ['retry', 'cancel'] as const) {
    t.is((await mailbox.ask('manageOutbound', { outboundId: id, action })).refusal, 'notPossible');
  }
  const none = { outboundId: id, recipientIds: [reply!.recipients[0]!.id], report: await stored(world) };
  t.is((await mailbox.ask('giveDsn', { ...none, kind: 'failed' })).refusal, 'notDue');
  const { email } = (await mailbox.ask('outbound', { outboundId: id })).reply!;
  t.deepEqual([email.status, email.recipients[0]?.status, email.subject !== ''], ['Sent', 'Delivered', true]);
});

test('operators make mail due at once, give what failed another chance, and cancel what waits', async (t) => {
  const { world, accountId, mailbox } = await sender(t);
  const manage = (outboundId: string, action: 'retry' | 'cancel') =>
    mailbox.ask('manageOutbound', { outboundId, action });
  const { id } = await enqueued(world, accountId, ['a@one.test', 'b@two.test'], '');
  const first = await started(world, accountId, id);
  t.is((await manage(id, 'cancel')).refusal, 'notPossible');
  const [a, b] = first.reply!.recipients;
  await reported(world, accountId, id, first.attemptId, [outcome(a!.id, 'delivered'), outcome(b!.id, 'temporary')]);
  world.noted.length = 0;
  t.is((await manage(id, 'cancel')).reply?.status, 'Failed');
  t.is((await manage(id, 'cancel')).refusal, 'notPossible');
  const failed = (await mailbox.ask('dsnMaterial', { outboundId: id })).reply!;
  t.deepEqual(
    failed.email.recipients.map(({ status, lastError }) => [status, lastError]),
    [
      ['Delivered', null],
      ['Failed', 'temporary it is'],
    ],
  );
  t.is(failed.kind, null, 'a null sender is told nothing');
  t.deepEqual(world.noted, []);
  t.is((await manage(id, 'retry')).reply?.status, 'Queued');
  t.deepEqual(world.noted, [id]);
  const second = await started(world, accountId, id);
  t.deepEqual(
    second.reply?.recipients.map((recipient) => recipient.id),
    [b!.id],
  );
  t.is(second.reply?.retryCount, 0);
  await reported(world, accountId, id, second.attemptId, [outcome(b!.id, 'delivered')]);
  for (const action of ['retry', 'cancel'] as const) t.is((await manage(id, action)).refusal, 'notPossible');
  t.is((await manage(randomUUID(), 'retry')).refusal, 'noSuchOutbound');
  t.is((await manage('x', 'retry')).refusal, 'noSuchOutbound');
});

test('suspect mail goes to Junk: unread there alone, past the filters, and nobody is told of a new email', async (t) => {
  const { world, accountId, mailbox } = await sender(t);
  const before = await world.events.read(accountId, 0, 100);
  const spooled = await world.spool([accountId], 1);
  const [row] = await world.sql`select id, envelope from inbound`;
  const { receivedAt, summary } = row!['envelope'];
  const delivery = { inboundId: row!['id'], blob: spooled[0]!.blob, receivedAt, summary, isJunk: true };
  const [first, again] = await Promise.all([mailbox.ask('deliver', delivery), mailbox.ask('deliver', delivery)]);
  t.is(again.reply?.emailId, null);
  const junk = await folder(world, accountId, 'junk');
  t.deepEqual([junk.total, junk.unread], [1, 1]);
  t.deepEqual((await mailbox.ask('acceptance', {})).reply, { isUnclaimed: false, total: 0 });
  t.deepEqual((await mailbox.ask('unreadCount', {})).reply, { unread: 0 });
  const events = (await world.events.read(accountId, 0, 100)).slice(before.length);
  t.deepEqual(
    events.map(({ type }) => type),
    ['EmailAdded'],
  );
  t.deepEqual(await added(world, accountId), [
    { id: first.reply!.emailId, placements: [{ folderId: junk.id, uid: 1 }], isNew: false },
  ]);
  t.is((await world.sql`select from inbound`).length, 0);
});

test('suspect mail of an unclaimed mailbox counts, and expires', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const opened = await world.directory.openUnclaimed('who@example.test', 10);
  if (opened.kind !== 'opened') return t.fail();
  const mailbox = world.mailboxes.of(opened.accountId);
  for (const receivedAt of [1, 50]) {
    const [spooled] = await world.spool([opened.accountId], receivedAt);
    const [row] = await world.sql`select id, envelope from inbound`;
    const { summary } = row!['envelope'];
    await mailbox.ask('deliver', { inboundId: row!['id'], blob: spooled!.blob, receivedAt, summary, isJunk: true });
  }
  t.deepEqual((await mailbox.ask('acceptance', {})).reply, { isUnclaimed: true, total: 2 });
  t.deepEqual((await mailbox.ask('expire', { receivedBefore: 10 })).reply, { removed: 1 });
  t.deepEqual((await mailbox.ask('acceptance', {})).reply, { isUnclaimed: true, total: 1 });
});
