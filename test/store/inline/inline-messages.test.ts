// Tests messages that a mailbox stores with its own commit: an inline message is accepted at most once, and its sender learns the
// outcome, whatever fails on the way.
import { randomUUID } from 'node:crypto';
import type { MailboxProtocol } from '../../../src/actors/mailbox/protocol.js';
import type { Reply } from '../../../src/actors/runtime/protocol.js';
import { summarize } from '../../../src/mail-format/summary.js';
import { blobOf } from '../../../src/store/blobs.js';
import { StoreFault } from '../../../src/store/errors.js';
import { InlineMessage } from '../../../src/store/inline/inline-message.js';
import { InlineMessages, type MessageAsk, type MessageHandle } from '../../../src/store/inline/inline-messages.js';
import type { UnstoredMessage } from '../../../src/store/inline/unstored-message.js';
import { checkRows, type MailboxWorld, mailboxWorld } from '../../actors/mailbox/mailbox-world.js';
import { addressee, outcome } from '../../actors/mailbox/outbound-world.js';
import test from '../../support/test.js';

const LOST = new StoreFault('store-unavailable', 'the connection broke', { temporary: true });
const LOCKED = new StoreFault('store-locked', 'rows are locked', { temporary: true });

function mailOf(subject: string, body = 'hello') {
  const content = blobOf(Buffer.from(`From: a@b.test\r\nSubject: ${subject}\r\n\r\n${body}`));
  return { content, summary: summarize(content.index), receivedAt: Date.now() };
}

function openInline(): InlineMessage {
  return new InlineMessage(mailOf('x'), () => {});
}

test('an inlineMessage that is withdrawn is not taken, one that is taken is withdrawn after its commit', async (t) => {
  const withdrawn = openInline();
  t.is(await withdrawn.revoke(), undefined);
  t.throws(() => withdrawn.accept());

  const taken = openInline();
  taken.accept();
  t.throws(() => taken.accept());
  const withdrawing = taken.revoke();
  taken.committed('email');
  t.deepEqual(await withdrawing, { result: 'email' });

  const released = openInline();
  released.accept();
  released.released();
  t.true(released.isOpen);
  released.accept();
  const ending = released.revoke();
  released.released();
  t.is(await ending, undefined);
  t.false(released.isOpen);
});

test('a commit that failed has written nothing if the database says so, else nobody knows', async (t) => {
  for (const fault of [LOCKED, new StoreFault('store-failed', 'a bad row', { temporary: false })]) {
    const inlineMessage = openInline();
    inlineMessage.accept();
    inlineMessage.failed(fault);
    t.is(await inlineMessage.revoke(), undefined, fault.code);
  }
  for (const fault of [LOST, new TypeError('bug')]) {
    const inlineMessage = openInline();
    inlineMessage.accept();
    inlineMessage.failed(fault);
    await t.throwsAsync(inlineMessage.revoke(), { instanceOf: StoreFault, message: new RegExp(fault.message) });
  }
});

test('small messages are inline, and travel to mailboxes of other nodes', async (t) => {
  const inlineMessages = new InlineMessages((accountId) => accountId === 'here');
  t.is(inlineMessages.add('elsewhere', mailOf('x')), undefined);
  const { id } = inlineMessages.add('here', mailOf('x'))!;
  t.is(inlineMessages.find(id)!.id, id);
  void inlineMessages.find(id)!.revoke();
  t.is(inlineMessages.find(id), undefined);
  const handles = async (accountId: string, ...mails: UnstoredMessage[]) => {
    const asked: string[] = [];
    const ids = new Set<string | undefined>();
    const ask = async (given: readonly MessageHandle[], { carried, id }: MessageAsk) => {
      const kind = carried === undefined ? 'inline' : 'carried';
      asked.push(given.map((handle) => ('inlineId' in handle ? kind : handle.blob)).join(' '));
      ids.add(id);
      if (isLost && carried !== undefined) throw new Error('the answer is lost');
      return { refusal: 'unstored' };
    };
    const { refusal } = await inlineMessages.commit(accountId, mails, ask, async () =>
      mails.map(({ summary }, i) => ({ blob: `stored${i}`, summary })),
    );
    t.is(refusal, 'unstored');
    t.is(ids.size, isLost || asked[0] !== 'carried' ? 1 : 2, 'one id for both asks if the first has no answer');
    return asked;
  };
  let isLost = true;
  t.deepEqual(await handles('here', mailOf('x'), mailOf('y')), ['inline inline', 'stored0 stored1']);
  t.deepEqual(await handles('here', mailOf('x', 'x'.repeat(300_000))), ['stored0']);
  t.deepEqual(await handles('elsewhere', mailOf('x'), mailOf('y')), ['carried carried', 'stored0 stored1']);
  isLost = false;
  t.deepEqual(await handles('elsewhere', mailOf('x')), ['carried', 'stored0']);
  t.deepEqual(await handles('elsewhere', mailOf('x')), ['stored0'], 'the mailbox has declined');
  t.deepEqual(await handles('far', mailOf('x', 'x'.repeat(300_000))), ['stored0']);
});

test('what a command carries is inline at the node that gets it, until it has answered', async (t) => {
  const [gateway, owner] = [new InlineMessages(() => false), new InlineMessages(() => true)];
  const mail = mailOf('x');
  // The octets of a message may be in several pieces.
  const [piece] = mail.content.chunks() as readonly Uint8Array[];
  const content = { ...mail.content, chunks: () => [piece!.subarray(0, 5), piece!.subarray(5)] };
  await gateway.commitInline(
    'account',
    [{ ...mail, content }],
    async ([handle], { carried }) => {
      const [answered, again] = [owner.receive(carried)!, owner.receive(carried)!];
      const { inlineId } = handle as { readonly inlineId: string };
      answered();
      const { message, isCarried } = owner.find(inlineId)!;
      t.true(isCarried);
      t.deepEqual(message.summary, mail.summary);
      const { hash, size, index } = mail.content;
      t.like(message.content, { hash, size, index });
      t.deepEqual(Buffer.concat([...(message.content.chunks() as readonly Uint8Array[])]), Buffer.from(piece!));
      again();
      t.is(owner.find(inlineId), undefined);
      return { reply: {} };
    },
    randomUUID(),
  );
  // The command with the octets is not here.
  owner.receive([{ id: 'x', messageId: 'm', deliveryId: 'd' }])!();
  t.is(owner.find('x'), undefined);
});

test('a packet with a damaged message is refused as a whole', (t) => {
  const owner = new InlineMessages(() => true);
  const message = { id: 'x', octets: Buffer.from('x'), hash: '', index: '{}', summary: {} };
  const share = { id: 'x', messageId: 'm', deliveryId: 'd' };
  const whole = { message, envelope: {}, deliveries: [{ accountId: 'a', id: 'd' }] };
  const damaged: unknown[] = [
    {},
    null,
    { ...message, octets: 'text' },
    ...['', '{', 'null', '7', '\u0000'].map((index) => ({ ...message, index })),
    { ...message, summary: null },
    { ...share, deliveryId: 7 },
    { ...share, whole: null },
    { ...share, whole: { ...whole, message: {} } },
    { ...share, whole: { ...whole, message: { ...message, index: '[' } } },
    { ...share, whole: { ...whole, deliveries: [{}] } },
  ];
  for (const packed of [null, {}, ...damaged.map((one) => [{ ...message, id: 'y' }, one])]) {
    t.is(owner.receive(packed), undefined, JSON.stringify(packed));
    t.deepEqual([owner.find('x'), owner.find('y')], [undefined, undefined]);
  }
  for (const one of [message, { ...share, whole }]) t.is(typeof owner.receive([one]), 'function');
});

/** Adds a message, delivers it, and returns its outcome. */
async function deliver(world: MailboxWorld, accountId: string, mail: ReturnType<typeof mailOf> & { isJunk?: boolean }) {
  const inlineMessage = world.inlineMessages.add(accountId, mail)!;
  const { receivedAt, isJunk } = mail;
  const payload = { inlineId: inlineMessage.id, inboundId: randomUUID(), receivedAt, ...(isJunk && { isJunk }) };
  const ask = () => world.mailboxes.of(accountId).ask('deliver', payload);
  const outcomes = [...(await Promise.all([ask(), ask()])), await ask()];
  const outcome = (await inlineMessage.revoke()) as { readonly result: { emailId: string | null } } | undefined;
  return { outcome, outcomes };
}

test('a message that is queued is stored with its rows and its copy in Sent, once; one that is not queued is not stored', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { id } = await world.directory.createAccount('sender@example.test', 'Sender');
  const mailbox = world.mailboxes.of(id);
  const mail = mailOf('leaving');
  const outgoing = {
    draft: null,
    sender: 'sender@example.test',
    content: null,
    recipients: [addressee('a@remote.test'), addressee('b@here.test')],
  };
  // The hosted delivery sees the message before it is stored.
  const judged: (string | undefined)[] = [];
  world.inside.hosted = async ({ domain, blob, index, recipients }) => {
    judged.push(blob);
    t.is(index, mail.content.index);
    if (domain !== 'here.test') return undefined;
    const outcomes = recipients.map((recipient) => ({ ...outcome(recipient.id, 'delivered'), localAccountIds: [id] }));
    return { outcomes, attempts: [] };
  };
  const inlineMessage = world.inlineMessages.add(id, mail)!;
  const ask = () => mailbox.ask('enqueue', { inlineId: inlineMessage.id, ...outgoing });
  const replies = [...(await Promise.all([ask(), ask()])), await ask()];
  const queued = (await inlineMessage.revoke())!.result as Reply<MailboxProtocol, 'enqueue'>;
  t.deepEqual(
    replies.map(({ reply }) => reply),
    [queued, queued, queued],
  );
  const { hash, size, index } = mail.content;
  t.true(judged.every((blob) => blob === hash));
  t.deepEqual(await world.blobs.index(hash), index);
  t.is((await world.blobs.read(hash, 0, size)).length, size);
  const { reply } = await mailbox.ask('outbound', { outboundId: queued.id });
  t.like(reply!.email, { blob: hash, size, subject: 'leaving', status: 'Queued', sentEmailId: queued.sentEmailId });
  t.deepEqual(
    reply!.email.recipients.map(({ address, status }) => [address, status]),
    [
      ['a@remote.test', 'Pending'],
      ['b@here.test', 'Delivered'],
    ],
  );
  t.is((await world.sql`select from outbound where account_id = ${id}`).length, 1);
  t.is((await world.sql`select from inbound where blob = ${Buffer.from(hash, 'hex')}`).length, 1);

  world.inside.hosted = async () => undefined;
  const lost = mailOf('of a draft that is gone');
  const declinedInline = world.inlineMessages.add(id, lost)!;
  const { id: inlineId } = declinedInline;
  const draft = { id: randomUUID(), updatedAt: 1 };
  t.is((await mailbox.ask('enqueue', { inlineId, ...outgoing, draft })).refusal, 'noSuchOutbound');
  t.is(await declinedInline.revoke(), undefined);
  t.is(await world.blobs.index(lost.content.hash), undefined);
  t.is((await mailbox.ask('enqueue', { inlineId, ...outgoing })).refusal, 'unstored');
});

test('a mailbox stores an inline message with its email, once, and what a filter deletes not at all', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { id } = await world.directory.createAccount('inline@example.test', 'Inline');
  const mailbox = world.mailboxes.of(id);
  const rule = {
    name: 'f',
    isEnabled: true,
    priority: 1,
    fromAddressContains: null,
    subjectContains: 'unwanted',
    bodyContains: null,
    hasAttachments: null,
    markAsRead: null,
    assignLabelId: null,
    delete: true,
  };
  await mailbox.ask('createFilter', { rule });
  const wanted = mailOf('wanted');
  const { outcome, outcomes } = await deliver(world, id, wanted);
  t.deepEqual(outcomes, Array(3).fill({ reply: outcome!.result }));
  const { reply: detail } = await mailbox.ask('detail', { emailId: outcome!.result.emailId! });
  t.is(detail!.subject, 'wanted');
  const { size, hash, index } = wanted.content;
  t.is(Buffer.from(await world.blobs.read(hash, 0, size)).toString(), 'From: a@b.test\r\nSubject: wanted\r\n\r\nhello');
  t.deepEqual(await world.blobs.index(hash), index);

  const unwanted = mailOf('unwanted');
  t.deepEqual((await deliver(world, id, unwanted)).outcome, { result: { emailId: null } });
  t.is(await world.blobs.index(unwanted.content.hash), undefined);

  const junk = await deliver(world, id, { ...mailOf('junk'), isJunk: true });
  const { reply: list } = await mailbox.ask('list', { folder: 'junk', page: 1, pageSize: 10 });
  t.deepEqual(
    list!.items.map((item) => item.id),
    [junk.outcome!.result.emailId],
  );

  // A filter that needs the body reads it from the store.
  await mailbox.ask('createFilter', { rule: { ...rule, subjectContains: null, bodyContains: 'secret' } });
  const unread = await deliver(world, id, mailOf('body', 'secret'));
  t.deepEqual([unread.outcome, ...unread.outcomes], [undefined, ...Array(3).fill({ refusal: 'unstored' })]);
  // For some time the next messages of this account are stored first.
  t.is(world.inlineMessages.add(id, mailOf('next')), undefined);
  t.truthy(world.inlineMessages.add(randomUUID(), mailOf('next')));
  // The message is on another node, or revoked.
  const foreign = { inlineId: randomUUID(), inboundId: randomUUID(), receivedAt: Date.now() };
  t.is((await mailbox.ask('deliver', foreign)).refusal, 'unstored');
  await checkRows(world, t, id);
});

test('messages of one inlineMessage are stored by one commit, each with its own flags, or none of them is', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { id } = await world.directory.createAccount('zoe@example.test', 'Zoë 💌');
  const mails = ['one', 'two', 'two', 'three 💌'].map((subject) => mailOf(subject));
  const stored = async () => {
    const hashes = mails.map(({ content }) => content.hash);
    const [row] = await world.sql<[{ count: number }]>`
      select count(*)::int as count from blobs where encode(hash, 'hex') = any(${hashes})`;
    return row.count;
  };
  const append = async (flags: string[][], isWithdrawn = false) => {
    const added = mails.map((mail) => world.inlineMessages.add(id, mail)!);
    if (isWithdrawn) t.is(await added[2]!.revoke(), undefined);
    const messages = added.map(({ id: inlineId }, i) => ({ inlineId, receivedAt: Date.now(), flags: flags[i]! }));
    const ask = () => world.mailboxes.of(id).ask('append', { folderId: 'sent', messages });
    const [first, ...again] = [...(await Promise.all([ask(), ask()])), await ask()];
    t.deepEqual(again, [first, first]);
    const ended = await Promise.all(added.map((each) => each.revoke()));
    t.deepEqual(ended, Array(4).fill(first!.reply && { result: first!.reply }));
    return first!;
  };
  t.is((await append([[], [], ['\\Bad'], []])).refusal, 'noSuchFlag');
  t.is((await append([[], [], [], []], true)).refusal, 'unstored');
  t.is(world.commits.length, 0);
  t.is(await stored(), 0);
  const { reply: result } = await append([['\\Seen'], [], ['Zoe', '\\Deleted'], ['\\Flagged']]);
  t.deepEqual(
    result?.emails.map(({ uid }) => uid),
    [1, 2, 3, 4],
  );
  t.is(world.commits.length, 1);
  t.is(await stored(), 3);
  const rows = await world.sql`
    select e.id, subject, flags::int as flags, keywords, deleted from emails e join placements p on p.email_id = e.id
    where e.account_id = ${id} order by uid`;
  t.deepEqual(
    rows.map((row) => [row['id'], row['subject'], row['flags'], row['keywords'], row['deleted']]),
    [
      ['one', 1, [], false],
      ['two', 0, [], false],
      ['two', 0, ['Zoe'], true],
      ['three 💌', 4, [], false],
    ].map((row, i) => [result?.emails[i]?.emailId, ...row]),
  );
  await checkRows(world, t, id);
});
