// Tests a message that travels with `deliver` to the mailbox of another node, on a real actor and a real store: one commit stores and places
// it. When the gateway gets no answer it stores the message first, and the mail is there once, whichever of the two commits came first.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import type { Mailboxes } from '../../../src/actors/mailbox/protocol.js';
import { ActorFault } from '../../../src/actors/runtime/errors.js';
import { NO_TRACER } from '../../../src/actors/runtime/tracing.js';
import { acceptMessage } from '../../../src/gateways/smtp/accept.js';
import { blobOf } from '../../../src/store/blobs.js';
import { newId } from '../../../src/store/ids/new-id.js';
import { InlineMessages } from '../../../src/store/inline/inline-messages.js';
import { checkRows, type MailboxWorld, mailboxWorld } from '../../actors/mailbox/mailbox-world.js';
import { eventually } from '../../scenarios/cluster/support/eventually.js';
import { deferred } from '../../support/deferred.js';
import test from '../../support/test.js';

type Ask = ReturnType<Mailboxes['of']>['ask'];

/** A busy machine may need longer than the gateway waits for the mailboxes; the mail is placed nevertheless. */
const ASK_MS = 60_000;

/** `asks`: what happens to each ask of the gateway, in order; later ones are answered. */
async function openWorld(t: ExecutionContext, ...asks: ((ask: () => ReturnType<Ask>) => Promise<unknown>)[]) {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const account = () => world.directory.createAccount(`${randomUUID()}@example.test`, 'Zoë 💌');
  const accounts = [await account(), await account(), await account()] as const;
  const [{ id: accountId }] = accounts;
  /** The last account is on a third node. */
  const nodeOf = (id: string) => (id === accounts[2].id ? 'far' : 'near');
  const of = (id: string) => {
    const mailbox = world.mailboxes.of(id);
    const ask = (...[type, mail, how]: Parameters<Ask>) => {
      asked.push(`${accounts.findIndex((known) => known.id === id)} ${'inlineId' in mail ? 'carried' : 'stored'}`);
      return (asks.shift() ?? ((answer) => answer()))(() => mailbox.ask(type, mail, { ...how, deadlineMs: ASK_MS }));
    };
    return { ...mailbox, ask };
  };
  const inlineMessages = new InlineMessages(() => false, nodeOf, 600_000);
  /** How each mailbox was asked to place a message, in order. */
  const asked: string[] = [];
  const spooled: unknown[] = [];
  const ports = {
    ...world,
    mailboxes: { of } as Mailboxes,
    inlineMessages,
    inbound: {
      ...world.inbound,
      async spool(...args: Parameters<typeof world.inbound.spool>) {
        await world.inbound.spool(...args);
        spooled.push(args[2][0]!.isTried === true ? 'tried' : 'new');
      },
    },
    directory: { openUnclaimed: async () => new Map() },
    tracer: NO_TRACER,
  };
  /** Waits until what has been stored for `of` is placed: `send` waits for it only so long. */
  const placed = (of = accountId) =>
    eventually('the placing', async () => (await world.sql`select from inbound where account_id = ${of}`).length === 0);
  return {
    world,
    accountId,
    placed,
    mailbox: world.mailboxes.of(accountId),
    spooled,
    asked,
    accounts,
    async send(
      subject: string,
      body = 'x',
      to: readonly { readonly id: string; readonly email: string }[] = [accounts[0]],
    ) {
      const content = {
        ...blobOf(Buffer.from(`From: a@b.test\r\nSubject: ${subject}\r\n\r\n${body}`)),
        isInMemory: true,
        release() {},
      };
      const destinations = to.map(({ id, email: address }) => {
        return { recipient: { kind: 'mailbox' as const, accountId: id }, address };
      });
      const judgement = { verdict: 'accept', headers: '', by: undefined } as const;
      const transaction = { sender: '', remoteAddress: '127.0.0.1', receivedAt: Date.now(), newId };
      return acceptMessage(ports, { content, authenticated: undefined, judgement }, destinations, transaction);
    },
    /** Places what waits in inbound rows, as the owner does. */
    async redeliver() {
      for (const { accountId: to, id, envelope, blob, isTried } of await world.inbound.overdue([0], -1000, 100, [])) {
        const { receivedAt, summary } = envelope;
        const mail = { inboundId: id, blob, receivedAt, summary, ...(isTried === true && { isTried }) };
        await world.mailboxes.of(to).ask('deliver', mail);
      }
    },
    async subjects(of = accountId) {
      await placed(of);
      await checkRows(world, t, of);
      const rows = await world.sql<{ subject: string; octets: number }[]>`
        select subject, (select sum(length(data))::int from blob_chunks c where c.hash = e.blob) as octets
        from emails e where account_id = ${of} order by id`;
      t.true(rows.every(({ octets }) => octets > 0));
      return rows.map(({ subject }) => subject);
    },
  };
}

const LOST = new ActorFault('unreachable', 'the answer is lost');

/** The command is carried out, and its answer does not arrive. */
const answerLost = async (ask: () => ReturnType<Ask>) => {
  await ask();
  throw LOST;
};

/** Holds the first commit of the mailbox back until `goOn` is called. */
function heldBack(world: MailboxWorld) {
  const { promise: open, resolve: goOn } = deferred();
  const { promise: begun, resolve: begin } = deferred();
  let count = 0;
  world.commit.by = async (_, commit) => {
    if (count++ > 0) return commit();
    begin();
    await open;
    return commit();
  };
  return { goOn: () => goOn(), begun };
}

test('one commit stores and places the message', async (t) => {
  const { world, send, spooled, subjects, accountId } = await openWorld(t);
  const emailId = (await send('Grüße 💌')).deliveries[0]!.emailId!;
  t.is(typeof emailId, 'string');
  t.deepEqual(await subjects(), ['Grüße 💌']);
  t.is(world.commits.length, 1);
  t.deepEqual(spooled, []);
  const { reply } = await world.mailboxes.of(accountId).ask('detail', { emailId });
  t.is(reply!.subject, 'Grüße 💌');
});

test('a message that was placed and of which the gateway heard nothing is placed once', async (t) => {
  const { send, spooled, subjects, redeliver } = await openWorld(t, answerLost, answerLost);
  await send('lost');
  await redeliver();
  t.deepEqual(spooled, ['tried']);
  t.deepEqual(await subjects(), ['lost']);
  await send('next');
  t.deepEqual(await subjects(), ['lost', 'next']);
});

test('the next owner of the mailbox does not place again what the last one has placed', async (t) => {
  const died = async (ask: () => ReturnType<Ask>) => {
    await ask();
    world.reload();
    throw LOST;
  };
  const { world, send, subjects, spooled } = await openWorld(t, died);
  await send('of the last owner');
  t.deepEqual(spooled, ['tried']);
  t.deepEqual(await subjects(), ['of the last owner']);
});

test('nor long after, when no owner remembers it', async (t) => {
  const { world, send, subjects, redeliver } = await openWorld(t, answerLost, async () => Promise.reject(LOST));
  await send('old');
  await world.sql`update recent_commands set at = now() - interval '1 hour'`;
  t.is(await world.store.forget(60_000, 10), 0);
  world.reload();
  await redeliver();
  t.deepEqual(await subjects(), ['old']);
  t.is(await world.store.forget(60_000, 10), 1);
});

test('a mail that its user has expunged meanwhile does not come back', async (t) => {
  const expunged = async (ask: () => ReturnType<Ask>) => {
    const { reply } = (await ask()) as { readonly reply: { readonly emailId: string } };
    await mailbox.ask('remove', { emailIds: [reply.emailId] });
    throw LOST;
  };
  const { mailbox, send, subjects, spooled } = await openWorld(t, expunged);
  await send('gone');
  t.deepEqual(spooled, ['tried']);
  t.deepEqual(await subjects(), []);
});

test('an owner that commits late places what the gateway has stored meanwhile', async (t) => {
  let late: ReturnType<typeof heldBack> | undefined;
  const asked: unknown[] = [];
  const isLate = async (ask: () => ReturnType<Ask>) => {
    late = heldBack(world);
    asked.push(ask());
    await late.begun;
    throw LOST;
  };
  // The second command waits for the commit of the first.
  const waits = async (ask: () => ReturnType<Ask>) => {
    const answer = ask();
    late!.goOn();
    return answer;
  };
  const { world, send, subjects, spooled } = await openWorld(t, isLate, waits);
  await send('late');
  await Promise.allSettled(asked);
  t.deepEqual(spooled, ['tried']);
  t.deepEqual(await subjects(), ['late']);
});

test('an owner that commits after the next owner has placed the message commits nothing', async (t) => {
  let late: ReturnType<typeof heldBack> | undefined;
  const asked: Promise<unknown>[] = [];
  const isLate = async (ask: () => ReturnType<Ask>) => {
    late = heldBack(world);
    asked.push(ask());
    await late.begun;
    world.reload();
    throw LOST;
  };
  const { world, send, placed, subjects } = await openWorld(t, isLate);
  await send('late');
  await placed();
  late!.goOn();
  await Promise.allSettled(asked);
  t.deepEqual(await subjects(), ['late']);
});

test('a command that arrives after the message was placed from its row places nothing', async (t) => {
  let late: (() => ReturnType<Ask>) | undefined;
  const underWay = async (ask: () => ReturnType<Ask>) => {
    late = ask;
    throw LOST;
  };
  for (const isReloaded of [false, true]) {
    const { world, send, placed, subjects } = await openWorld(t, underWay);
    await send('overtaken');
    await placed();
    if (isReloaded) world.reload();
    await late!();
    t.deepEqual(await subjects(), ['overtaken']);
  }
});

test('both ways at once place one email', async (t) => {
  const asked: Promise<unknown>[] = [];
  const { world, send, subjects, mailbox } = await openWorld(
    t,
    async (ask) => {
      // Both commands wait for the commit of another one, and are planned together.
      const first = heldBack(world);
      asked.push(mailbox.ask('createLabel', { name: 'Büro', color: '#000000', sortOrder: 0 }));
      await first.begun;
      asked.push(ask());
      goOn = first.goOn;
      throw LOST;
    },
    async (ask) => {
      const answer = ask();
      goOn();
      return answer;
    },
  );
  let goOn = () => {};
  await send('twice');
  await Promise.allSettled(asked);
  t.deepEqual(await subjects(), ['twice']);
  t.is(world.commits.length, 2);
});

const BODY_RULE = {
  name: 'f',
  isEnabled: true,
  priority: 1,
  fromAddressContains: null,
  subjectContains: null,
  bodyContains: 'secret',
  hasAttachments: null,
  markAsRead: true,
  assignLabelId: null,
  delete: null,
};

test('a mailbox whose filters read bodies gets the message from the store', async (t) => {
  const { send, subjects, spooled, mailbox } = await openWorld(t);
  await mailbox.ask('createFilter', { rule: BODY_RULE });
  for (const subject of ['one', 'two']) await send(subject);
  t.deepEqual(spooled, ['new', 'new']);
  t.deepEqual(await subjects(), ['one', 'two']);
});

test('a large message is stored first', async (t) => {
  const { send, subjects, spooled } = await openWorld(t);
  await send('large', 'x'.repeat(300_000));
  t.deepEqual(spooled, ['new']);
  t.deepEqual(await subjects(), ['large']);
});

test('one statement places a message in all mailboxes of another node, and stores rows for the others', async (t) => {
  const { world, accounts, send, subjects, spooled } = await openWorld(t);
  for (const { id } of accounts) await world.mailboxes.of(id).ask('unreadCount', {});
  const { deliveries } = await send('for three', 'x', accounts);
  t.true(deliveries.every(({ emailId }) => typeof emailId === 'string'));
  t.deepEqual(spooled, []);
  for (const { id } of accounts) t.deepEqual(await subjects(id), ['for three']);
  const written = await world.sql`select account_id, xmin::text from emails`;
  const transactions = accounts.map(({ id }) => written.find((row) => row['account_id'] === id)!['xmin']);
  t.is(new Set(transactions).size, 2);
  t.is(transactions[0], transactions[1]);
});

test('a message for several of which the gateway hears nothing is there once for each', async (t) => {
  const lost = [answerLost, answerLost, answerLost, answerLost, answerLost];
  const { accounts, send, subjects, spooled, redeliver } = await openWorld(t, ...lost);
  await send('for three', 'x', accounts);
  t.deepEqual(spooled, ['tried']);
  await redeliver();
  for (const { id } of accounts) t.deepEqual(await subjects(id), ['for three']);
});

test('an answer of one mailbox says that the message is stored for all', async (t) => {
  const { accounts, send, subjects, spooled, redeliver } = await openWorld(
    t,
    async (ask) => ask(),
    async () => Promise.reject(LOST),
    async () => Promise.reject(LOST),
    async () => Promise.reject(LOST),
  );
  const { deliveries } = await send('for three', 'x', accounts);
  t.deepEqual(
    deliveries.map(({ emailId }) => typeof emailId),
    ['string', 'undefined', 'undefined'],
  );
  t.deepEqual(spooled, []);
  await redeliver();
  for (const { id } of accounts) t.deepEqual(await subjects(id), ['for three']);
});

test('a message for several of which one is gone is refused for now, and nobody has it', async (t) => {
  const { world, accounts, send, subjects } = await openWorld(t);
  const gone = { id: randomUUID(), email: 'gone@example.test' };
  await t.throwsAsync(send('for three', 'x', [...accounts.slice(0, 2), gone]));
  for (const { id } of accounts) t.deepEqual(await subjects(id), []);
  t.is((await world.sql`select from inbound`).length, 0);
});

test('a mailbox that has declined a message for several is not asked to take the next ones', async (t) => {
  const { accounts, send, asked, spooled, subjects, world } = await openWorld(t);
  const near = accounts.slice(0, 2);
  await world.mailboxes.of(near[0]!.id).ask('createFilter', { rule: BODY_RULE });
  await send('first', 'x', near);
  t.deepEqual(asked.splice(0), ['0 carried', '1 carried', '0 stored']);
  await send('second', 'x', near);
  t.deepEqual(asked.splice(0), ['1 carried', '0 stored']);
  t.deepEqual(spooled, []);
  for (const { id } of near) t.deepEqual(await subjects(id), ['first', 'second']);
});

test('a mailbox that does not answer delays neither the reply to the sender nor the mailboxes of other nodes', async (t) => {
  const gate = deferred();
  const hangs = (ask: () => ReturnType<Ask>) => gate.promise.then(ask);
  const { accounts, send, subjects, spooled, redeliver } = await openWorld(t, (ask) => ask(), hangs);
  const { deliveries } = await send('for three', 'x', accounts);
  t.is(typeof deliveries[0]!.emailId, 'string');
  t.is(deliveries[1]!.emailId, undefined);
  t.deepEqual(spooled, []);
  t.deepEqual(await subjects(accounts[2].id), ['for three']);
  gate.resolve();
  await redeliver();
  for (const { id } of accounts) t.deepEqual(await subjects(id), ['for three']);
});
