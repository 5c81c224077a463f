// Outbound mail in a mailbox on a real store: drafts, queueing, deliveries, reports, operators.
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { mailboxWorld } from './mailbox-world.js';
import { addressee, attempt, enqueued, logged, outcome, reported, started, stored } from './outbound-world.js';

const draft = (subject: string, to: readonly string[] = ['a@one.test', 'b@two.test']) => ({
  sender: 'me@example.test',
  subject,
  content: { textBody: `text of ${subject}`, htmlBody: null },
  recipients: to.map(addressee),
});

test('drafts are made, replaced, listed, sent once as they were read, and deleted', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { id: accountId } = await world.directory.createAccount('me@example.test', 'Me');
  const mailbox = world.mailboxes.of(accountId);
  const { reply: made } = await mailbox.ask('createDraft', { draft: draft('first') });
  const outboundId = made!.id;
  const before = (await mailbox.ask('outbound', { outboundId })).reply!;
  t.is(before.email.status, 'Draft');
  t.is(before.content?.textBody, 'text of first');
  t.deepEqual((await mailbox.ask('updateDraft', { outboundId, draft: draft('second', ['c@three.test']) })).reply, {});
  const { email, content } = (await mailbox.ask('outbound', { outboundId })).reply!;
  t.deepEqual([email.subject, email.recipients.map(({ address }) => address)], ['second', ['c@three.test']]);
  t.is(content?.textBody, 'text of second');
  t.is(email.createdAt, before.email.createdAt);
  t.true(email.updatedAt > before.email.updatedAt);

  const message = await stored(world);
  const send = (updatedAt: number) =>
    mailbox.ask('enqueue', {
      ...message,
      draft: { id: outboundId, updatedAt },
      sender: 'me@example.test',
      content,
      recipients: [addressee('c@three.test')],
    });
  t.is((await send(before.email.updatedAt)).refusal, 'draftChanged');
  const [sent, again] = await Promise.all([send(email.updatedAt), send(email.updatedAt)]);
  t.is(sent.reply?.id, outboundId);
  t.is(sent.reply?.createdAt, email.createdAt);
  t.is(again.refusal, 'noSuchOutbound');
  t.is((await mailbox.ask('updateDraft', { outboundId, draft: draft('x') })).refusal, 'noSuchOutbound');
  t.is((await mailbox.ask('deleteDraft', { outboundId })).refusal, 'noSuchOutbound');

  const other = (await mailbox.ask('createDraft', { draft: draft('other') })).reply!.id;
  const pageOf = async (...statuses: ('Draft' | 'Queued' | 'Sending' | 'Sent')[]) => {
    const { items, totalCount } = (await mailbox.ask('outboundPage', { statuses, page: 1, pageSize: 10 })).reply!;
    t.is(items.length, totalCount);
    return items.map(({ id }) => id);
  };
  t.deepEqual(await pageOf('Draft'), [other]);
  t.deepEqual(await pageOf('Queued', 'Sending'), [outboundId]);
  t.deepEqual(await pageOf('Sent'), []);
  t.deepEqual((await mailbox.ask('deleteDraft', { outboundId: other })).reply, {});
  t.is((await mailbox.ask('deleteDraft', { outboundId: other })).refusal, 'noSuchOutbound');
  t.is((await mailbox.ask('outbound', { outboundId: other })).refusal, 'noSuchOutbound');
  t.deepEqual(await pageOf('Draft'), []);
  const rows = await world.sql`
    select (select count(*)::int from outbound) as emails, (select count(*)::int from outbound_recipients) as recipients,
      (select count(*)::int from outbound_contents) as contents`;
  t.deepEqual({ ...rows[0] }, { emails: 1, recipients: 1, contents: 1 });
});

test('drafts are counted within a group of commands too, and no more than 1,000 are kept', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { id: accountId } = await world.directory.createAccount('me@example.test', 'Me');
  const mailbox = world.mailboxes.of(accountId);
  const create = () => mailbox.ask('createDraft', { draft: draft('one', []) });
  const made = await Promise.all(Array.from({ length: 990 }, create));
  made.push(...(await Promise.all(Array.from({ length: 20 }, create))));
  t.is(made.filter(({ reply }) => reply !== undefined).length, 1_000);
  t.is(made.filter(({ refusal }) => refusal === 'tooMany').length, 10);
  world.reload();
  t.is((await create()).refusal, 'tooMany');
  const [gone, room, none] = await Promise.all([
    mailbox.ask('deleteDraft', { outboundId: made[0]!.reply!.id }),
    create(),
    create(),
  ]);
  t.deepEqual([gone.reply, room.refusal, none.refusal], [{}, undefined, 'tooMany']);
});

test('a queued message has its copy in Sent, read, in its thread, and hub clients hear of no new email', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { id: accountId } = await world.directory.createAccount('me@example.test', 'Me');
  const mailbox = world.mailboxes.of(accountId);
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
  t.deepEqual([sent.items.map((item) => item.id), sent.unreadCount], [[sentEmailId], 0]);
  const [reply] = await world.spool([accountId], 1, { inReplyTo: sent.items[0]!.messageId! });
  const { reply: delivered } = await reply!.deliver();
  const { threadId } = (await mailbox.ask('detail', { emailId: delivered!.emailId! })).reply!;
  t.is(threadId, sent.items[0]!.threadId);
  t.deepEqual(await logged(world, accountId, 'EmailPlaced', 'OutboundStatusChanged'), [
    ['EmailPlaced', { emailId: sentEmailId, folderId: (await folder(world, accountId, 'sent')).id, uid: 1 }],
    ['OutboundStatusChanged', { outboundId: id, status: 'Queued' }],
  ]);
  t.is((await logged(world, accountId, 'EmailDelivered')).length, 1);
  const { email } = (await mailbox.ask('outbound', { outboundId: id })).reply!;
  t.is(email.blob, blob);
  t.deepEqual(
    email.recipients.map(({ address, status }) => [address, status]),
    [
      ['a@one.test', 'Pending'],
      ['b@two.test', 'Pending'],
    ],
  );
});

async function folder(world: Awaited<ReturnType<typeof mailboxWorld>>, accountId: string, role: string) {
  const folders = await world.store.folders(accountId);
  return folders.find((row) => row.role === role)!;
}

test('recipients that were delivered are not delivered again; retries run out; the sender is owed a report once', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { id: accountId } = await world.directory.createAccount('me@example.test', 'Me');
  const mailbox = world.mailboxes.of(accountId);
  const { id } = await enqueued(world, accountId, ['a@one.test', 'b@two.test', 'c@three.test']);
  const first = await started(world, accountId, id);
  const [a, b, c] = first.reply!.recipients;
  t.is((await started(world, accountId, id)).refusal, 'notDue');
  const tried = attempt([{ id: a!.id, outcome: 'delivered' }]);
  const part = await mailbox.ask('reportDelivery', {
    outboundId: id,
    attemptId: first.attemptId,
    outcomes: [outcome(a!.id, 'delivered')],
    attempts: [tried],
    isOver: false,
    isInterrupted: false,
  });
  t.deepEqual(part.reply, { status: 'Sending', handedOver: [], nextRetryAt: null, reportDue: null });
  world.reload();
  const began = Date.now();
  const over = await reported(world, accountId, id, first.attemptId, [
    outcome(b!.id, 'permanent'),
    outcome(c!.id, 'temporary'),
    outcome(randomUUID(), 'delivered'),
  ]);
  t.is(over.reply?.status, 'Queued');
  t.true(over.reply!.nextRetryAt! >= began + 54_000 && over.reply!.nextRetryAt! <= Date.now() + 66_000);
  t.is((await reported(world, accountId, id, first.attemptId, [])).refusal, 'notUnderWay');
  t.is((await started(world, accountId, id)).refusal, 'notDue');

  for (const expected of ['Queued', 'Failed'] as const) {
    await mailbox.ask('manageOutbound', { outboundId: id, action: 'retry' });
    const next = await started(world, accountId, id);
    t.deepEqual(
      next.reply?.recipients.map(({ address }) => address),
      ['c@three.test'],
    );
    const { reply } = await reported(world, accountId, id, next.attemptId, [outcome(c!.id, 'temporary')]);
    t.is(reply?.status, expected);
  }
  const { email } = (await mailbox.ask('outbound', { outboundId: id })).reply!;
  t.deepEqual([email.status, email.retryCount, email.lastError], ['Failed', 2, 'temporary it is']);
  t.deepEqual(
    email.recipients.map(({ status, lastError, statusCode }) => [status, lastError, statusCode]),
    [
      ['Delivered', null, null],
      ['Failed', 'permanent it is', '5.1.1'],
      ['Failed', 'temporary it is', '4.2.0'],
    ],
  );
  t.deepEqual((await mailbox.ask('outboundTimeline', { outboundId: id })).reply, { attempts: [tried] });
  t.deepEqual(await logged(world, accountId, 'OutboundAttempted'), [
    ['OutboundAttempted', { outboundId: id, attempt: tried }],
  ]);
  t.deepEqual(
    (await logged(world, accountId, 'OutboundStatusChanged')).map(
      ([, payload]) => (payload as { status: string }).status,
    ),
    ['Queued', 'Sending', 'Queued', 'Sending', 'Queued', 'Sending', 'Failed'],
  );

  t.is((await mailbox.ask('reportMaterial', { outboundId: id })).reply?.kind, 'failed');
  t.is((await mailbox.ask('giveReport', { outboundId: id, kind: 'delayed', report: null })).refusal, 'notDue');
  const report = await stored(world);
  const give = () => mailbox.ask('giveReport', { outboundId: id, kind: 'failed', report });
  const [given, again] = await Promise.all([give(), give()]);
  t.is(again.refusal, 'notDue');
  const inbox = (await mailbox.ask('list', { folder: 'inbox', page: 1, pageSize: 10 })).reply!;
  t.deepEqual([inbox.items.map((item) => item.id), inbox.unreadCount], [[given.reply!.emailId!], 1]);
  t.is((await logged(world, accountId, 'EmailDelivered')).length, 1);
});

test('a delivery that was left behind is taken over by whoever knows it, and one that stops is due again at once', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { id: accountId } = await world.directory.createAccount('me@example.test', 'Me');
  const { id } = await enqueued(world, accountId, ['a@one.test']);
  const first = await started(world, accountId, id);
  t.is((await started(world, accountId, id, randomUUID())).refusal, 'notDue');
  world.reload();
  const second = await started(world, accountId, id, first.attemptId);
  t.is(second.reply?.recipients.length, 1);
  t.is((await reported(world, accountId, id, first.attemptId, [])).refusal, 'notUnderWay');
  world.noted.length = 0;
  const { reply } = await reported(world, accountId, id, second.attemptId, [], true);
  t.is(reply?.status, 'Queued');
  t.true(reply!.nextRetryAt! <= Date.now());
  t.deepEqual(world.noted, [id]);
  const third = await started(world, accountId, id);
  t.is(third.reply?.retryCount, 0);
  const recipientId = third.reply!.recipients[0]!.id;
  const sent = await reported(world, accountId, id, third.attemptId, [outcome(recipientId, 'delivered')]);
  t.is(sent.reply?.status, 'Sent');
  const { email } = (await world.mailboxes.of(accountId).ask('outbound', { outboundId: id })).reply!;
  t.is(email.status, 'Sent');
  t.is(email.sentAt, email.recipients[0]!.deliveredAt);
  t.not(email.sentAt, null);
});

test('mail for mailboxes of this store is handed over once, the sender itself included, and not to accounts that are gone', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const me = await world.directory.createAccount('me@example.test', 'Me');
  const you = await world.directory.createAccount('you@example.test', 'You');
  const gone = randomUUID();
  const { id, blob, summary } = await enqueued(world, me.id, [
    'me@example.test',
    'you@example.test',
    'gone@example.test',
  ]);
  const { attemptId, reply } = await started(world, me.id, id);
  // Its row and the message are not in memory any more.
  world.reload();
  const [a, b, c] = reply!.recipients;
  const outcomes = [
    outcome(a!.id, 'delivered', me.id),
    outcome(a!.id, 'delivered', me.id),
    outcome(b!.id, 'delivered', you.id),
    outcome(c!.id, 'delivered', gone),
  ];
  const { reply: part } = await world.mailboxes.of(me.id).ask('reportDelivery', {
    outboundId: id,
    attemptId,
    outcomes,
    attempts: [],
    isOver: false,
    isInterrupted: false,
  });
  t.deepEqual(
    part?.handedOver.map(({ accountId }) => accountId),
    [me.id, you.id, gone],
  );
  const again = await reported(world, me.id, id, attemptId, outcomes);
  t.deepEqual([again.reply?.status, again.reply?.handedOver], ['Sent', []]);
  const rows = await world.sql`
    select account_id, id, encode(blob, 'hex') as blob, envelope->'summary' as summary from inbound order by id`;
  t.deepEqual(
    rows.map((row) => ({ ...row })),
    part!.handedOver
      .slice(0, 2)
      .map(({ accountId, inboundId }) => ({ account_id: accountId, id: inboundId, blob, summary }))
      .sort((x, y) => (x.id < y.id ? -1 : 1)),
  );
  for (const { accountId, inboundId } of part!.handedOver.slice(0, 2)) {
    const given = await world.mailboxes.of(accountId).ask('deliver', { inboundId, blob, receivedAt: 1, summary });
    t.is(typeof given.reply?.emailId, 'string');
  }
  t.is((await world.sql`select from inbound`).length, 0);
});
