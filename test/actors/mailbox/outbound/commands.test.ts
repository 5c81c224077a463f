// Tests outbound mail in a mailbox on a real store: drafts, queueing, deliveries, reports, operators.
import { randomUUID } from 'node:crypto';
import type { ChangeOf } from '../../../../src/store/changes/changes.js';
import { StoreFault } from '../../../../src/store/errors.js';
import test from '../../../support/test.js';
import { summary } from '../command-world.js';
import { mailboxWorld } from '../mailbox-world.js';
import {
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

/** Returns a draft whose message counts as stored. */
const draft = (subject: string, to: readonly string[] = ['a@one.test', 'b@two.test']) => ({
  sender: 'me@example.test',
  subject,
  content: { textBody: `text of ${subject}`, htmlBody: null },
  recipients: to.map(addressee),
  message: { blob: '00'.repeat(32), size: 1, summary: summary(subject) },
});

test('drafts are made, replaced, listed, sent once as they were read, and deleted', async (t) => {
  const { world, mailbox } = await sender(t);
  const { reply: made } = await mailbox.ask('createDraft', { draft: draft('first') });
  const outboundId = made!.id;
  const before = (await mailbox.ask('outbound', { outboundId })).reply!;
  t.is(before.email.status, 'Draft');
  t.is(before.content?.textBody, 'text of first');
  const changed = await mailbox.ask('updateDraft', { outboundId, draft: draft('second', ['c@three.test']) });
  const { email, content } = (await mailbox.ask('outbound', { outboundId })).reply!;
  t.deepEqual(changed.reply, { updatedAt: email.updatedAt });
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

test('a draft holds its message in the store, and lets go of it when another takes its place', async (t) => {
  const { world, mailbox } = await sender(t);
  const next = async () => {
    const { blob, summary } = await stored(world);
    return { blob, size: summary.size, summary };
  };
  const [first, third] = [await next(), await next()];
  const collected = async () => {
    // New blobs are not collected for a while.
    await world.sql`update blobs set stored_at = stored_at - interval '1 day'`;
    await world.sql`update blob_candidates set at = at - interval '1 day'`;
    await world.blobs.collect(3_600_000, 100);
    const left = await world.sql<{ hash: string }[]>`select encode(hash, 'hex') as hash from blobs`;
    return left.map(({ hash }) => hash).sort();
  };
  const long = { ...draft('long'), content: null };
  const outboundId = (await mailbox.ask('createDraft', { draft: { ...draft('short'), message: first } })).reply!.id;
  const kept = (await mailbox.ask('createDraft', { draft: { ...long, message: third } })).reply!.id;
  t.like((await mailbox.ask('outbound', { outboundId })).reply, {
    email: { blob: first.blob, size: first.size },
    content: { htmlBody: null },
  });
  t.deepEqual(await collected(), [first.blob, third.blob].sort());

  const second = await next();
  await mailbox.ask('updateDraft', { outboundId, draft: { ...long, message: second } });
  const { reply } = await mailbox.ask('outbound', { outboundId });
  t.like(reply, { email: { blob: second.blob, size: second.size }, content: null });
  t.deepEqual(await collected(), [second.blob, third.blob].sort());

  const message = await stored(world);
  const draftRead = { id: outboundId, updatedAt: reply!.email.updatedAt };
  const queue = { draft: draftRead, sender: 'me@example.test', content: null, recipients: [addressee('a@one.test')] };
  t.is((await mailbox.ask('enqueue', { ...message, ...queue })).reply?.id, outboundId);
  t.like((await mailbox.ask('outbound', { outboundId })).reply, {
    email: { blob: message.blob, size: message.summary.size },
    content: null,
  });
  t.deepEqual(await collected(), [message.blob, third.blob].sort());
  await mailbox.ask('deleteDraft', { outboundId: kept });
  t.deepEqual(await collected(), [message.blob]);
});

test('drafts are counted within a group of commands too, and no more than 1,000 are kept', async (t) => {
  const { world, mailbox } = await sender(t);
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

/** Returns the new emails in the log. */
async function added(world: Awaited<ReturnType<typeof mailboxWorld>>, accountId: string) {
  const events = await logged(world, accountId, 'EmailAdded');
  return events.map(([, payload]) => {
    const { email, placements, isNew } = payload as ChangeOf<'EmailAdded'>['payload'];
    return { id: email.id, placements, isNew };
  });
}

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

test('mail for mailboxes of this store is delivered once, the sender itself included, and not to accounts that are gone', async (t) => {
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
  // Neither its row nor the message is in memory any more.
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
    part?.localDeliveries.map(({ accountId }) => accountId),
    [me.id, you.id, gone],
  );
  const again = await reported(world, me.id, id, attemptId, outcomes);
  t.deepEqual([again.reply?.status, again.reply?.localDeliveries], ['Sent', []]);
  const rows = await world.sql`
    select account_id, id, encode(blob, 'hex') as blob, envelope->'summary' as summary from inbound order by id`;
  t.deepEqual(
    rows.map((row) => ({ ...row })),
    part!.localDeliveries
      .slice(0, 2)
      .map(({ accountId, inboundId }) => ({ account_id: accountId, id: inboundId, blob, summary }))
      .sort((x, y) => (x.id < y.id ? -1 : 1)),
  );
  for (const { accountId, inboundId } of part!.localDeliveries.slice(0, 2)) {
    const given = await world.mailboxes.of(accountId).ask('deliver', { inboundId, blob, receivedAt: 1, summary });
    t.is(typeof given.reply?.emailId, 'string');
  }
  t.is((await world.sql`select from inbound`).length, 0);
});

test('what cannot be read fails as the store does, and is not said to be missing', async (t) => {
  const { world, accountId, mailbox } = await sender(t);
  const outboundId = (await mailbox.ask('createDraft', { draft: draft('kept') })).reply!.id;
  const queued = await enqueued(world, accountId, ['me@example.test']);
  const delivery = await started(world, accountId, queued.id);
  world.reload();
  await mailbox.ask('unreadCount', {});
  const { store, blobs } = world;
  const { outboundRows, outboundCounts } = store;
  const down = () => Promise.reject(new StoreFault('store-unavailable', 'down', { temporary: true }));
  Object.assign(store, { outboundRows: down, outboundCounts: down });
  const reported = (outboundId: string) =>
    mailbox.ask('reportDelivery', {
      outboundId,
      attemptId: delivery.attemptId,
      outcomes: [outcome(delivery.reply!.recipients[0]!.id, 'delivered', accountId)],
      attempts: [],
      isOver: true,
      isInterrupted: false,
    });
  const asks = () => [
    mailbox.ask('updateDraft', { outboundId, draft: draft('new') }),
    mailbox.ask('manageOutbound', { outboundId: queued.id, action: 'cancel' }),
    reported(queued.id),
  ];
  // Commands that need nothing from the store succeed in the same group.
  const [label, more, ...failed] = await Promise.allSettled([
    mailbox.ask('createLabel', { name: 'L', color: '#000000', sortOrder: 0 }),
    mailbox.ask('createDraft', { draft: draft('more') }),
    ...asks(),
  ]);
  t.deepEqual([label?.status, more?.status], ['fulfilled', 'fulfilled']);
  for (const result of failed) t.like(result, { status: 'rejected', reason: { code: 'store-unavailable' } });
  Object.assign(store, { outboundRows, outboundCounts });
  const { index } = blobs;
  Object.assign(blobs, { index: down });
  await t.throwsAsync(reported(queued.id), { message: 'down' });
  Object.assign(blobs, { index });
  t.is((await reported(queued.id)).reply?.status, 'Sent');
  t.is((await mailbox.ask('updateDraft', { outboundId, draft: draft('new') })).refusal, undefined);
  t.is((await mailbox.ask('outbound', { outboundId })).reply?.email.subject, 'new');
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
