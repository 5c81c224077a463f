// Messages that a mailbox stores with its own commit: an offer is taken at most once, and who made it learns what has become
// of the message, whatever fails on the way.
import { randomUUID } from 'node:crypto';
import { MessageOffer, MessageOffers } from '../../../src/actors/mailbox/message-offers.js';
import type { OfferedAppend, OfferedDelivery, OfferedEnqueue } from '../../../src/actors/mailbox/protocol.js';
import { summarize } from '../../../src/mail/summary.js';
import { blobOf } from '../../../src/store/blobs.js';
import { StoreFault } from '../../../src/store/errors.js';
import test from '../../support/test.js';
import { checkRows, type MailboxWorld, mailboxWorld } from './mailbox-world.js';
import { addressee, outcome } from './outbound-world.js';

const LOST = new StoreFault('store-unavailable', 'the connection broke', { temporary: true });
const LOCKED = new StoreFault('store-locked', 'rows are locked', { temporary: true });

function mailOf(subject: string, body = 'hello') {
  const content = blobOf(Buffer.from(`From: a@b.test\r\nSubject: ${subject}\r\n\r\n${body}`));
  return { content, summary: summarize(content.index), receivedAt: Date.now() };
}

function openOffer(): MessageOffer {
  return new MessageOffer(mailOf('x'), () => {});
}

test('an offer that is withdrawn is not taken, one that is taken is withdrawn after its commit', async (t) => {
  const withdrawn = openOffer();
  t.is(await withdrawn.withdraw(), undefined);
  t.throws(() => withdrawn.take());

  const taken = openOffer();
  taken.take();
  t.throws(() => taken.take());
  const withdrawing = taken.withdraw();
  taken.committed('email');
  t.deepEqual(await withdrawing, { result: 'email' });

  const released = openOffer();
  released.take();
  released.released();
  t.true(released.isOpen);
  released.take();
  const ending = released.withdraw();
  released.released();
  t.is(await ending, undefined);
  t.false(released.isOpen);
});

test('a commit that failed has written nothing if the database says so, else nobody knows', async (t) => {
  for (const fault of [LOCKED, new StoreFault('store-failed', 'a bad row', { temporary: false })]) {
    const offer = openOffer();
    offer.take();
    offer.failed(fault);
    t.is(await offer.withdraw(), undefined, fault.code);
  }
  for (const fault of [LOST, new TypeError('bug')]) {
    const offer = openOffer();
    offer.take();
    offer.failed(fault);
    await t.throwsAsync(offer.withdraw(), { instanceOf: StoreFault, message: new RegExp(fault.message) });
  }
});

test('small messages are offered, to mailboxes of this node', (t) => {
  const offers = new MessageOffers((accountId) => accountId === 'here');
  t.is(offers.offer('elsewhere', 'id', mailOf('x')), undefined);
  t.is(offers.offer('here', 'id', mailOf('x', 'x'.repeat(300_000))), undefined);
  const offer = offers.offer('here', 'id', mailOf('x'));
  t.is(offers.find('id'), offer);
  void offer!.withdraw();
  t.is(offers.find('id'), undefined);
});

/** Offers a message, has it delivered, and says what has become of it. */
async function deliver(world: MailboxWorld, accountId: string, mail: ReturnType<typeof mailOf> & { isJunk?: boolean }) {
  const id = randomUUID();
  const offer = world.offers.offer<OfferedDelivery>(accountId, id, mail);
  const ask = () => world.mailboxes.of(accountId).ask('deliverOffered', { offerId: id });
  const replies = await Promise.all([ask(), ask()]);
  const again = await ask();
  const outcome = await offer!.withdraw();
  return { outcome, isTaken: [...replies, again].map(({ reply }) => reply?.isTaken) };
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
  // The message is judged before it is stored.
  const judged: (string | undefined)[] = [];
  world.inside.hosted = async ({ domain, blob, index, recipients }) => {
    judged.push(blob);
    t.is(index, mail.content.index);
    if (domain !== 'here.test') return undefined;
    const outcomes = recipients.map((recipient) => outcome(recipient.id, 'delivered', id));
    return { outcomes, attempts: [] };
  };
  const offerId = randomUUID();
  const offer = world.offers.offer<OfferedEnqueue>(id, offerId, mail);
  const ask = () => mailbox.ask('enqueueOffered', { offerId, ...outgoing });
  const replies = [...(await Promise.all([ask(), ask()])), await ask()];
  t.deepEqual(
    replies.map(({ reply }) => reply),
    [{ isTaken: true }, { isTaken: true }, { isTaken: true }],
  );
  const queued = (await offer!.withdraw())!.result;
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
  const other = randomUUID();
  const refusedOffer = world.offers.offer<OfferedEnqueue>(id, other, lost);
  const draft = { id: randomUUID(), updatedAt: 1 };
  t.is((await mailbox.ask('enqueueOffered', { offerId: other, ...outgoing, draft })).refusal, 'noSuchOutbound');
  t.is(await refusedOffer!.withdraw(), undefined);
  t.is(await world.blobs.index(lost.content.hash), undefined);
  const { reply: late } = await mailbox.ask('enqueueOffered', { offerId: other, ...outgoing });
  t.deepEqual(late, { isTaken: false });
});

test('a mailbox stores an offered message with its email, once, and what a filter deletes not at all', async (t) => {
  const world = await mailboxWorld();
  const { id } = await world.directory.createAccount('offers@example.test', 'Offers');
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
  const { outcome, isTaken } = await deliver(world, id, wanted);
  t.deepEqual(isTaken, [true, true, true]);
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

  // A filter that has to read a body reads it in the store.
  await mailbox.ask('createFilter', { rule: { ...rule, subjectContains: null, bodyContains: 'secret' } });
  const unread = await deliver(world, id, mailOf('body', 'secret'));
  t.deepEqual([unread.outcome, ...unread.isTaken], [undefined, false, false, false]);
  // Until some time has passed the next ones are stored first.
  t.is(world.offers.offer(id, randomUUID(), mailOf('next')), undefined);
  t.truthy(world.offers.offer(randomUUID(), randomUUID(), mailOf('next')));
  // Of another node, or withdrawn.
  const { reply: foreign } = await mailbox.ask('deliverOffered', { offerId: randomUUID() });
  t.deepEqual(foreign, { isTaken: false });
  await checkRows(world, t, id);
  await world.end();
});

test('messages of one offer are stored by one commit, each with its own flags, or none of them is', async (t) => {
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
    const offerId = randomUUID();
    const [first, ...others] = mails;
    const offer = world.offers.offer<OfferedAppend>(id, offerId, first!, others)!;
    if (isWithdrawn) t.is(await offer.withdraw(), undefined);
    const payload = { offerId, folder: { folderId: 'sent' }, flags };
    const ask = () => world.mailboxes.of(id).ask('appendOffered', payload);
    const [{ reply, refusal }] = [...(await Promise.all([ask(), ask()])), await ask()];
    return { isTaken: reply?.isTaken, refusal, result: (await offer.withdraw())?.result };
  };
  t.is((await append([[], [], ['\\Bad'], []])).refusal, 'noSuchFlag');
  t.false((await append([[], [], [], []], true)).isTaken);
  t.is(world.commits.length, 0);
  t.is(await stored(), 0);
  const { isTaken, result } = await append([['\\Seen'], [], ['Zoe', '\\Deleted'], ['\\Flagged']]);
  t.true(isTaken);
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

test('messages that come together are stored by statements of a bounded size', async (t) => {
  const world = await mailboxWorld();
  const { id } = await world.directory.createAccount('large@example.test', 'Large');
  const mailbox = world.mailboxes.of(id);
  const offered = Array.from({ length: 30 }, (_, i) => {
    const offerId = randomUUID();
    const offer = world.offers.offer<OfferedDelivery>(id, offerId, mailOf(`large ${i}`, 'x'.repeat(200_000)))!;
    return { offer, asked: mailbox.ask('deliverOffered', { offerId }) };
  });
  await Promise.all(offered.map(({ asked }) => asked));
  for (const { offer } of offered) t.truthy((await offer.withdraw())?.result.emailId);
  for (const { contents } of world.commits) {
    t.true(contents.reduce((sum, { size }) => sum + size, 0) < 2_300_000);
  }
  await checkRows(world, t, id);
  await world.end();
});
