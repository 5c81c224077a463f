// Tests suppressed addresses in the mailbox: which replies and bounces suppress, what a later email gets, and how a suppression ends.
import type { ExecutionContext } from 'ava';
import { MOST_SUPPRESSED, SuppressionChanges } from '../../../../src/actors/mailbox/outbound/suppression-changes.js';
import type { MailboxState } from '../../../../src/actors/mailbox/state/state.js';
import { LazyMap } from '../../../../src/store/changes/lazy-map.js';
import test from '../../../support/test.js';
import { attempt, enqueued, outcome, sender, started } from '../outbound-world.js';

const DAY_MS = 86_400_000;

/** Sends an email to these addresses and reports what a far side said about each. */
async function answered(
  t: ExecutionContext,
  { mailbox, world, accountId }: Awaited<ReturnType<typeof sender>>,
  addresses: readonly string[],
  statusCode: string,
  kind: 'permanent' | 'temporary' | 'delivered' = 'permanent',
  remoteAddress: string | null = '192.0.2.1',
) {
  const { id, blob } = await enqueued(world, accountId, addresses);
  const { attemptId, reply } = await started(world, accountId, id);
  t.truthy(reply);
  const outcomes = reply!.recipients.map((each) => ({
    ...outcome(each.id, kind),
    statusCode,
    text: `550 ${statusCode} no`,
  }));
  await mailbox.ask('reportDelivery', {
    outboundId: id,
    attemptId,
    outcomes,
    attempts: [{ ...attempt(outcomes.map((each) => ({ id: each.recipientId, outcome: kind }))), remoteAddress }],
    isOver: true,
    isInterrupted: false,
  });
  return { id, blob };
}

async function suppressed({ mailbox }: Awaited<ReturnType<typeof sender>>) {
  return (await mailbox.ask('suppressions', {})).reply!.suppressions;
}

test('an address that a far side refuses for good is not tried again; other recipients are', async (t) => {
  const me = await sender(t);
  await answered(t, me, ['Gone@remote.test'], '5.1.1');
  const [first, ...others] = await suppressed(me);
  t.like(first, { address: 'gone@remote.test', reason: '550 5.1.1 no' });
  t.is(first!.until - first!.since, 30 * DAY_MS);
  t.deepEqual(others, []);
  me.world.reload();
  const { id } = await enqueued(me.world, me.accountId, ['gOne@remote.test', 'b@remote.test']);
  const { reply } = await started(me.world, me.accountId, id);
  t.deepEqual(
    reply!.recipients.map(({ address }) => address),
    ['b@remote.test'],
  );
  const { email } = (await me.mailbox.ask('outbound', { outboundId: id })).reply!;
  t.like(email.recipients[0], { status: 'Failed', lastError: 'suppressed', statusCode: '5.1.0' });
  t.is(email.recipients[1]!.status, 'Pending');
  const { attempts } = (await me.mailbox.ask('outboundTimeline', { outboundId: id })).reply!;
  t.is(attempts.length, 1);
  t.like(attempts[0], { host: null, reply: 'suppressed: 550 5.1.1 no' });
});

test('an email whose recipients are all suppressed fails with its commit, and its sender is told', async (t) => {
  const me = await sender(t);
  await answered(t, me, ['gone@remote.test'], '5.1.10');
  const { id } = await enqueued(me.world, me.accountId, ['gone@remote.test']);
  const { email } = (await me.mailbox.ask('outbound', { outboundId: id })).reply!;
  t.like(email, { status: 'Failed', lastError: 'suppressed' });
  t.is((await me.mailbox.ask('dsnMaterial', { outboundId: id })).reply!.recipientIds.length, 1);
  t.is((await suppressed(me)).length, 1, 'that failure suppresses nothing');
});

test('replies about the sender, full mailboxes, policies and errors of our own suppress nothing', async (t) => {
  const me = await sender(t);
  for (const code of ['5.1.7', '5.1.8', '5.2.2', '5.7.1', '5.0.0', '5.11.1'])
    await answered(t, me, ['a@remote.test'], code);
  await answered(t, me, ['a@remote.test'], '5.1.2', 'permanent', null);
  await answered(t, me, ['a@remote.test'], '4.1.1', 'temporary');
  t.deepEqual(await suppressed(me), []);
});

test('a waiting email to the address fails when it is due; a retry of a failed one lifts the suppression', async (t) => {
  const me = await sender(t);
  const waiting = await enqueued(me.world, me.accountId, ['a@remote.test']);
  const failed = await answered(t, me, ['a@remote.test'], '5.1.1');
  const { attemptId, reply } = await started(me.world, me.accountId, waiting.id);
  t.deepEqual(reply!.recipients, []);
  const over = { outcomes: [], attempts: [], isOver: true, isInterrupted: false };
  const ended = await me.mailbox.ask('reportDelivery', { outboundId: waiting.id, attemptId, ...over });
  t.is(ended.reply!.status, 'Failed');
  const retried = await me.mailbox.ask('retryOutbound', { outboundId: failed.id });
  t.deepEqual(retried.reply, { retried: true, status: 'Queued' });
  t.deepEqual(await suppressed(me), []);
  t.is((await started(me.world, me.accountId, failed.id)).reply!.recipients.length, 1);
});

test('a later bounce that is believed suppresses the address that it says; any other adds nothing', async (t) => {
  const me = await sender(t);
  const { id } = await answered(t, me, ['list@remote.test'], '2.0.0', 'delivered');
  const { messageId } = (await me.mailbox.ask('outbound', { outboundId: id })).reply!.email;
  async function bounce(remoteAddress: string, finals: string[] | undefined, from = '') {
    const [spooled] = await me.world.spool([me.accountId], Date.now(), { subject: 'returned', body: remoteAddress });
    const addresses = ['list@remote.test', ...(finals ?? [])];
    const said = { addresses, statusCode: '5.1.1', text: '550 5.1.1 gone', ...(finals !== undefined && { finals }) };
    const returned = { messageId: messageId!, recipients: [said], source: { remoteAddress, domains: [] } };
    await spooled!.deliver({ bounce: returned, sender: from });
  }
  await bounce('198.51.100.9', ['list@remote.test']);
  await bounce('192.0.2.1', ['list@remote.test'], 'somebody@remote.test');
  t.deepEqual(await suppressed(me), [], 'forged, or written by a user of the same provider');
  await me.mailbox.ask('retryOutbound', { outboundId: id });
  await deliveredAgain(me, id);
  await bounce('192.0.2.1', ['member@far.test']);
  t.is((await me.mailbox.ask('outbound', { outboundId: id })).reply!.email.status, 'Failed');
  t.deepEqual(await suppressed(me), [], 'a member of the list is gone');
  await me.mailbox.ask('retryOutbound', { outboundId: id });
  await deliveredAgain(me, id);
  await bounce('192.0.2.1', undefined);
  t.deepEqual(await suppressed(me), [], 'a text that names the address');
  await me.mailbox.ask('retryOutbound', { outboundId: id });
  await deliveredAgain(me, id);
  await bounce('192.0.2.1', ['list@remote.test']);
  t.like((await suppressed(me))[0], { address: 'list@remote.test', reason: '550 5.1.1 gone' });
});

async function deliveredAgain(me: Awaited<ReturnType<typeof sender>>, outboundId: string) {
  const { attemptId, reply } = await started(me.world, me.accountId, outboundId);
  const [to] = reply!.recipients;
  await me.mailbox.ask('reportDelivery', {
    ...{ outboundId, attemptId, isOver: true, isInterrupted: false },
    outcomes: [outcome(to!.id, 'delivered')],
    attempts: [attempt([{ id: to!.id, outcome: 'delivered' }])],
  });
}

test('a suppression is lifted by its account and by an operator', async (t) => {
  const me = await sender(t);
  await answered(t, me, ['a@remote.test', 'b@remote.test'], '5.1.1');
  t.is((await me.mailbox.ask('removeSuppression', { address: 'c@remote.test' })).refusal, 'noSuchSuppression');
  t.deepEqual((await me.mailbox.ask('removeSuppression', { address: 'a@remote.test' })).reply, {});
  t.is((await suppressed(me)).length, 1);
  t.deepEqual((await me.mailbox.ask('liftSuppression', { address: 'b@remote.test' })).reply, {});
  me.world.reload();
  t.deepEqual(await suppressed(me), []);
});

test('the oldest address leaves when there are too many, and those that have ended leave with the next one', (t) => {
  const suppressions = new LazyMap<string, { address: string; reason: string; since: number; until: number }>();
  const state = { outbound: { suppressions } } as unknown as MailboxState;
  const removed: string[] = [];
  const one = (n: number) => ({ address: `${n}@x.test`, reason: 'no', since: n, until: n + 20_000 });
  for (let n = 0; n < MOST_SUPPRESSED; n++) suppressions.set(`${n}@x.test`, one(n));
  const changes: SuppressionChanges = new SuppressionChanges(state, (change) => {
    if (change.type === 'SuppressionRemoved') removed.push(change.payload.address);
    changes.apply(change as Parameters<SuppressionChanges['apply']>[0]);
  });
  changes.add(one(MOST_SUPPRESSED));
  t.deepEqual(removed, ['0@x.test']);
  t.is(changes.get('0@x.test', 5), undefined);
  t.truthy(changes.get('1@x.test', 5));
  changes.add(one(20_003));
  t.deepEqual(removed.slice(1), ['1@x.test', '2@x.test', '3@x.test']);
  t.is(changes.get('4@x.test', 20_004), undefined, 'it has ended');
});
