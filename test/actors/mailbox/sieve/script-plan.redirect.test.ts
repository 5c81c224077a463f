// Tests what scripts send on: the targets and the copy that are due with the delivery, and who has the email when a target gets nothing.
import type { ExecutionContext } from 'ava';
import pino from 'pino';
import { startAutomaticMail, type WriteMail } from '../../../../src/actors/mailbox/background/automatic-mail.js';
import test from '../../../support/test.js';
import { until } from '../../../support/until.js';
import { checkRows } from '../mailbox-world.js';
import { outcome, reported, sender, started } from '../outbound-world.js';

async function start(t: ExecutionContext) {
  const { world, accountId, mailbox } = await sender(t);
  const use = (content: string) => mailbox.ask('putSieveScript', { name: 'main', content, isActive: true });
  const deliver = async (subject: string, more: object = {}) => {
    const [spooled] = await world.spool([accountId], Date.now(), { subject });
    const envelope = { sender: 'ann@far.test', recipient: 'me@example.test', ...more };
    return (await spooled!.deliver(envelope)).reply!.emailId;
  };
  const due = async () => (await mailbox.ask('dueAutomaticMail', {})).reply!.due;
  const targets = async () => (await due()).map((mail) => [...mail.targets, mail.copy === null ? 'kept' : 'held']);
  const inbox = async () =>
    (await mailbox.ask('list', { folder: 'inbox', page: 1, pageSize: 50 })).reply!.items.map(({ subject }) => subject);
  const send = async (forward: WriteMail) => {
    const { blobs, mailboxes } = world;
    const worker = startAutomaticMail({ write: { forward }, blobs, mailboxes, log: pino({ level: 'silent' }) });
    worker.note(accountId);
    await until(async () => (await due()).length === 0);
    await worker.stop();
  };
  const statuses = ['Queued', 'Sending', 'Sent', 'Failed'] as const;
  const outbound = async () =>
    (await mailbox.ask('outboundPage', { statuses, page: 1, pageSize: 50 } as never)).reply!.items;
  return { world, accountId, use, deliver, due, targets, inbox, send, outbound };
}

const to =
  (...addresses: string[]): WriteMail =>
  async (_, { targets }) => ({
    message: Buffer.from('Subject: on\r\n\r\nhello'),
    sender: '',
    to: addresses,
    reportTo: null,
    isPartial: addresses.length < targets.length,
  });

test('redirect sends the mail on in place of the copy, and with :copy as well', async (t) => {
  const { world, accountId, use, deliver, targets, inbox } = await start(t);
  await use(`require "copy";
    if header "subject" "copy" { redirect :copy "me+tag@elsewhere.test"; stop; }
    if header "subject" "keep" { redirect "me@elsewhere.test"; keep; stop; }
    if header "subject" "two" { redirect "a@elsewhere.test"; redirect "b@elsewhere.test"; stop; }
    redirect "Me <me@Elsewhere.test>";`);
  t.not(await deliver('copy'), null);
  t.not(await deliver('keep'), null);
  t.is(await deliver('two'), null);
  t.is(await deliver('on'), null);
  t.not(await deliver('spam', { isJunk: true }), null);
  t.deepEqual(await targets(), [
    ['me@elsewhere.test', 'kept'],
    ['me@elsewhere.test', 'kept'],
    ['a@elsewhere.test', 'b@elsewhere.test', 'held'],
    ['me@elsewhere.test', 'held'],
  ]);
  t.deepEqual(await inbox(), ['keep', 'copy']);
  await checkRows(world, t, accountId);
});

test('an address that a script writes in several ways gets the message once', async (t) => {
  const { use, deliver, targets } = await start(t);
  await use('redirect "Me@elsewhere.test"; redirect "me+tag@elsewhere.test"; redirect "me@ELSEWHERE.test";');
  t.is(await deliver('on'), null);
  t.deepEqual(await targets(), [['me@elsewhere.test', 'held']]);
});

test('mail whose redirect goes to nobody is kept, and so is mail that goes to some of its targets', async (t) => {
  const { world, accountId, use, deliver, inbox, send, outbound } = await start(t);
  await use('redirect "a@elsewhere.test"; redirect "b@elsewhere.test";');
  t.is(await deliver('nobody'), null);
  await send(async () => ({ skip: 'no target is left' }));
  t.deepEqual(await inbox(), ['nobody']);
  t.is(await deliver('some'), null);
  await send(to('a@elsewhere.test'));
  t.deepEqual(await inbox(), ['some', 'nobody']);
  t.is(await deliver('all'), null);
  await send(to('a@elsewhere.test', 'b@elsewhere.test'));
  t.deepEqual(await inbox(), ['some', 'nobody']);
  for (const { id } of await outbound()) {
    const { attemptId, reply } = await started(world, accountId, id);
    const outcomes = reply!.recipients.map((recipient) => outcome(recipient.id, 'permanent'));
    await reported(world, accountId, id, attemptId, outcomes);
  }
  t.deepEqual([...(await inbox())].sort(), ['all', 'nobody', 'some'], 'each is kept once');
  await checkRows(world, t, accountId);
});
