// Tests mail that goes elsewhere on behalf of an alias, by the account of the postmaster: it waits for the limit of recipients, and its sender
// is told when it is given up.
import pino from 'pino';
import { startAutomaticMail, type WriteMail } from '../../../../src/actors/mailbox/background/automatic-mail.js';
import { summarize } from '../../../../src/mail-format/summary.js';
import { StoreFault } from '../../../../src/store/errors.js';
import test from '../../../support/test.js';
import { until } from '../../../support/until.js';
import { checkRows } from '../mailbox-world.js';
import { setUp, written } from './forwards.js';

const LIMITED = { limits: { account: { hour: 2, day: null }, domain: { hour: null, day: null } } };
const ELSEWHERE = (...names: string[]) => ({
  receivedAt: Date.now(),
  onward: { targets: names.map((name) => `${name}@elsewhere.test`), isPlaced: false },
});

type World = Awaited<ReturnType<typeof setUp>>;

function working({ world, accountId }: World, t: { teardown(end: () => Promise<void>): void }, write?: WriteMail) {
  const { blobs, mailboxes } = world;
  const state = { waited: 0, written: 0, kept: [] as string[], fault: undefined as Error | undefined };
  const writer: WriteMail = async (id, due) => {
    state.written++;
    if (state.fault !== undefined) throw state.fault;
    const mail = await (write ?? written)(id, due);
    return { ...mail, ...(!('skip' in mail) && { arrived: summarize((await blobs.index(due.blob))!) }) };
  };
  const log = Object.assign(pino({ level: 'silent' }), {
    warn: (_: unknown, text: string) => void (text.endsWith(' waits') && state.waited++),
  });
  const meter = { kept: (why: string) => void state.kept.push(why) };
  const worker = startAutomaticMail({ write: { forward: writer }, blobs, mailboxes, meter, log, retryMs: 20 });
  t.teardown(() => worker.stop());
  return { state, note: () => worker.note(accountId) };
}

const age = ({ world, accountId }: World) => world.sql`
  update due_automatic_mail set detail = jsonb_set(detail::jsonb, '{receivedAt}', to_jsonb((detail ->> 'receivedAt')::float8 - 90000000))
  where account_id = ${accountId}`;

test('mail for elsewhere waits for the limit, a bounce to a rewritten sender does not, and after a day the sender is told', async (t) => {
  const it = await setUp(t, LIMITED);
  const { world, accountId, deliver, due, outbound, inbox } = it;
  const { state, note } = working(it, t);
  await deliver(ELSEWHERE('a', 'b'));
  await deliver(ELSEWHERE('c', 'd'));
  await deliver(ELSEWHERE('e', 'f'));
  await deliver({ ...ELSEWHERE('ann'), sender: '', recipient: 'SRS0=abcd=ef=far.test=ann@example.test' });
  note();
  await until(() => state.waited >= 3);
  t.deepEqual(
    (await due()).map(({ targets }) => targets.length),
    [2, 2],
  );
  t.is((await outbound()).length, 2);
  t.is((await inbox()).length, 0);
  t.deepEqual(state.kept, []);
  // Each round writes one of those that wait.
  t.true(state.written <= 3 + state.waited + 1, `${state.written} ${state.waited}`);
  await age(it);
  world.reload();
  await until(async () => (await due()).length === 0);
  t.deepEqual(state.kept, ['hour', 'hour']);
  t.is((await inbox()).length, 2, 'the postmaster keeps the mail');
  const failed = (await outbound()).filter(({ status }) => status === 'Failed');
  t.is(failed.length, 2);
  const rows = await world.sql<{ dsn: { reportTo?: string }; due: Date | null }[]>`
    select dsn, dsn_at as due from outbound where account_id = ${accountId} and status = 'Failed'`;
  for (const row of rows) {
    t.is(row.dsn.reportTo, 'ann@far.test');
    t.not(row.due, null, 'a DSN is due');
  }
  await checkRows(world, t, accountId);
});

test('the sender of mail to more targets elsewhere than the limit ever allows is told at once, also while other mail waits', async (t) => {
  const it = await setUp(t, LIMITED);
  const { world, accountId, deliver, due, outbound, inbox } = it;
  const { state, note } = working(it, t);
  await deliver(ELSEWHERE('a', 'b'));
  await deliver(ELSEWHERE('c', 'd'));
  await deliver(ELSEWHERE('e', 'f', 'g'));
  note();
  await until(async () => (await due()).length === 1 && state.waited > 0);
  t.deepEqual((await due())[0]!.targets.length, 2);
  t.deepEqual(state.kept, ['hour']);
  t.is((await inbox()).length, 1, 'the postmaster keeps the mail');
  const rows = await world.sql<{ id: string; reportTo: string; isDue: boolean }[]>`
    select id, dsn ->> 'reportTo' as "reportTo", dsn_at is not null as "isDue" from outbound
    where account_id = ${accountId} and status = 'Failed'`;
  t.deepEqual(
    rows.map(({ id: _id, ...row }) => row),
    [{ reportTo: 'ann@far.test', isDue: true }],
  );
  const [recipient] = await world.sql<{ code: string }[]>`
    select distinct status_code as code from outbound_recipients where outbound_id = ${rows[0]!.id}`;
  t.is(recipient?.code, '5.5.3');
  t.is((await outbound()).length, 2);
  await checkRows(world, t, accountId);
});

test('old mail for elsewhere is tried again after a fault, and then kept', async (t) => {
  const it = await setUp(t);
  const { world, accountId, deliver, due, inbox, outbound } = it;
  const { state, note } = working(it, t);
  await deliver(ELSEWHERE('a'));
  await age(it);
  world.reload();
  const { index } = world.blobs;
  let reads = 0;
  const fault = new StoreFault('store-unavailable', 'away', { temporary: true });
  Object.assign(world.blobs, {
    index() {
      reads++;
      return Promise.reject(fault);
    },
  });
  state.fault = fault;
  note();
  await until(() => reads >= 2);
  t.true(state.written > 2, 'the first fault gives nothing up');
  t.is((await due()).length, 1, 'without its index it cannot be kept');
  Object.assign(world.blobs, { index });
  await until(async () => (await due()).length === 0);
  t.is((await inbox()).length, 1);
  t.is((await outbound()).length, 0);
  await checkRows(world, t, accountId);
});
