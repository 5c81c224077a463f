// Tests mail that an account sends on: what is due with a delivery, that it is queued once, and who has the message when a target refuses it.
import type { DueMail } from '../../../../src/store/mailbox-rows.js';
import { NO_RULE } from '../../../support/filter-row.js';
import test from '../../../support/test.js';
import { until } from '../../../support/until.js';
import { checkRows } from '../mailbox-world.js';
import { setUp, TO } from './forwards.js';

test('mail that arrives is due at the target, with its envelope, and is queued once', async (t) => {
  const { world, accountId, mailbox, forward, deliver, due, inbox, rows, outbound, send } = await setUp(t);
  await deliver();
  t.deepEqual(await due(), [], 'nothing is forwarded yet');
  await forward({});
  await deliver();
  t.deepEqual(
    (await due()).map(({ sender: from, recipient, targets, copy }) => ({ from, recipient, targets, copy })),
    [{ from: 'ann@far.test', recipient: 'me@example.test', targets: [TO], copy: null }],
  );
  t.deepEqual(world.automaticDue, [accountId]);
  const dueId = (await due())[0]!.id;
  world.reload();
  t.is((await due())[0]!.id, dueId, 'the next owner knows it');
  await send();
  const [email] = await outbound();
  t.is(email!.id, dueId);
  t.is(email!.sender, 'srs@example.test');
  t.deepEqual(
    email!.recipients.map(({ address }) => address),
    [TO],
  );
  const again = await mailbox.ask('sendAutomaticMail', {
    dueId,
    outgoing: {
      ...{ blob: email!.blob, sender: '', recipients: [{ address: TO, domain: 'elsewhere.test' }], reportTo: null },
      summary: (await world.store.summaries(accountId, [(await inbox())[0]!.id]))[0]! as never,
    },
  });
  t.deepEqual(again.reply, { outboundId: null });
  t.is((await outbound()).length, 1);
  t.is((await inbox()).length, 2);
  t.is(await rows(), 0);
  await checkRows(world, t, accountId);
});

test('junk is not forwarded, and neither is mail of an account that has stopped it', async (t) => {
  const { forward, deliver, due } = await setUp(t);
  await forward({ keepCopy: false });
  t.not(await deliver({ isJunk: true }), null);
  t.deepEqual(await due(), []);
  await forward({ isEnabled: false, keepCopy: false });
  t.not(await deliver(), null);
  t.deepEqual(await due(), []);
});

for (const isNull of [false, true])
  test(`without a copy, mail that is refused comes to the inbox${isNull ? ', also mail with the null sender' : ''}`, async (t) => {
    const { world, accountId, forward, deliver, inbox, rows, outbound, send, end } = await setUp(t);
    await forward({ keepCopy: false });
    t.is(await deliver(isNull ? { sender: '' } : {}), null);
    t.is((await inbox()).length, 0);
    await send();
    t.is(await rows(), 1, 'the row holds the copy');
    world.reload();
    await end('permanent');
    t.deepEqual(
      (await inbox()).map(({ subject }) => subject.startsWith('mail ')),
      [true],
    );
    t.is(await rows(), 0);
    t.deepEqual(
      (await outbound()).map(({ status }) => status),
      ['Failed'],
    );
    await checkRows(world, t, accountId);
  });

test('without a copy, mail that the target has is nowhere else', async (t) => {
  const { world, accountId, forward, deliver, inbox, rows, send, end } = await setUp(t);
  await forward({ keepCopy: false });
  await deliver();
  await send();
  await end('delivered');
  t.is((await inbox()).length, 0);
  t.is(await rows(), 0);
  await checkRows(world, t, accountId);
});

test('mail that is not sent after all is placed', async (t) => {
  const { forward, deliver, inbox, rows, send, outbound } = await setUp(t);
  await forward({ keepCopy: false });
  await deliver();
  await send(async () => ({ skip: 'a loop' }));
  t.is((await inbox()).length, 1);
  t.is(await rows(), 0);
  t.is((await outbound()).length, 0);
});

test('the DSN of a forward goes to the sender of the mail', async (t) => {
  const { world, accountId, mailbox, forward, deliver, inbox, outbound, send, end } = await setUp(t);
  await forward({});
  await deliver();
  await send();
  await end('permanent');
  const outboundId = (await outbound())[0]!.id;
  const { reply } = await mailbox.ask('dsnMaterial' as never, { outboundId } as never);
  const { kind, recipientIds, email } = reply as unknown as {
    kind: 'failed';
    recipientIds: string[];
    email: { sender: string };
  };
  t.is(email.sender, 'ann@far.test');
  const summary = { ...(await world.store.summaries(accountId, [(await inbox())[0]!.id]))[0]! };
  const report = { blob: summary.blob, summary: { ...summary, references: [...summary.references] } };
  await mailbox.ask('giveDsn' as never, { outboundId, kind, recipientIds, report } as never);
  const [newest] = await outbound();
  t.is(newest!.sender, '');
  t.deepEqual(
    newest!.recipients.map(({ address }) => address),
    ['ann@far.test'],
  );
  t.is((await inbox()).length, 1, 'the account gets no DSN');
});

test('a filter forwards what it matches; with delete no copy is left, unless the target refuses it', async (t) => {
  const { mailbox, deliver, due, inbox, send, end } = await setUp(t);
  const rule = { ...NO_RULE, subjectContains: 'mail', forwardTo: TO };
  const { id: filterId } = (await mailbox.ask('putFilter', { rule })).reply!;
  t.not(await deliver(), null);
  t.deepEqual(
    (await due()).map(({ targets, copy }) => ({ targets, copy })),
    [{ targets: [TO], copy: null }],
  );
  await send();
  await mailbox.ask('putFilter', { filterId, rule: { ...rule, delete: true } });
  t.is(await deliver(), null);
  await send();
  t.is((await inbox()).length, 1);
  await end('permanent');
  t.is((await inbox()).length, 2);
});

test('a filter that waits for a body forwards with the envelope of the delivery', async (t) => {
  const { world, mailbox, deliver, due } = await setUp(t);
  await mailbox.ask('putFilter', { rule: { ...NO_RULE, bodyContains: 'hello', forwardTo: TO } });
  world.texts.fault = new Error('no body today');
  await deliver();
  t.deepEqual(await due(), []);
  world.reload();
  world.texts.fault = undefined;
  await until(async () => (await due()).length === 1);
  const [{ sender: from, recipient, targets }] = (await due()) as unknown as [DueMail];
  t.deepEqual({ from, recipient, targets }, { from: 'ann@far.test', recipient: 'me@example.test', targets: [TO] });
});

test('mail that only goes elsewhere is not placed', async (t) => {
  const { deliver, due, inbox } = await setUp(t);
  t.is(await deliver({ onward: { targets: ['x@elsewhere.test', 'y@elsewhere.test'], isPlaced: false } }), null);
  t.not(await deliver({ onward: { targets: ['x@elsewhere.test'], isPlaced: true } }), null);
  t.deepEqual(
    (await due()).map(({ targets }) => targets.length),
    [2, 1],
  );
  t.is((await inbox()).length, 1);
  t.not(await deliver({ isJunk: true, onward: { targets: ['x@elsewhere.test'], isPlaced: false } }), null);
  t.is((await due()).length, 2);
});
