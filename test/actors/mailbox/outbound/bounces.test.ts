// Tests later bounces in the mailbox: who becomes Failed, what is told, and that a bounce which is not believed changes nothing.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import test from '../../../support/test.js';
import { addressee, attempt, enqueued, outcome, sender, started, statusesLogged, stored } from '../outbound-world.js';

const TAKER = '192.0.2.1';

/** Returns a world with a delivered email to two recipients at one host. */
async function sent(t: ExecutionContext) {
  const { world, accountId, mailbox } = await sender(t);
  const { id } = await enqueued(world, accountId, ['a@remote.test', 'b@remote.test']);
  const by = { id: randomUUID(), by: 'n' };
  const { reply } = await mailbox.ask('startDelivery', { outboundId: id, attempt: by, supersedes: null });
  const recipients = reply!.recipients;
  const delivered = recipients.map((each) => ({ id: each.id, outcome: 'delivered' as const }));
  await mailbox.ask('reportDelivery', {
    outboundId: id,
    attemptId: by.id,
    outcomes: recipients.map((each) => outcome(each.id, 'delivered')),
    attempts: [attempt(delivered)],
    isOver: true,
    isInterrupted: false,
  });
  const shown = async () => (await mailbox.ask('outbound', { outboundId: id })).reply!.email;
  const { messageId } = await shown();
  async function bounce(
    source: { remoteAddress: string; domains: string[] },
    addresses = ['a@remote.test'],
    about = messageId!,
  ) {
    const [spooled] = await world.spool([accountId], Date.now(), { subject: 'returned', body: 'x' });
    const recipientsOf = [{ addresses, statusCode: '5.1.1', text: '550 5.1.1 gone' }];
    const returned = { bounce: { messageId: about, recipients: recipientsOf, source } };
    const deliver = () => spooled!.deliver(returned);
    return deliver;
  }
  return { world, accountId, mailbox, id, shown, bounce };
}

test('a bounce of the host that took the message makes its recipient Failed, once, and no report is owed', async (t) => {
  const { world, accountId, mailbox, id, shown, bounce } = await sent(t);
  const { sentAt, status } = await shown();
  t.is(status, 'Sent');
  const deliver = await bounce({ remoteAddress: TAKER, domains: [] });
  t.truthy((await deliver()).reply!.emailId);
  await deliver();
  const after = await shown();
  t.like(after, { status: 'Failed', sentAt, lastError: '550 5.1.1 gone' });
  t.deepEqual(
    after.recipients.map(({ status: each, statusCode }) => [each, statusCode]),
    [
      ['Failed', '5.1.1'],
      ['Delivered', null],
    ],
  );
  t.is((await mailbox.ask('dsnMaterial', { outboundId: id })).reply!.kind, null);
  const { attempts } = (await mailbox.ask('outboundTimeline', { outboundId: id })).reply!;
  t.is(attempts.length, 2);
  t.like(attempts[1], { remoteAddress: TAKER, reply: 'a later bounce: 550 5.1.1 gone' });
  t.deepEqual(
    (await statusesLogged(world, accountId)).map((told) => told.status),
    ['Queued', 'Sending', 'Sent', 'Failed'],
    'clients hear of it',
  );
  world.reload();
  const again = await mailbox.ask('retryOutbound', { outboundId: id });
  t.deepEqual(again.reply, { retried: true, status: 'Queued' });
  t.deepEqual(
    (await shown()).recipients.map(({ status: each }) => each),
    ['Pending', 'Delivered'],
  );
});

test('another recipient of a Failed email fails too', async (t) => {
  const { shown, bounce } = await sent(t);
  await (await bounce({ remoteAddress: '198.51.100.9', domains: ['remote.test'] }))();
  await (await bounce({ remoteAddress: '198.51.100.9', domains: ['mx.remote.test'] }, ['x@y.test', 'b@remote.test']))();
  t.deepEqual(
    (await shown()).recipients.map(({ status }) => status),
    ['Failed', 'Failed'],
  );
});

test('a forged bounce, one of another message, and one of another recipient change nothing but the inbox', async (t) => {
  const { mailbox, id, shown, bounce } = await sent(t);
  const before = await shown();
  for (const make of [
    () => bounce({ remoteAddress: '198.51.100.9', domains: [] }),
    () => bounce({ remoteAddress: '198.51.100.9', domains: ['evil.test', 'example.test'] }),
    () => bounce({ remoteAddress: TAKER, domains: [] }, ['c@remote.test']),
    () => bounce({ remoteAddress: TAKER, domains: [] }, ['a@remote.test'], '<another@example.test>'),
  ]) {
    t.truthy((await (await make())()).reply!.emailId);
    t.deepEqual(await shown(), before);
  }
  t.is((await mailbox.ask('outboundTimeline', { outboundId: id })).reply!.attempts.length, 1);
});

test('a bounce that comes while its message is being delivered waits for the outcome, and not for ever', async (t) => {
  const { world, accountId, mailbox } = await sender(t);
  const { id } = await enqueued(world, accountId, ['a@remote.test', 'b@remote.test']);
  const shown = async () => (await mailbox.ask('outbound', { outboundId: id })).reply!.email;
  const statuses = async () => (await shown()).recipients.map(({ status }) => status);
  const { messageId } = await shown();
  const { attemptId, reply } = await started(world, accountId, id);
  const [a, b] = reply!.recipients;
  async function bounceOf(address: string, receivedAt = Date.now()) {
    const [spooled] = await world.spool([accountId], receivedAt, { subject: 'returned', body: 'x' });
    const recipients = [{ addresses: [address], statusCode: '5.1.1', text: '550 5.1.1 gone' }];
    const source = { remoteAddress: TAKER, domains: [] };
    return () => spooled!.deliver({ bounce: { messageId: messageId!, recipients, source } });
  }
  const deliver = await bounceOf('a@remote.test');
  t.is((await deliver()).refusal, 'attemptUnderWay');
  t.truthy((await (await bounceOf('c@remote.test'))()).reply!.emailId, 'one of another recipient does not wait');
  t.truthy((await (await bounceOf('b@remote.test', Date.now() - 3_600_000))()).reply!.emailId);
  t.deepEqual(await statuses(), ['Pending', 'Pending']);
  const delivered = [a!, b!].map((each) => ({ id: each.id, outcome: 'delivered' as const }));
  const report = mailbox.ask('reportDelivery', {
    outboundId: id,
    attemptId,
    outcomes: delivered.map((each) => outcome(each.id, 'delivered')),
    attempts: [attempt(delivered)],
    isOver: true,
    isInterrupted: false,
  });
  const together = await deliver();
  await report;
  t.is(together.refusal, 'attemptUnderWay', 'in one batch with the outcome, whose attempts it has not read');
  t.truthy((await deliver()).reply!.emailId);
  t.deepEqual(await statuses(), ['Failed', 'Delivered']);
});

test('of a submission with one recipient the host may have another address', async (t) => {
  const { world, accountId, mailbox } = await sender(t);
  const message = await stored(world);
  const outgoing = { draft: null, sender: 'me@example.test', content: null, recipients: [addressee('a@remote.test')] };
  const { id } = (await mailbox.ask('enqueue', { ...outgoing, ...message })).reply!;
  const by = { id: randomUUID(), by: 'n' };
  const { reply } = await mailbox.ask('startDelivery', { outboundId: id, attempt: by, supersedes: null });
  const to = reply!.recipients[0]!.id;
  const over = { outboundId: id, attemptId: by.id, isOver: true, isInterrupted: false };
  const attempts = [attempt([{ id: to, outcome: 'delivered' }])];
  await mailbox.ask('reportDelivery', { ...over, outcomes: [outcome(to, 'delivered')], attempts });
  const [spooled] = await world.spool([accountId], Date.now(), { subject: 'returned', body: 'x' });
  const recipients = [{ addresses: ['alias@store.test'], statusCode: '5.0.0', text: 'no' }];
  const source = { remoteAddress: TAKER, domains: [] };
  await spooled!.deliver({ bounce: { messageId: message.summary.messageId!, recipients, source } });
  t.is((await mailbox.ask('outbound', { outboundId: id })).reply!.email.status, 'Failed');
});
