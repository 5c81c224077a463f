// Tests what runs next: back-off of emails and accounts, slots that are offered again, connections.

import { DeliveryScheduler } from '../../../../src/actors/delivery/scheduler/scheduler.js';
import test from '../../../support/test.js';

const { signal } = new AbortController();

test('an email or an account that failed gets no slot until its back-off is over', (t) => {
  let now = 0;
  const scheduler = new DeliveryScheduler({}, () => now);
  scheduler.emailFailed('e1');
  scheduler.accountFailed('b');
  t.is(scheduler.take('a', 'e1'), undefined);
  t.not(scheduler.take('a', 'e2'), undefined, 'another email of the account');
  t.is(scheduler.take('b', 'e3'), undefined);
  t.is(scheduler.reserve('b'), undefined);
  t.deepEqual(scheduler.refused, { emails: ['e1'], accounts: ['b'] });
  now = 500;
  t.deepEqual(scheduler.refused, { emails: [], accounts: [] });
  t.not(scheduler.take('a', 'e1'), undefined);
  scheduler.emailFailed('e1');
  now = 1_400;
  t.is(scheduler.take('a', 'e1'), undefined, 'twice as long');
  scheduler.delivered('a', 'e1');
  t.not(scheduler.take('a', 'e1'), undefined);
});

test('slots are offered once enough are free, when more was due', (t) => {
  const scheduler = new DeliveryScheduler({ emails: 20 });
  let offered = 0;
  scheduler.whenFree(() => offered++);
  const slots = Array.from({ length: 20 }, (_, i) => scheduler.reserve(`a${i}`)!);
  slots.pop()!.release();
  t.is(offered, 0, 'nothing more is due');
  scheduler.noteMoreDue(true);
  const again = scheduler.reserve('b')!;
  again.release();
  t.is(offered, 0, 'one in twenty');
  slots.pop()!.release();
  t.is(offered, 1);
});

test('an email that waits for a connection leaves its slot until it has one', async (t) => {
  const scheduler = new DeliveryScheduler({ emails: 2, connectionsPerHost: 1 });
  const [one, two] = [scheduler.reserve('a')!, scheduler.reserve('b')!];
  const [first, second] = [scheduler.domain(one, '1', 'x.test'), scheduler.domain(two, '2', 'y.test')];
  t.is((await first.enter(signal)).kind, 'entered');
  t.is((await second.enter(signal)).kind, 'entered');
  const connection = await first.connect('192.0.2.1', signal);
  t.is(scheduler.emails.free, 0);
  const waits = second.connect('192.0.2.1', signal);
  t.is(scheduler.emails.free, 1);
  connection!.leave(true);
  const other = await waits;
  t.is(scheduler.emails.free, 0);
  other!.leave(false);
  for (const permit of [first, second]) permit.leave();
  for (const slot of [one, two]) slot.release();
  t.is(scheduler.emails.free, 2);
});

test('a domain of which no host was reached is tried for one email, not for all that wait', async (t) => {
  const scheduler = new DeliveryScheduler({ perDomain: 1 });
  const permits = ['a', 'b', 'c'].map((accountId) =>
    scheduler.domain(scheduler.reserve(accountId)!, accountId, 'dead.test'),
  );
  const entries = permits.map((permit) => permit.enter(signal));
  t.is((await entries[0]!).kind, 'entered');
  permits[0]!.leave('no route');
  t.deepEqual(await Promise.all(entries.slice(1)), [
    { kind: 'unreachable', text: 'no route' },
    { kind: 'unreachable', text: 'no route' },
  ]);
  for (const permit of permits.slice(1)) permit.leave();
  t.is((await scheduler.domain(scheduler.reserve('d')!, 'd', 'dead.test').enter(signal)).kind, 'entered');
});

test('mail through a smart host that hangs or is away delays no mail to the same domain on another way', async (t) => {
  const scheduler = new DeliveryScheduler({ perDomain: 1 });
  const enter = (accountId: string, destination?: string) => {
    const permit = scheduler.domain(scheduler.reserve(accountId)!, accountId, 'x.test');
    return { permit, entry: permit.enter(signal, destination) };
  };
  const first = enter('a', 'smart host h:587');
  t.is((await first.entry).kind, 'entered');
  const direct = enter('b');
  t.is((await direct.entry).kind, 'entered');
  const [second, waiting] = [enter('c', 'smart host h:587'), enter('d')];
  first.permit.leave('no route');
  t.is((await second.entry).kind, 'unreachable');
  direct.permit.leave();
  t.is((await waiting.entry).kind, 'entered');
});

test('what waits of an account is known, with what came before it', async (t) => {
  const scheduler = new DeliveryScheduler({ perDomain: 1, connectionsPerHost: 1 });
  const { signal } = new AbortController();
  const permit = (accountId: string, outboundId: string, domain: string) =>
    scheduler.domain(scheduler.reserve(accountId)!, outboundId, domain);
  const first = permit('a', 'one', 'x.test');
  await first.enter(signal);
  t.deepEqual([...scheduler.waitingOf('a')], []);
  const second = permit('b', 'two', 'x.test');
  const entered = second.enter(signal);
  const slot = scheduler.reserve('a')!;
  const third = scheduler.domain(slot, 'three', 'x.test');
  const last = third.enter(signal);
  t.deepEqual([...scheduler.waitingOf('a')], [['three', { domain: 'x.test', ahead: 1 }]]);
  t.deepEqual([...scheduler.waitingOf('b')], [['two', { domain: 'x.test', ahead: 0 }]]);
  first.leave();
  await entered;
  t.deepEqual([...scheduler.waitingOf('a')], [['three', { domain: 'x.test', ahead: 0 }]]);
  second.leave();
  await last;
  t.deepEqual([...scheduler.waitingOf('a')], []);
  third.leave();
});
