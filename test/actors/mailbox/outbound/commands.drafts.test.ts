// Tests drafts in a mailbox on a real store: how they are made, changed, sent and deleted, and what they hold in the store.

import { StoreFault } from '../../../../src/store/errors.js';
import test from '../../../support/test.js';
import { summary } from '../command-world.js';
import { addressee, enqueued, outcome, sender, started, stored } from '../outbound-world.js';

/** Returns a draft whose message counts as stored. */
const draft = (subject: string, to: readonly string[] = ['a@one.test', 'b@two.test']) => ({
  sender: 'me@example.test',
  subject,
  content: { textBody: `text of ${subject}`, htmlBody: null },
  recipients: to.map(addressee),
  message: { blob: '00'.repeat(32), size: 1, summary: summary(subject) },
});

test('drafts are made, replaced, listed, sent once as they were read, and deleted', async (t) => {
  const { world, mailbox } = await sender(t);
  const { reply: made } = await mailbox.ask('createDraft', { draft: draft('first') });
  const outboundId = made!.id;
  const before = (await mailbox.ask('outbound', { outboundId })).reply!;
  t.is(before.email.status, 'Draft');
  t.is(before.content?.textBody, 'text of first');
  const changed = await mailbox.ask('updateDraft', { outboundId, draft: draft('second', ['c@three.test']) });
  const { email, content } = (await mailbox.ask('outbound', { outboundId })).reply!;
  t.deepEqual(changed.reply, { updatedAt: email.updatedAt });
  t.deepEqual([email.subject, email.recipients.map(({ address }) => address)], ['second', ['c@three.test']]);
  t.is(content?.textBody, 'text of second');
  t.is(email.createdAt, before.email.createdAt);
  t.true(email.updatedAt > before.email.updatedAt);

  const message = await stored(world);
  const send = (updatedAt: number) =>
    mailbox.ask('enqueue', {
      ...message,
      draft: { id: outboundId, updatedAt },
      sender: 'me@example.test',
      content,
      recipients: [addressee('c@three.test')],
    });
  t.is((await send(before.email.updatedAt)).refusal, 'draftChanged');
  const [sent, again] = await Promise.all([send(email.updatedAt), send(email.updatedAt)]);
  t.is(sent.reply?.id, outboundId);
  t.is(sent.reply?.createdAt, email.createdAt);
  t.is(again.refusal, 'noSuchOutbound');
  t.is((await mailbox.ask('updateDraft', { outboundId, draft: draft('x') })).refusal, 'noSuchOutbound');
  t.is((await mailbox.ask('deleteDraft', { outboundId })).refusal, 'noSuchOutbound');

  const other = (await mailbox.ask('createDraft', { draft: draft('other') })).reply!.id;
  const pageOf = async (...statuses: ('Draft' | 'Queued' | 'Sending' | 'Sent')[]) => {
    const { items, totalCount } = (await mailbox.ask('outboundPage', { statuses, page: 1, pageSize: 10 })).reply!;
    t.is(items.length, totalCount);
    return items.map(({ id }) => id);
  };
  t.deepEqual(await pageOf('Draft'), [other]);
  t.deepEqual(await pageOf('Queued', 'Sending'), [outboundId]);
  t.deepEqual(await pageOf('Sent'), []);
  t.deepEqual((await mailbox.ask('deleteDraft', { outboundId: other })).reply, {});
  t.is((await mailbox.ask('deleteDraft', { outboundId: other })).refusal, 'noSuchOutbound');
  t.is((await mailbox.ask('outbound', { outboundId: other })).refusal, 'noSuchOutbound');
  t.deepEqual(await pageOf('Draft'), []);
  const rows = await world.sql`
    select (select count(*)::int from outbound) as emails, (select count(*)::int from outbound_recipients) as recipients,
      (select count(*)::int from outbound_contents) as contents`;
  t.deepEqual({ ...rows[0] }, { emails: 1, recipients: 1, contents: 1 });
});

test('a draft holds its message in the store, and lets go of it when another takes its place', async (t) => {
  const { world, mailbox } = await sender(t);
  const next = async () => {
    const { blob, summary } = await stored(world);
    return { blob, size: summary.size, summary };
  };
  const [first, third] = [await next(), await next()];
  const collected = async () => {
    // New blobs are not collected for a while.
    await world.sql`update blobs set stored_at = stored_at - interval '1 day'`;
    await world.sql`update blob_candidates set at = at - interval '1 day'`;
    await world.blobs.collect(3_600_000, 100);
    const left = await world.sql<{ hash: string }[]>`select encode(hash, 'hex') as hash from blobs`;
    return left.map(({ hash }) => hash).sort();
  };
  const long = { ...draft('long'), content: null };
  const outboundId = (await mailbox.ask('createDraft', { draft: { ...draft('short'), message: first } })).reply!.id;
  const kept = (await mailbox.ask('createDraft', { draft: { ...long, message: third } })).reply!.id;
  t.like((await mailbox.ask('outbound', { outboundId })).reply, {
    email: { blob: first.blob, size: first.size },
    content: { htmlBody: null },
  });
  t.deepEqual(await collected(), [first.blob, third.blob].sort());

  const second = await next();
  await mailbox.ask('updateDraft', { outboundId, draft: { ...long, message: second } });
  const { reply } = await mailbox.ask('outbound', { outboundId });
  t.like(reply, { email: { blob: second.blob, size: second.size }, content: null });
  t.deepEqual(await collected(), [second.blob, third.blob].sort());

  const message = await stored(world);
  const draftRead = { id: outboundId, updatedAt: reply!.email.updatedAt };
  const queue = { draft: draftRead, sender: 'me@example.test', content: null, recipients: [addressee('a@one.test')] };
  t.is((await mailbox.ask('enqueue', { ...message, ...queue })).reply?.id, outboundId);
  t.like((await mailbox.ask('outbound', { outboundId })).reply, {
    email: { blob: message.blob, size: message.summary.size },
    content: null,
  });
  t.deepEqual(await collected(), [message.blob, third.blob].sort());
  await mailbox.ask('deleteDraft', { outboundId: kept });
  t.deepEqual(await collected(), [message.blob]);
});

test('drafts are counted within a group of commands too, and no more than 1,000 are kept', async (t) => {
  const { world, mailbox } = await sender(t);
  const create = () => mailbox.ask('createDraft', { draft: draft('one', []) });
  const made = await Promise.all(Array.from({ length: 990 }, create));
  made.push(...(await Promise.all(Array.from({ length: 20 }, create))));
  t.is(made.filter(({ reply }) => reply !== undefined).length, 1_000);
  t.is(made.filter(({ refusal }) => refusal === 'tooMany').length, 10);
  world.reload();
  t.is((await create()).refusal, 'tooMany');
  const [gone, room, none] = await Promise.all([
    mailbox.ask('deleteDraft', { outboundId: made[0]!.reply!.id }),
    create(),
    create(),
  ]);
  t.deepEqual([gone.reply, room.refusal, none.refusal], [{}, undefined, 'tooMany']);
});

test('what cannot be read fails as the store does, and is not said to be missing', async (t) => {
  const { world, accountId, mailbox } = await sender(t);
  const outboundId = (await mailbox.ask('createDraft', { draft: draft('kept') })).reply!.id;
  const queued = await enqueued(world, accountId, ['me@example.test']);
  const delivery = await started(world, accountId, queued.id);
  world.reload();
  await mailbox.ask('unreadCount', {});
  const { store, blobs } = world;
  const { outboundRows, outboundCounts } = store;
  const down = () => Promise.reject(new StoreFault('store-unavailable', 'down', { temporary: true }));
  Object.assign(store, { outboundRows: down, outboundCounts: down });
  const reported = (outboundId: string) =>
    mailbox.ask('reportDelivery', {
      outboundId,
      attemptId: delivery.attemptId,
      outcomes: [outcome(delivery.reply!.recipients[0]!.id, 'delivered', accountId)],
      attempts: [],
      isOver: true,
      isInterrupted: false,
    });
  const asks = () => [
    mailbox.ask('updateDraft', { outboundId, draft: draft('new') }),
    mailbox.ask('manageOutbound', { outboundId: queued.id, action: 'cancel' }),
    reported(queued.id),
  ];
  // Commands that need nothing from the store succeed in the same group.
  const [label, more, ...failed] = await Promise.allSettled([
    mailbox.ask('createLabel', { name: 'L', color: '#000000', sortOrder: 0 }),
    mailbox.ask('createDraft', { draft: draft('more') }),
    ...asks(),
  ]);
  t.deepEqual([label?.status, more?.status], ['fulfilled', 'fulfilled']);
  for (const result of failed) t.like(result, { status: 'rejected', reason: { code: 'store-unavailable' } });
  Object.assign(store, { outboundRows, outboundCounts });
  const { index } = blobs;
  Object.assign(blobs, { index: down });
  await t.throwsAsync(reported(queued.id), { message: 'down' });
  Object.assign(blobs, { index });
  t.is((await reported(queued.id)).reply?.status, 'Sent');
  t.is((await mailbox.ask('updateDraft', { outboundId, draft: draft('new') })).refusal, undefined);
  t.is((await mailbox.ask('outbound', { outboundId })).reply?.email.subject, 'new');
});
