// Tests the outcomes of deliveries in a mailbox on a real store: recipients, retries, DSNs, takeovers, and mail for mailboxes of this store.
import { randomUUID } from 'node:crypto';
import test from '../../../support/test.js';
import { mailboxWorld } from '../mailbox-world.js';
import {
  added,
  addressee,
  attempt,
  enqueued,
  logged,
  outcome,
  reported,
  sender,
  started,
  statusesLogged,
  stored,
} from '../outbound-world.js';

test('recipients that were delivered are not delivered again; retries run out; the sender is owed a report once', async (t) => {
  const { world, accountId, mailbox } = await sender(t);
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
  const nothing = { localDeliveries: [], nextRetryAt: null, dsnDue: null, recipients: [], retryInMs: null };
  t.deepEqual(part.reply, { status: 'Sending', ...nothing });
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
  t.deepEqual(await logged(world, accountId, 'DeliveryAttempted'), [
    ['DeliveryAttempted', { outboundId: id, attempt: tried }],
  ]);
  t.deepEqual(
    (await statusesLogged(world, accountId)).map(({ status }) => status),
    ['Queued', 'Sending', 'Queued', 'Sending', 'Queued', 'Sending', 'Failed'],
  );

  const owed = (await mailbox.ask('dsnMaterial', { outboundId: id })).reply!;
  t.deepEqual([owed.kind, owed.recipientIds], ['failed', [b!.id, c!.id]]);
  const report = await stored(world);
  const named = { outboundId: id, recipientIds: owed.recipientIds, report };
  t.is((await mailbox.ask('giveDsn', { ...named, kind: 'delayed' })).refusal, 'notDue');
  t.is((await mailbox.ask('giveDsn', { ...named, kind: 'failed', recipientIds: [b!.id, a!.id] })).refusal, 'notDue');
  const give = () => mailbox.ask('giveDsn', { ...named, kind: 'failed' });
  const [given, again] = await Promise.all([give(), give()]);
  t.is(again.refusal, 'notDue');
  const inbox = (await mailbox.ask('list', { folder: 'inbox', page: 1, pageSize: 10 })).reply!;
  t.deepEqual([inbox.items.map((item) => item.id), inbox.unreadCount], [[given.reply!.emailId], 1]);
  t.deepEqual(
    (await added(world, accountId)).filter(({ isNew }) => isNew).map((email) => email.id),
    [given.reply!.emailId],
  );
});

test('a failure is owed a report while others wait, and named once, though others fail meanwhile', async (t) => {
  const { world, accountId, mailbox } = await sender(t);
  const { id } = await enqueued(world, accountId, ['a@one.test', 'b@two.test', 'c@three.test']);
  const first = await started(world, accountId, id);
  const [a, b, c] = first.reply!.recipients;
  const about = { outboundId: id, attemptId: first.attemptId, attempts: [], isOver: false, isInterrupted: false };
  const { reply } = await mailbox.ask('reportDelivery', { ...about, outcomes: [outcome(a!.id, 'permanent')] });
  t.is(reply!.dsnDue, null, 'failures of a while share a report');
  t.is((await mailbox.ask('dsnMaterial', { outboundId: id })).reply!.kind, null);
  const due = async () => {
    const [row] = await world.sql`
      select dsn_due, extract(epoch from dsn_at - now()) as seconds from outbound where id = ${id}`;
    return [row!['dsn_due'], Math.ceil(Number(row!['seconds']) / 60)];
  };
  t.deepEqual(await due(), ['failed', 1], 'within a minute');
  await mailbox.ask('reportDelivery', { ...about, outcomes: [outcome(b!.id, 'permanent')] });
  // The DSN was composed before the second recipient failed.
  const report = await stored(world);
  const give = (recipientIds: string[]) =>
    mailbox.ask('giveDsn', { outboundId: id, kind: 'failed', recipientIds, report });
  t.like((await give([a!.id])).reply, { isMoreDue: false });
  world.reload();
  t.is((await give([a!.id, b!.id])).refusal, 'notDue', 'nobody is named twice');
  t.deepEqual(await due(), ['failed', 1]);
  const over = await reported(world, accountId, id, first.attemptId, [outcome(c!.id, 'delivered')]);
  t.like(over.reply, { status: 'Failed', dsnDue: 'failed' }, 'nothing else is waited for');
  const left = (await mailbox.ask('dsnMaterial', { outboundId: id })).reply!;
  t.deepEqual([left.kind, left.recipientIds], ['failed', [b!.id]]);
  t.like((await give([b!.id])).reply, { isMoreDue: false });
  t.is((await mailbox.ask('dsnMaterial', { outboundId: id })).reply!.kind, null);
});

test('what a sender asked to be told is kept, and decides what is owed', async (t) => {
  const { world, accountId, mailbox } = await sender(t);
  const orcpt = 'rfc822;a+b@one.test';
  const recipients = [
    { ...addressee('never@one.test'), dsn: { notify: [], orcpt: null } },
    { ...addressee('all@one.test'), dsn: { notify: ['SUCCESS' as const, 'FAILURE' as const], orcpt } },
    { ...addressee('passed@one.test'), dsn: { notify: ['SUCCESS' as const], orcpt: null } },
    addressee('usual@one.test'),
  ];
  const dsn = { ret: 'FULL' as const, envid: 'e 1' };
  const outgoing = { draft: null, sender: 'me@example.test', content: null, recipients, dsn };
  const { id } = (await mailbox.ask('enqueue', { ...outgoing, ...(await stored(world)) })).reply!;
  world.reload();
  const { reply, attemptId } = await started(world, accountId, id);
  t.deepEqual(reply!.dsn, dsn);
  const [never, all, passed, usual] = reply!.recipients;
  t.deepEqual(all!.dsn, { notify: ['SUCCESS', 'FAILURE'], orcpt });
  t.is(usual!.dsn, undefined);
  await reported(world, accountId, id, attemptId, [
    outcome(never!.id, 'permanent'),
    outcome(all!.id, 'delivered', undefined, 'relayed'),
    outcome(passed!.id, 'delivered', undefined, 'passed'),
    outcome(usual!.id, 'delivered'),
  ]);
  world.reload();
  const owed = (await mailbox.ask('dsnMaterial', { outboundId: id })).reply!;
  t.deepEqual([owed.kind, owed.recipientIds], ['relayed', [all!.id]]);
  t.like(owed.dsn, dsn);
  t.is(owed.dsn!.recipients[all!.id]!.orcpt, orcpt);
});

test('a delivery that was left behind is taken over by whoever knows it, and one that stops is due again at once', async (t) => {
  const { world, accountId } = await sender(t);
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

test('a recipient is due again while another one is tried, and begins with the next report', async (t) => {
  const world = await mailboxWorld({ maxRetries: 2, baseMs: 1, capMs: 1 });
  t.teardown(world.end);
  const { id: accountId } = await world.directory.createAccount('me@example.test', 'Me');
  const mailbox = world.mailboxes.of(accountId);
  const { id } = await enqueued(world, accountId, ['a@quick.test', 'b@slow.test', 'c@busy.test']);
  const { reply, attemptId } = await started(world, accountId, id);
  const [a, b, c] = reply!.recipients;
  const rest = { outboundId: id, attemptId, attempts: [], isOver: false, isInterrupted: false };
  const first = await mailbox.ask('reportDelivery', {
    ...rest,
    outcomes: [outcome(a!.id, 'temporary')],
    postponed: [c!.id],
  });
  t.like(first.reply, { status: 'Sending', recipients: [] });
  t.true(first.reply!.retryInMs! <= 2);
  while (Date.now() < first.reply!.nextRetryAt! + 2) await new Promise(setImmediate);
  world.reload();
  const second = await mailbox.ask('reportDelivery', { ...rest, outcomes: [], begins: true });
  t.deepEqual(second.reply!.recipients.map(({ id: recipientId }) => recipientId).sort(), [a!.id, b!.id, c!.id].sort());
  t.is(second.reply!.retryInMs, null);
  const shown = (await mailbox.ask('outbound', { outboundId: id })).reply!.email;
  t.like(shown, { status: 'Sending', retryCount: 1, lastError: 'temporary it is' });
  t.is(shown.recipients[2]!.lastError, null, 'what was not tried has no answer');
  // The node dies: the next node repeats all that was under way.
  const again = await started(world, accountId, id, attemptId);
  t.is(again.reply!.recipients.length, 3);
  const outcomes = [a, b, c].map((recipient) => outcome(recipient!.id, 'delivered'));
  t.is((await reported(world, accountId, id, again.attemptId, outcomes)).reply?.status, 'Sent');
});

test('recipients beyond the mailboxes of one commit are not tried, which is no retry, even where none is allowed', async (t) => {
  const world = await mailboxWorld({ maxRetries: 0, baseMs: 1, capMs: 1 });
  t.teardown(world.end);
  const { id: accountId } = await world.directory.createAccount('me@example.test', 'Me');
  const mailbox = world.mailboxes.of(accountId);
  const { id } = await enqueued(world, accountId, ['a@many.test', 'b@many.test', 'c@many.test']);
  let attempt = await started(world, accountId, id);
  const [a, b, c] = attempt.reply!.recipients;
  const end = { outboundId: id, attempts: [], isOver: true, isInterrupted: false };
  for (const [taken, postponed] of [
    [a!, [b!.id, c!.id]],
    [b!, [c!.id]],
  ] as const) {
    const outcomes = [outcome(taken.id, 'delivered')];
    const { reply } = await mailbox.ask('reportDelivery', {
      ...{ ...end, attemptId: attempt.attemptId, outcomes, postponed: [...postponed] },
    });
    t.like(reply, { status: 'Queued' });
    while (Date.now() < reply!.nextRetryAt! + 2) await new Promise(setImmediate);
    attempt = await started(world, accountId, id);
    t.deepEqual(attempt.reply!.recipients.map(({ id: recipientId }) => recipientId).sort(), [...postponed].sort());
  }
  // A try that fails is the last one.
  const refused = [outcome(c!.id, 'temporary')];
  t.is((await reported(world, accountId, id, attempt.attemptId, refused)).reply?.status, 'Failed');
  const { recipients, retryCount } = (await mailbox.ask('outbound', { outboundId: id })).reply!.email;
  t.deepEqual(
    recipients.map(({ status }) => status),
    ['Delivered', 'Delivered', 'Failed'],
  );
  t.is(retryCount, 0);
});

test('mail for mailboxes of this store is delivered once, the sender itself included, and not to accounts that are gone', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const me = await world.directory.createAccount('me@example.test', 'Me');
  const you = await world.directory.createAccount('you@example.test', 'You');
  const them = await world.directory.createAccount('them@example.test', 'Them');
  const gone = randomUUID();
  const { id, blob, summary } = await enqueued(world, me.id, [
    'me@example.test',
    'you@example.test',
    'gone@example.test',
  ]);
  const { attemptId, reply } = await started(world, me.id, id);
  // Neither its row nor the message is in memory any more.
  world.reload();
  const [a, b, c] = reply!.recipients;
  const outcomes = [
    outcome(a!.id, 'delivered', me.id),
    outcome(a!.id, 'delivered', me.id),
    // An alias leads to two accounts.
    { ...outcome(b!.id, 'delivered', you.id), otherLocalAccountIds: [them.id] },
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
    part?.localDeliveries.map(({ accountId }) => accountId),
    [me.id, you.id, them.id, gone],
  );
  const again = await reported(world, me.id, id, attemptId, outcomes);
  t.deepEqual([again.reply?.status, again.reply?.localDeliveries], ['Sent', []]);
  const rows = await world.sql`
    select account_id, id, encode(blob, 'hex') as blob, envelope->'summary' as summary from inbound order by id`;
  t.deepEqual(
    rows.map((row) => ({ ...row })),
    part!.localDeliveries
      .slice(0, 3)
      .map(({ accountId, inboundId }) => ({ account_id: accountId, id: inboundId, blob, summary }))
      .sort((x, y) => (x.id < y.id ? -1 : 1)),
  );
  for (const { accountId, inboundId } of part!.localDeliveries.slice(0, 3)) {
    const given = await world.mailboxes.of(accountId).ask('deliver', { inboundId, blob, receivedAt: 1, summary });
    t.is(typeof given.reply?.emailId, 'string');
  }
  t.is((await world.sql`select from inbound`).length, 0);
});

test('an account that has got the message gets no second copy when another recipient is retried', async (t) => {
  const { world, accountId, mailbox } = await sender(t);
  const { id: taker } = await world.directory.createAccount('ann@example.test', 'Ann');
  const { id } = await enqueued(world, accountId, ['ann@example.test', 'info@example.test', 'team@example.test']);
  const first = await started(world, accountId, id);
  const [ann, info, team] = first.reply!.recipients.map((each) => each.id);
  const failed = [outcome(info!, 'temporary'), outcome(team!, 'temporary')];
  const { reply } = await reported(world, accountId, id, first.attemptId, [
    outcome(ann!, 'delivered', taker),
    ...failed,
  ]);
  t.is(reply!.localDeliveries.length, 1);
  const inbound = async () =>
    (
      await world.sql<{ delivery: unknown }[]>`select delivery from inbound where account_id = ${taker} order by id`
    ).map(({ delivery }) => delivery);
  t.is((await inbound()).length, 1);
  for (const recipient of [info!, team!]) {
    world.reload();
    await mailbox.ask('manageOutbound', { outboundId: id, action: 'retry' });
    const { attemptId } = await started(world, accountId, id);
    const onward = recipient === team ? { [taker]: { targets: ['x@elsewhere.test'], isPlaced: true } } : undefined;
    const answer = { ...outcome(recipient, 'delivered', taker), ...(onward !== undefined && { localOnward: onward }) };
    await reported(world, accountId, id, attemptId, [answer, ...(recipient === info ? [failed[1]!] : [])]);
  }
  t.is((await mailbox.ask('outbound', { outboundId: id })).reply!.email.status, 'Sent');
  const [, further, ...others] = await inbound();
  t.like(further, { recipient: 'team@example.test', onward: { isPlaced: false } }, 'what goes elsewhere goes');
  t.deepEqual(others, []);
});

test('whatever a remote says can be stored', async (t) => {
  const { world, accountId } = await sender(t);
  const { id } = await enqueued(world, accountId, ['a@one.test']);
  const { attemptId, reply } = await started(world, accountId, id);
  const recipientId = reply!.recipients[0]!.id;
  const rude = `450 \0 \ud800 ${'x'.repeat(5_000)}`;
  const { reply: over } = await world.mailboxes.of(accountId).ask('reportDelivery', {
    outboundId: id,
    attemptId,
    outcomes: [{ ...outcome(recipientId, 'temporary'), text: rude, statusCode: '4.\0.0' }],
    attempts: [{ ...attempt([{ id: recipientId, outcome: 'temporary' }]), reply: rude }],
    isOver: true,
    isInterrupted: false,
  });
  t.is(over?.status, 'Queued');
  world.reload();
  const { email } = (await world.mailboxes.of(accountId).ask('outbound', { outboundId: id })).reply!;
  t.true(email.lastError!.startsWith('450  \ufffd xxx') && email.lastError!.length <= 1_000);
});
