// Tests what is due for the sender when a script answers or refuses mail: once for a sender and handle, and not while the account's own
// vacation answers.
import type { ExecutionContext } from 'ava';
import { NO_VACATION } from '../../../../src/store/vacation.js';
import test from '../../../support/test.js';
import { checkRows } from '../mailbox-world.js';
import { sender, stored } from '../outbound-world.js';

async function start(t: ExecutionContext) {
  const { world, accountId, mailbox } = await sender(t);
  const use = (content: string) => mailbox.ask('putSieveScript', { name: 'main', content, isActive: true });
  const deliver = async (subject = 'hello', more: object = {}) => {
    const [spooled] = await world.spool([accountId], Date.now(), { subject });
    return (await spooled!.deliver({ sender: 'ann@far.test', recipient: 'me@example.test', ...more })).reply!.emailId;
  };
  const due = async () => (await mailbox.ask('dueAutomaticMail', {})).reply!.due;
  /** Sends what is due; returns the kinds of what is queued. */
  const send = async () => {
    const queued: string[] = [];
    for (const { id: dueId, kind, sender: address } of await due()) {
      const { blob, summary } = await stored(world);
      const outgoing = { blob, summary, sender: '', recipients: [{ address, domain: 'far.test' }], reportTo: null };
      const { reply } = await mailbox.ask('sendAutomaticMail', { dueId, outgoing });
      if (reply!.outboundId !== null) queued.push(kind);
    }
    return queued;
  };
  return { world, accountId, mailbox, use, deliver, due, send };
}

test('a vacation of a script answers a sender once for each handle, also when the mail is discarded', async (t) => {
  const { world, accountId, use, deliver, due, send } = await start(t);
  await use(`require "vacation";
    if header "subject" "gone" { discard; vacation :days 3 :handle "other" "Gone"; stop; }
    vacation :subject "Away" :from "Me <me@example.test>" :addresses "work@example.test" "I am away.";`);
  t.not(await deliver(), null);
  t.not(await deliver('again'), null);
  const [first] = await due();
  t.like(first, { kind: 'vacation', sender: 'ann@far.test', recipient: 'me@example.test', copy: null });
  t.like(first!.further!['vacation'], {
    ...{ reason: 'I am away.', isMime: false, subject: 'Away', from: 'Me <me@example.test>', days: 7 },
    addresses: ['work@example.test'],
  });
  world.reload();
  t.deepEqual(await send(), ['vacation'], 'the second message finds the sender remembered');
  await deliver();
  t.deepEqual(await due(), []);
  t.is(await deliver('gone'), null);
  t.deepEqual(await send(), ['vacation']);
  await deliver('hello', { sender: 'ben@far.test' });
  t.deepEqual(await send(), ['vacation']);
  await deliver('hello', { sender: '' });
  await deliver('hello', { sender: 'carl@far.test', isJunk: true });
  t.deepEqual(await due(), []);
  const until = await world.sql<{ days: number }[]>`
    select round(extract(epoch from until - now()) / 86400)::int as days from vacation_answered
    where account_id = ${accountId} order by until`;
  t.deepEqual(
    until.map(({ days }) => days),
    [3, 7, 7],
  );
  await checkRows(world, t, accountId);
});

test('while the account is away, its own vacation answers, and that of the script does not', async (t) => {
  const { mailbox, use, deliver, due, send } = await start(t);
  await use('require "vacation"; vacation "The script.";');
  const vacation = { ...NO_VACATION, isEnabled: true, textBody: 'Away', period: 'one' };
  await mailbox.ask('choosePreferences', { chosen: { vacation } });
  await deliver();
  t.deepEqual(
    (await due()).map(({ kind, further }) => ({ kind, further })),
    [{ kind: 'vacation', further: undefined }],
  );
  t.deepEqual(await send(), ['vacation']);
  await deliver();
  t.deepEqual(await due(), []);
  await mailbox.ask('choosePreferences', { chosen: { vacation: { ...vacation, isEnabled: false } } });
  await deliver();
  t.is((await due()).length, 1);
});

test('a message that a script refuses has no copy, and its sender is told each time', async (t) => {
  const { world, accountId, use, deliver, due, send } = await start(t);
  await use(`require ["reject", "ereject", "fileinto"];
    if header "subject" "e" { ereject "Not here."; stop; }
    if header "subject" "both" { reject "No."; fileinto "Archive"; }
    reject "No.";`);
  t.is(await deliver(), null);
  t.is(await deliver('e'), null);
  t.is(await deliver('null', { sender: '' }), null);
  t.not(await deliver('junk', { isJunk: true }), null);
  t.not(await deliver('both'), null, 'a run that fails keeps the mail');
  t.deepEqual(
    (await due()).map(({ kind, sender: from, further }) => ({ kind, from, further })),
    [
      { kind: 'reject', from: 'ann@far.test', further: { reject: { command: 'reject', reason: 'No.' } } },
      { kind: 'reject', from: 'ann@far.test', further: { reject: { command: 'ereject', reason: 'Not here.' } } },
    ],
  );
  t.deepEqual(await send(), ['reject', 'reject']);
  t.deepEqual(await due(), []);
  await checkRows(world, t, accountId);
});

test('a message that a script refuses is kept when too much is due to tell its sender', async (t) => {
  const { world, accountId, mailbox, use, deliver } = await start(t);
  await use('require "reject"; reject "No.";');
  t.is(await deliver('first'), null);
  await world.sql`
    insert into due_automatic_mail (account_id, id, kind, blob, detail)
    select account_id, gen_random_uuid(), kind, blob, detail from due_automatic_mail, generate_series(1, 999)`;
  world.reload();
  await use('require ["reject", "duplicate"]; if duplicate { discard; stop; } reject "No.";');
  t.not(await deliver('one'), null);
  t.is(await deliver('null', { sender: '' }), null, 'nobody is told of it anyway');
  t.is((await mailbox.ask('list', { folder: 'inbox', page: 1, pageSize: 50 })).reply!.items.length, 1);
  const tracked = await world.sql`select key from sieve_tracked_keys where account_id = ${accountId}`;
  t.is(tracked.length, 1, 'the message that is kept tracks nothing');
});

test('a text that is too long for a row of what is due is a fault of the run', async (t) => {
  const { use, deliver, due } = await start(t);
  await use(`require "reject"; reject "${'x'.repeat(16_385)}";`);
  t.not(await deliver(), null);
  t.deepEqual(await due(), []);
});
