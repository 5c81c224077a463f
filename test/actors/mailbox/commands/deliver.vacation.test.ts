// Tests vacation replies in the mailbox: what becomes due when mail arrives, that a sender gets one reply, and that periods begin again.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { answeredKey } from '../../../../src/mail-format/reports/automatic-reply.js';
import { NO_VACATION, type Vacation } from '../../../../src/store/vacation.js';
import test from '../../../support/test.js';
import { until } from '../../../support/until.js';
import { sender, stored } from '../outbound-world.js';

async function away(t: ExecutionContext, changes: Partial<Vacation> = {}) {
  const me = await sender(t);
  const set = async (more: Partial<Vacation> = {}) => {
    const vacation = { ...NO_VACATION, isEnabled: true, textBody: 'Away', period: 'one', ...changes, ...more };
    await me.mailbox.ask('choosePreferences', { chosen: { vacation } });
  };
  await set();
  const arrives = async (from = 'ann@remote.test', more: { isJunk?: true } = {}) => {
    const [spooled] = await me.world.spool([me.accountId], Date.now(), { subject: randomUUID(), body: 'x' });
    await spooled!.deliver({ ...more, sender: from, recipient: 'me@example.test' });
  };
  const due = async () => (await me.mailbox.ask('dueAutomaticMail', {})).reply!.due;
  /** Sends what is due; returns the senders who get a reply. */
  const answer = async () => {
    const answered: string[] = [];
    for (const { id: dueId, sender: to } of await due()) {
      const { blob, summary } = await stored(me.world);
      const recipients = [{ address: to, domain: 'remote.test' }];
      const outgoing = { blob, summary, sender: '', recipients, reportTo: null };
      const { reply } = await me.mailbox.ask('sendAutomaticMail', { dueId, outgoing });
      if (reply!.outboundId !== null) answered.push(to);
      const again = await me.mailbox.ask('sendAutomaticMail', { dueId, outgoing });
      t.is(again.reply!.outboundId, null, 'a repeated call sends nothing');
    }
    return answered;
  };
  return { ...me, set, arrives, due, answer };
}

test('a sender gets one reply, over a new owner of the mailbox, and again in a new period', async (t) => {
  const { world, set, arrives, due, answer } = await away(t);
  await arrives();
  await arrives('ANN@remote.test');
  await arrives('ben@remote.test');
  t.is((await due()).length, 3);
  world.reload();
  t.deepEqual(await answer(), ['ann@remote.test', 'ben@remote.test']);
  world.reload();
  await arrives();
  t.deepEqual(await due(), [], 'it is remembered in the store');
  await set({ period: 'two' });
  await arrives();
  t.deepEqual(await answer(), ['ann@remote.test']);
});

test('nothing is due for the null sender, for junk, and for an account that is not away', async (t) => {
  const { set, arrives, due } = await away(t);
  await arrives('');
  await arrives('ann@remote.test', { isJunk: true });
  for (const changes of [{ isEnabled: false }, { startsAt: Date.now() + 60_000 }, { endsAt: Date.now() - 1 }]) {
    await set(changes);
    await arrives();
  }
  t.deepEqual(await due(), []);
});

test('a vacation that has ended meanwhile sends nothing', async (t) => {
  const { set, arrives, answer } = await away(t);
  await arrives();
  await set({ isEnabled: false });
  t.deepEqual(await answer(), []);
});

test('a suspended account answers nobody, nothing waits, and whoever writes afterwards is answered', async (t) => {
  const { world, accountId, arrives, answer, due } = await away(t);
  const isSuspended = async () => (await world.sending.suspensionOf(accountId)) !== null;
  t.true(await world.sendingStore.suspend(accountId, { by: 'operator', reason: 'unpaid' }));
  await until(isSuspended);
  await arrives();
  t.deepEqual(await answer(), []);
  t.deepEqual(await due(), []);
  const rows = async () => await world.sql`select id from outbound where account_id = ${accountId}`;
  t.deepEqual([...(await rows())], [], 'no reply waits in the queue');
  t.true(await world.sendingStore.resume(accountId));
  await until(async () => !(await isSuspended()));
  await arrives();
  t.deepEqual(await answer(), ['ann@remote.test']);
});

test('a reply has the null sender, no copy in Sent, and no DSN', async (t) => {
  const { mailbox, arrives, answer } = await away(t);
  await arrives();
  await answer();
  const { reply } = await mailbox.ask('outboundPage', { statuses: ['Queued', 'Sending'], page: 1, pageSize: 10 });
  t.is(reply!.totalCount, 1);
  t.is(reply!.items[0]!.sender, '');
  t.is(answeredKey('Ann@Remote.test'), 'ann@remote.test');
});
