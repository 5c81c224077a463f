// Tests messages for several mailboxes of one node, on real actors and a real store: one statement stores and places a message. A
// mailbox that cannot take part gets the message from its inbound row, and delays none of the others.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { NO_TRACER } from '../../../src/actors/runtime/tracing.js';
import { type Acceptance, acceptMessage } from '../../../src/gateways/smtp/accept.js';
import { summarize } from '../../../src/mail-format/summary.js';
import { blobOf } from '../../../src/store/blobs.js';
import { StoreFault } from '../../../src/store/errors.js';
import { newId } from '../../../src/store/ids/new-id.js';
import type { SharedMessage } from '../../../src/store/inline/shared-message.js';
import type { MailboxChange } from '../../../src/store/mailboxes.js';
import { checkRows, type MailboxWorld, mailboxWorld } from '../../actors/mailbox/mailbox-world.js';
import { deferred } from '../../support/deferred.js';
import test from '../../support/test.js';
import { turn } from '../../support/turns.js';
import { until } from '../../support/until.js';

type Account = Awaited<ReturnType<typeof openWorld>>['accounts'][number];

async function openWorld(t: ExecutionContext, count: number) {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const accounts = await Promise.all(
    Array.from({ length: count }, (_, i) => world.directory.createAccount(`zoë${i}@example.test`, 'Zoë 💌')),
  );
  // Each ask loads the mailbox into memory.
  for (const { id } of accounts) await world.mailboxes.of(id).ask('unreadCount', {});
  return { world, accounts };
}

function send(world: MailboxWorld, to: readonly Account[], subject = 'Grüße 💌', body = 'x'): Promise<Acceptance> {
  const content = {
    ...blobOf(Buffer.from(`From: a@b.test\r\nSubject: ${subject}\r\n\r\n${body}`)),
    isInMemory: true,
    release() {},
  };
  const destinations = to.map(({ id, email }) => ({
    recipient: { kind: 'mailbox' as const, accountId: id },
    address: email,
  }));
  const ports = { ...world, directory: { openUnclaimed: async () => new Map() }, tracer: NO_TRACER };
  const transaction = { sender: '', remoteAddress: '127.0.0.1', receivedAt: Date.now(), newId };
  const judgement = { verdict: 'accept', headers: '', by: undefined } as const;
  return acceptMessage(ports, { content, authenticated: undefined, judgement }, destinations, transaction);
}

/** Returns the emails of each account, the number of transactions that wrote them, and the number of inbound rows. */
async function stored({ sql }: MailboxWorld, accounts: readonly Account[]) {
  const emails = await sql<{ account_id: string; subject: string; written: string; octets: number }[]>`
    select account_id, subject, e.xmin::text as written,
      (select sum(length(data))::int from blob_chunks c where c.hash = e.blob) as octets
    from emails e`;
  const [waiting] = await sql<{ count: number }[]>`select count(*)::int as count from inbound`;
  return {
    subjects: accounts.map(({ id }) => emails.filter((row) => row.account_id === id).map(({ subject }) => subject)),
    transactions: new Set(emails.map(({ written }) => written)).size,
    areWhole: emails.every(({ octets }) => octets > 0),
    waiting: waiting!.count,
  };
}

/** Lists must be equal; with `t.like` they could have more elements. */
function check(t: ExecutionContext, actual: Awaited<ReturnType<typeof stored>>, expected: Partial<typeof actual>) {
  t.deepEqual(actual, { ...actual, ...expected });
}

const rule = {
  name: 'f',
  isEnabled: true,
  priority: 1,
  fromAddressContains: null,
  subjectContains: null,
  bodyContains: null,
  hasAttachments: null,
  markAsRead: null,
  assignLabelId: null,
  delete: null,
};

test('one statement stores a message and places it in all mailboxes', async (t) => {
  const { world, accounts } = await openWorld(t, 40);
  world.inbound.spool = () => t.fail() as never;
  const { deliveries } = await send(world, accounts);
  t.true(deliveries.every(({ emailId }) => typeof emailId === 'string'));
  const subjects = accounts.map(() => ['Grüße 💌']);
  t.deepEqual(await stored(world, accounts), { subjects, transactions: 1, areWhole: true, waiting: 0 });
  await Promise.all([send(world, accounts.slice(0, 3), '1'), send(world, accounts.slice(1, 4), '2')]);
  for (const { id } of accounts.slice(0, 4)) await checkRows(world, t, id);
  t.deepEqual(
    (await stored(world, accounts.slice(0, 4))).subjects.map((list) => list.toSorted()),
    [
      ['1', 'Grüße 💌'],
      ['1', '2', 'Grüße 💌'],
      ['1', '2', 'Grüße 💌'],
      ['2', 'Grüße 💌'],
    ],
  );
});

test('messages that come while the store is at work are placed by one statement, also two for one mailbox', async (t) => {
  const { world, accounts } = await openWorld(t, 4);
  const [locked, ...others] = accounts;
  let labelling: Promise<unknown> | undefined;
  let sending: Promise<unknown> | undefined;
  await world.sql.begin(async (tx) => {
    await tx`select from accounts where id = ${locked!.id} for update`;
    labelling = world.mailboxes.of(locked!.id).ask('createLabel', { name: 'Büro', color: '#000000', sortOrder: 0 });
    await until(async () => {
      const waiting = await tx`
        select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`;
      return waiting.length > 0;
    });
    const first = send(world, others.slice(0, 2), '1');
    await turn();
    sending = Promise.all([first, send(world, others.slice(1), '2')]);
    await turn();
  });
  await Promise.allSettled([labelling]);
  await sending;
  const subjects = [['1'], ['1', '2'], ['2']];
  t.deepEqual(await stored(world, others), { subjects, transactions: 1, areWhole: true, waiting: 0 });
});

test('messages of one turn of the event loop are placed by one statement, also the second one for a mailbox', async (t) => {
  const { world, accounts } = await openWorld(t, 3);
  world.inbound.spool = () => t.fail() as never;
  const first = send(world, accounts.slice(0, 2), '1');
  // The loop lets all microtasks of the first message run, but no events from outside.
  for (let i = 0; i < 1_000; i++) await undefined;
  await Promise.all([first, send(world, accounts.slice(1), '2')]);
  const subjects = [['1'], ['1', '2'], ['2']];
  t.deepEqual(await stored(world, accounts), { subjects, transactions: 1, areWhole: true, waiting: 0 });
});

test('mailboxes do with the message what their filters say', async (t) => {
  const { world, accounts } = await openWorld(t, 3);
  const [plain, deleting, reading] = accounts;
  await world.mailboxes.of(deleting!.id).ask('createFilter', {
    rule: { ...rule, subjectContains: 'inlineMessage', delete: true },
  });
  await world.mailboxes.of(reading!.id).ask('createFilter', {
    rule: { ...rule, bodyContains: 'secret', markAsRead: true },
  });
  for (const subject of ['inlineMessage', 'inlineMessage again']) {
    const { deliveries } = await send(world, accounts, subject, 'secret');
    t.deepEqual(
      deliveries.map(({ emailId }) => typeof emailId),
      ['string', 'object', 'string'],
    );
  }
  const all = ['inlineMessage', 'inlineMessage again'];
  check(t, await stored(world, accounts), { subjects: [all, [], all], areWhole: true, waiting: 0 });
  // No other mailbox keeps a message that this one deletes.
  await send(world, [deleting!], 'inlineMessage alone');
  check(t, await stored(world, [plain!]), { subjects: [all], waiting: 0 });
});

test('a mailbox that has much to do holds up none of the others', async (t) => {
  const { world, accounts } = await openWorld(t, 3);
  const [busy, ...others] = accounts;
  const { goOn, done } = await keepBusy(world, busy!);
  const sending = send(world, accounts);
  while ((await stored(world, others)).subjects.flat().length < 2);
  check(t, await stored(world, accounts), { subjects: [[], ['Grüße 💌'], ['Grüße 💌']], waiting: 1 });
  goOn();
  await done;
  t.true((await sending).deliveries.every(({ emailId }) => typeof emailId === 'string'));
  check(t, await stored(world, accounts), { subjects: accounts.map(() => ['Grüße 💌']), areWhole: true, waiting: 0 });
});

test('an account that another node has taken gets the message there, the others here', async (t) => {
  const { world, accounts } = await openWorld(t, 3);
  await world.sql`update accounts set epoch = 7 where id = ${accounts[0]!.id}`;
  const { deliveries } = await send(world, accounts);
  const placed = deliveries.map(({ emailId }) => typeof emailId === 'string');
  t.deepEqual(placed, [false, true, true]);
  const subjects = [[], ['Grüße 💌'], ['Grüße 💌']];
  check(t, await stored(world, accounts), { subjects, transactions: 1, areWhole: true, waiting: 1 });
});

test('a locked account fails no command of the others, and nobody gets what one cannot get', async (t) => {
  const { world, accounts } = await openWorld(t, 3);
  await send(world, accounts, 'first');
  const [locked, other] = accounts;
  const [{ id: emailId }] = (await world.sql<{ id: string }[]>`
    select id from emails where account_id = ${other!.id}`) as unknown as [{ id: string }];
  await world.sql.begin(async (tx) => {
    await tx`select from accounts where id = ${locked!.id} for update`;
    // The locked mailbox does not take part, so its inbound row waits for the lock.
    world.inlineMessages.decline(locked!.id);
    const sending = send(world, accounts, 'second');
    const reading = world.mailboxes.of(other!.id).ask('setRead', { emailIds: [emailId], isRead: true });
    t.deepEqual(await reading, { reply: { changed: 1, missing: [] } });
    await t.throwsAsync(sending, { instanceOf: StoreFault });
  });
  check(t, await stored(world, accounts), { subjects: accounts.map(() => ['first']), waiting: 0 });
  await send(world, accounts, 'third');
  check(t, await stored(world, accounts), {
    subjects: accounts.map(() => ['first', 'third']),
    areWhole: true,
    waiting: 0,
  });
});

test('a message is refused when nobody knows whether it is stored, and one that a commit has stored is not', async (t) => {
  const { world, accounts } = await openWorld(t, 3);
  const LOST = new StoreFault('store-unavailable', 'the connection broke', { temporary: true });
  const lost = new Set<string>();
  const failing =
    (after: boolean) => async (change: MailboxChange, commit: () => ReturnType<typeof world.store.commit>) => {
      if (lost.has(change.accountId)) return commit();
      lost.add(change.accountId);
      if (after) await commit();
      throw LOST;
    };
  world.commit.by = failing(false);
  await t.throwsAsync(send(world, accounts, 'never'), { is: LOST });
  check(t, await stored(world, accounts), { subjects: accounts.map(() => []), waiting: 0 });

  lost.clear();
  world.reload();
  world.commit.by = failing(true);
  await send(world, accounts, 'after all');
  check(t, await stored(world, accounts), { subjects: accounts.map(() => ['after all']), waiting: 0 });
});

test('a message for an account that is being deleted is refused for now, and the commands of the others go on', async (t) => {
  const { world, accounts } = await openWorld(t, 2);
  const gone = { ...accounts[0]!, id: randomUUID() };
  await t.throwsAsync(send(world, [gone, ...accounts]), { instanceOf: StoreFault, code: 'store-conflict' });
  check(t, await stored(world, accounts), { subjects: [[], []], waiting: 0 });
  await send(world, accounts, 'next');
  check(t, await stored(world, accounts), { subjects: [['next'], ['next']], waiting: 0 });
});

/** Keeps the account's mailbox busy until `goOn` is called. */
async function keepBusy(world: MailboxWorld, { id }: Account) {
  const { promise: free, resolve: goOn } = deferred();
  const { promise: isBusy, resolve: began } = deferred();
  const { by } = world.commit;
  world.commit.by = async (change, commit) => {
    if (change.accountId !== id) return by(change, commit);
    world.commit.by = by;
    began();
    await free;
    return commit();
  };
  const done = world.mailboxes.of(id).ask('createLabel', { name: 'Büro', color: '#000000', sortOrder: 0 });
  await isBusy;
  return { goOn, done };
}

test('a message whose storing is in doubt is not taken for placed by a mailbox that comes later', async (t) => {
  const { world, accounts } = await openWorld(t, 2);
  const [first, late] = accounts;
  const LOST = new StoreFault('store-unavailable', 'the connection broke', { temporary: true });
  const busy = await keepBusy(world, late!);
  let inDoubt: SharedMessage | undefined;
  const { by } = world.commit;
  world.commit.by = async (change, commit) => {
    if (change.accountId !== first!.id) return by(change, commit);
    // The database completes the statement after the connection has broken.
    inDoubt = change.shared[0]!.message;
    inDoubt.lost();
    busy.goOn();
    throw LOST;
  };
  await t.throwsAsync(send(world, accounts), { is: LOST });
  await busy.done;
  const { content, envelope, deliveries } = inDoubt!;
  await world.inbound.spool(content, envelope, deliveries);
  const { id: inboundId } = deliveries.find(({ accountId }) => accountId === late!.id)!;
  const { receivedAt, summary } = envelope;
  const mail = { inboundId, blob: content.hash, receivedAt, summary };
  const { reply } = await world.mailboxes.of(late!.id).ask('deliver', mail);
  t.is(typeof reply?.emailId, 'string');
  check(t, await stored(world, [late!]), { subjects: [['Grüße 💌']], waiting: 1 });
});

test('a mailbox that is asked to place a message from its row beside the inlineMessage places it once', async (t) => {
  const { world, accounts } = await openWorld(t, 2);
  const [first, late] = accounts;
  const content = blobOf(Buffer.from('From: a@b.test\r\nSubject: Grüße 💌\r\n\r\nx'));
  const envelope = { receivedAt: Date.now(), summary: summarize(content.index) };
  const deliveries = accounts.map(({ id }) => ({ accountId: id, id: newId() }));
  const { inlineMessages } = world.inlineMessages.share({ ...envelope, content }, envelope, deliveries)!;
  const [ofFirst, ofLate] = deliveries.map(({ id: inboundId }) => {
    const { receivedAt } = envelope;
    return { inlineId: inlineMessages.get(inboundId)!.id, inboundId, receivedAt };
  });
  await world.mailboxes.of(first!.id).ask('deliver', ofFirst!);
  const busy = await keepBusy(world, late!);
  const { ask } = world.mailboxes.of(late!.id);
  const inline = ask('deliver', ofLate!);
  const redelivered = ask('deliver', { inboundId: ofLate!.inboundId, blob: content.hash, ...envelope });
  busy.goOn();
  await Promise.all([busy.done, inline, redelivered]);
  check(t, await stored(world, accounts), { subjects: [['Grüße 💌'], ['Grüße 💌']], waiting: 0 });
});
