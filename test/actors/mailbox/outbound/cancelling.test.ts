// Tests scheduled emails: no recipient gets them before their release, and the mailbox decides once between release and cancel.
import { randomUUID } from 'node:crypto';
import { clock } from '../../../../src/store/clock.js';
import { postgresOutbound } from '../../../../src/store/postgres/outbound/outbound.js';
import test from '../../../support/test.js';
import { checkDrafts, checkRows, type MailboxWorld, mailboxWorld } from '../mailbox-world.js';
import { addressee, draftOf, enqueued, logged, outcome, reported, started, stored } from '../outbound-world.js';

const HOUR = 3_600_000;
const SHARDS = [0];

async function me(world: MailboxWorld) {
  const { id: accountId } = await world.directory.createAccount('me@example.test', 'Me');
  const mailbox = world.mailboxes.of(accountId);
  const shown = async (outboundId: string) => (await mailbox.ask('outbound', { outboundId })).reply!.email;
  const idsIn = async (folder: string) =>
    (await mailbox.ask('list', { folder, page: 1, pageSize: 100 })).reply!.items.map(({ id }) => id);
  return { accountId, mailbox, shown, idsIn };
}

/** Mail to this domain is delivered to the account with the commit. */
function host(world: MailboxWorld, domain: string, localAccountId: string) {
  world.inside.hosted = async (task) =>
    task.domain === domain
      ? {
          outcomes: task.recipients.map(({ id }) => ({
            ...outcome(id, 'delivered'),
            localAccountIds: [localAccountId],
          })),
          attempts: [],
        }
      : undefined;
}

async function held(world: MailboxWorld, accountId: string, to: readonly string[], heldUntil: number) {
  const { blob, summary } = await stored(world);
  const recipients = to.map((address, i) => ({
    ...addressee(address),
    type: i === 0 ? ('To' as const) : ('Bcc' as const),
  }));
  const content = { textBody: 'hello', htmlBody: null };
  const queued = { draft: null, sender: 'me@example.test', blob, summary, content, recipients };
  const { reply } = await world.mailboxes.of(accountId).ask('holdOutbound', { ...queued, heldUntil });
  return { ...reply!, blob, summary, heldUntil };
}

test('nobody gets a held email before its release, which is as if it were queued then', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { accountId, mailbox, shown, idsIn } = await me(world);
  const ann = await world.directory.createAccount('ann@example.test', 'Ann');
  host(world, 'example.test', ann.id);
  const store = postgresOutbound(world.sql);
  const heldUntil = clock.now() + HOUR;
  const { id, sentEmailId } = await held(world, accountId, ['ann@example.test', 'b@remote.test'], heldUntil);
  t.like(await shown(id), { status: 'Queued', heldUntil, nextRetryAt: null, sentEmailId });
  t.deepEqual(await idsIn('sent'), [sentEmailId]);
  t.deepEqual(world.noted, []);
  t.deepEqual(await store.due(SHARDS, 10, [], []), []);
  t.is((await started(world, accountId, id)).refusal, 'notDue');
  t.is((await mailbox.ask('releaseOutbound', { outboundId: id, heldUntil: heldUntil + 1 })).refusal, 'released');
  t.deepEqual([...(await world.sql`select from inbound`)], []);
  t.deepEqual(await store.held(SHARDS, HOUR - 60_000, 10, []), []);
  t.deepEqual(await store.held(SHARDS, HOUR, 10, []), [{ accountId, outboundId: id, heldUntil }]);
  t.deepEqual(await store.held(SHARDS, HOUR, 10, [id]), []);
  t.deepEqual(await store.held([], HOUR, 10, []), []);

  world.reload();
  t.is((await mailbox.ask('releaseOutbound', { outboundId: id, heldUntil })).reply?.status, 'Queued');
  const released = await shown(id);
  t.is(released.heldUntil, null);
  t.deepEqual(
    released.recipients.map(({ status }) => status),
    ['Delivered', 'Pending'],
  );
  t.is((await world.sql`select from inbound where account_id = ${ann.id}`).length, 1);
  t.deepEqual(world.noted, [id], 'the other recipient is due');
  t.is((await mailbox.ask('releaseOutbound', { outboundId: id, heldUntil })).refusal, 'released');
  const delivery = await started(world, accountId, id);
  t.deepEqual(
    delivery.reply!.recipients.map(({ address }) => address),
    ['b@remote.test'],
  );
  await reported(world, accountId, id, delivery.attemptId, [outcome(delivery.reply!.recipients[0]!.id, 'delivered')]);
  t.is((await shown(id)).status, 'Sent');
  t.deepEqual(await store.held(SHARDS, HOUR, 10, []), []);
});

test('a delay is counted from the release', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { accountId, mailbox, shown } = await me(world);
  const heldUntil = clock.now() - 5 * HOUR;
  const { id } = await held(world, accountId, ['b@remote.test'], heldUntil);
  await mailbox.ask('releaseOutbound', { outboundId: id, heldUntil });
  const { attemptId, reply } = await started(world, accountId, id);
  await reported(world, accountId, id, attemptId, [outcome(reply!.recipients[0]!.id, 'temporary')]);
  t.is((await shown(id)).status, 'Queued');
  t.is((await mailbox.ask('dsnMaterial', { outboundId: id })).reply?.kind, null);
});

test('a cancelled email is the draft again, with its id, bodies and recipients, owes no report, and is sent by nobody', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { accountId, mailbox, shown, idsIn } = await me(world);
  const heldUntil = clock.now() + HOUR;
  const { id, sentEmailId, blob } = await held(world, accountId, ['a@one.test', 'blind@two.test'], heldUntil);
  const { createdAt } = await shown(id);
  world.reload();
  const { reply } = await mailbox.ask('cancelOutbound', { outboundId: id });
  t.deepEqual(reply, { cancelled: true, status: 'Draft', draftId: id });
  for (let round = 0; round < 2; round++) {
    const { email: draft, content } = (await mailbox.ask('outbound', { outboundId: id })).reply!;
    t.like(draft, { status: 'Draft', sender: 'me@example.test', blob, createdAt, messageId: null, heldUntil: null });
    t.like(draft, { lastError: null, sentAt: null, nextRetryAt: null });
    t.deepEqual(content, { textBody: 'hello', htmlBody: null });
    t.deepEqual(
      draft.recipients.map(({ address, type, status, lastError }) => [address, type, status, lastError]),
      [
        ['a@one.test', 'To', 'Pending', null],
        ['blind@two.test', 'Bcc', 'Pending', null],
      ],
    );
    t.deepEqual([await idsIn('sent'), await idsIn('drafts')], [[], [sentEmailId]]);
    const page = async (statuses: ('Draft' | 'Queued' | 'Failed')[]) =>
      (await mailbox.ask('outboundPage', { statuses, page: 1, pageSize: 9 })).reply!.totalCount;
    t.deepEqual([await page(['Draft']), await page(['Queued']), await page(['Failed'])], [1, 0, 0]);
    world.reload();
  }
  t.is((await mailbox.ask('dsnMaterial', { outboundId: id })).reply?.kind, null);
  t.deepEqual(world.noted, []);
  t.is((await mailbox.ask('releaseOutbound', { outboundId: id, heldUntil })).refusal, 'released');
  t.is((await started(world, accountId, id)).refusal, 'notDue');
  t.deepEqual((await mailbox.ask('retryOutbound', { outboundId: id })).reply, { retried: false, status: 'Draft' });
  const again = await mailbox.ask('cancelOutbound', { outboundId: id });
  t.deepEqual(again.reply, { cancelled: false, status: 'Draft', draftId: null });
  const statuses = (await logged(world, accountId, 'OutboundChanged')).map(([, payload]) => payload);
  t.deepEqual(
    statuses.map((payload) => (payload as { passed: unknown }).passed),
    [['Queued'], ['Draft']],
  );

  // A second sending makes another message under the same id.
  const { updatedAt } = await shown(id);
  const outgoing = { draft: { id, updatedAt }, sender: 'me@example.test', content: null, ...(await stored(world)) };
  const sent = (await mailbox.ask('enqueue', { ...outgoing, recipients: [addressee('a@one.test')] })).reply!;
  t.is(sent.id, id);
  t.deepEqual([await idsIn('sent'), await idsIn('drafts')], [[sent.sentEmailId], []]);
  t.is((await started(world, accountId, id)).refusal, undefined);
  await checkDrafts(world, t, accountId);
  await checkRows(world, t, accountId);
});

test('the draft of a cancelled email has one email, where its copy is deleted, marked, or in Drafts already', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { accountId, mailbox, idsIn } = await me(world);
  const heldUntil = clock.now() + HOUR;
  const cancel = async (outboundId: string) => {
    const { reply } = await mailbox.ask('cancelOutbound', { outboundId });
    t.deepEqual(reply, { cancelled: true, status: 'Draft', draftId: outboundId });
    t.like((await mailbox.ask('outbound', { outboundId })).reply?.email, { status: 'Draft' });
    await checkDrafts(world, t, accountId);
  };
  const mark = async (folderId: string) => {
    const selection = { folderId, uids: [[1, 99]] as [number, number][] };
    await mailbox.ask('storeFlags', { selection, mode: 'add', flags: ['\\Deleted'] });
  };
  const deleted = await held(world, accountId, ['a@one.test'], heldUntil);
  await mailbox.ask('remove', { emailIds: [deleted.sentEmailId] });
  world.reload();
  await cancel(deleted.id);
  t.is((await idsIn('drafts')).length, 1);
  const copied = await held(world, accountId, ['a@one.test'], heldUntil);
  await mailbox.ask('copy', { selection: { emailIds: [copied.sentEmailId] }, toFolderId: 'drafts' });
  await cancel(copied.id);
  const marked = await held(world, accountId, ['a@one.test'], heldUntil);
  await mark('sent');
  await cancel(marked.id);
  const both = await held(world, accountId, ['a@one.test'], heldUntil);
  await mailbox.ask('copy', { selection: { emailIds: [both.sentEmailId] }, toFolderId: 'drafts' });
  await mark('drafts');
  await cancel(both.id);
  t.deepEqual([await idsIn('sent'), await idsIn('drafts')], [[], [both.sentEmailId]], 'the others are marked now');
  await checkRows(world, t, accountId);
});

test('an email is undone whatever number of drafts there is', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { accountId, mailbox, idsIn } = await me(world);
  const { id, sentEmailId } = await held(world, accountId, ['a@one.test'], clock.now() + HOUR);
  const { blob, summary } = await stored(world);
  const message = { blob, summary, receivedAt: 1, flags: [] };
  await mailbox.ask('append', { folderId: 'drafts', messages: Array.from({ length: 1_000 }, () => message) });
  const draft = await draftOf(world, 's');
  t.is((await mailbox.ask('createDraft', { draft })).refusal, 'tooMany');
  const { reply } = await mailbox.ask('cancelOutbound', { outboundId: id });
  t.deepEqual(reply, { cancelled: true, status: 'Draft', draftId: id });
  t.deepEqual(await idsIn('sent'), []);
  t.true((await idsIn('drafts')).includes(sentEmailId));
  const { totalCount } = (await mailbox.ask('outboundPage', { statuses: ['Draft'], page: 1, pageSize: 1 })).reply!;
  t.is(totalCount, 1_001);
  await checkDrafts(world, t, accountId);
});

test('what waits is cancelled and keeps its copy in Sent; what is being sent, or over, is not cancelled', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { accountId, mailbox, shown, idsIn } = await me(world);
  const cancel = async (outboundId: string) => (await mailbox.ask('cancelOutbound', { outboundId })).reply;
  const { id, sentEmailId } = await enqueued(world, accountId, ['a@one.test', 'b@two.test']);
  const first = await started(world, accountId, id);
  t.deepEqual(await cancel(id), { cancelled: false, status: 'Sending', draftId: null });
  t.deepEqual((await mailbox.ask('retryOutbound', { outboundId: id })).reply, { retried: false, status: 'Sending' });
  const [a, b] = first.reply!.recipients;
  await reported(world, accountId, id, first.attemptId, [outcome(a!.id, 'delivered'), outcome(b!.id, 'temporary')]);
  t.deepEqual(await cancel(id), { cancelled: true, status: 'Failed', draftId: null });
  t.deepEqual(await idsIn('sent'), [sentEmailId]);
  const failed = await shown(id);
  t.is(failed.lastError, 'Cancelled by the sender.');
  t.deepEqual(
    failed.recipients.map(({ status, lastError }) => [status, lastError]),
    [
      ['Delivered', null],
      ['Failed', 'temporary it is'],
    ],
  );
  t.is((await mailbox.ask('dsnMaterial', { outboundId: id })).reply?.kind, null);
  t.is((await started(world, accountId, id)).refusal, 'notDue');
  t.is((await mailbox.ask('retryOutbound', { outboundId: id })).reply?.status, 'Queued');
  const second = await started(world, accountId, id);
  t.deepEqual(
    second.reply!.recipients.map((recipient) => recipient.id),
    [b!.id],
  );
  await reported(world, accountId, id, second.attemptId, [outcome(b!.id, 'delivered')]);
  t.deepEqual(await cancel(id), { cancelled: false, status: 'Sent', draftId: null });
  t.deepEqual((await mailbox.ask('retryOutbound', { outboundId: id })).reply, { retried: false, status: 'Sent' });
  for (const name of ['cancelOutbound', 'retryOutbound'] as const) {
    t.is((await mailbox.ask(name, { outboundId: randomUUID() })).refusal, 'noSuchOutbound');
    t.is((await mailbox.ask(name, { outboundId: 'x' })).refusal, 'noSuchOutbound');
  }
});

test('of a cancel and a release that come together one wins, in one commit too', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { accountId, mailbox, shown } = await me(world);
  const ann = await world.directory.createAccount('ann@example.test', 'Ann');
  host(world, 'example.test', ann.id);
  const winners = new Set<string>();
  for (let i = 0; i < 20; i++) {
    const heldUntil = clock.now() + HOUR + i;
    const { id } = await held(world, accountId, ['ann@example.test'], heldUntil);
    if (i % 4 < 2) world.reload();
    const cancel = () => mailbox.ask('cancelOutbound', { outboundId: id });
    const release = () => mailbox.ask('releaseOutbound', { outboundId: id, heldUntil });
    const first = i % 2 === 0 ? undefined : release();
    const cancelling = cancel();
    await Promise.all([first ?? release(), cancelling]);
    const isCancelled = (await cancelling).reply!.cancelled;
    const got = await world.sql`delete from inbound where account_id = ${ann.id} returning id`;
    t.is(got.length, isCancelled ? 0 : 1);
    t.is((await shown(id)).status, isCancelled ? 'Draft' : 'Sent');
    winners.add(isCancelled ? 'cancel' : 'release');
  }
  t.deepEqual([...winners].sort(), ['cancel', 'release']);
});

test('an email is sent before its time when its sender, or an operator, says so', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { accountId, mailbox, shown } = await me(world);
  const ann = await world.directory.createAccount('ann@example.test', 'Ann');
  host(world, 'example.test', ann.id);
  const heldUntil = clock.now() + HOUR;
  const own = await held(world, accountId, ['ann@example.test'], heldUntil);
  t.deepEqual((await mailbox.ask('retryOutbound', { outboundId: own.id })).reply, { retried: true, status: 'Sent' });
  const other = await held(world, accountId, ['ann@example.test'], heldUntil);
  const retry = { outboundId: other.id, action: 'retry' as const };
  t.is((await mailbox.ask('manageOutbound', retry)).reply?.status, 'Sent');
  const last = await held(world, accountId, ['ann@example.test'], heldUntil);
  t.is((await mailbox.ask('manageOutbound', { outboundId: last.id, action: 'cancel' })).reply?.status, 'Failed');
  t.like(await shown(last.id), { lastError: 'Cancelled by the operator.', sentEmailId: last.sentEmailId });
  t.is((await mailbox.ask('dsnMaterial', { outboundId: last.id })).reply?.kind, 'failed');
  t.is((await world.sql`select from inbound where account_id = ${ann.id}`).length, 2);
});

test('an email that is sent before its time is sent as the message that is dated now, of the same size too', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { accountId, mailbox, shown, idsIn } = await me(world);
  const heldUntil = clock.now() + HOUR;
  const { id, blob, summary, sentEmailId } = await held(world, accountId, ['a@one.test'], heldUntil);
  const { blob: other } = await stored(world);
  const message = { heldUntil, blob: other, summary };
  t.is((await mailbox.ask('retryOutbound', { outboundId: id, message })).reply?.retried, true);
  world.reload();
  const { blob: sentAs, size, sentEmailId: copy } = await shown(id);
  t.deepEqual([sentAs, size, copy === sentEmailId], [other, summary.size, false]);
  t.deepEqual(await idsIn('sent'), [copy]);
  t.is((await started(world, accountId, id)).reply?.blob, other);
  const released = await world.sql`select encode(hash, 'hex') as hash from blob_candidates`;
  t.true(released.some(({ hash }) => hash === blob));
});

test('no delivery of a restored email begins before its release, which makes it due when it was due before', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { accountId, mailbox, shown } = await me(world);
  const store = postgresOutbound(world.sql);
  const heldUntil = clock.now() + HOUR;
  const ids = async (n: number) => {
    const made = [];
    for (let i = 0; i < n; i++) made.push((await enqueued(world, accountId, ['b@remote.test'])).id);
    return made;
  };
  const [queued, retried, cancelled, undone] = await ids(4);
  const [sending, cancelledSending] = await ids(2);
  for (const id of [sending!, cancelledSending!]) t.truthy((await started(world, accountId, id)).reply);
  const later = await held(world, accountId, ['b@remote.test'], heldUntil);
  await world.sql`update outbound set awaits_release = true where status in ('Queued', 'Sending')`;
  world.reload();
  const fresh = await enqueued(world, accountId, ['b@remote.test']);

  const readable = async () => [
    ...(await store.due(SHARDS, 10, [], [])),
    ...(await store.interrupted(SHARDS, 'another', 10, [])),
    ...(await store.held(SHARDS, 2 * HOUR, 10, [])),
  ];
  t.deepEqual(
    (await readable()).map(({ outboundId }) => outboundId),
    [fresh.id],
    'what is sent after the restore does not wait',
  );
  t.is(await store.awaitingRelease(), 7);
  t.false(await store.isStranded(SHARDS));
  t.is((await started(world, accountId, queued!)).refusal, 'notDue');
  t.is((await mailbox.ask('releaseOutbound', { outboundId: later.id, heldUntil })).refusal, 'released');

  const manage = (outboundId: string, action: 'retry' | 'cancel' | 'release') =>
    mailbox.ask('manageOutbound', { outboundId, action });
  t.is((await manage(fresh.id, 'release')).refusal, 'notPossible');
  t.is((await manage(retried!, 'retry')).reply?.status, 'Queued', 'a retry releases one email');
  t.is((await manage(cancelled!, 'cancel')).reply?.status, 'Failed');
  t.is((await manage(cancelledSending!, 'cancel')).reply?.status, 'Failed');
  t.true((await mailbox.ask('cancelOutbound', { outboundId: undone! })).reply?.cancelled);
  t.is(await store.awaitingRelease(), 3);
  await store.requestReleases();
  const requests = await store.requests(SHARDS, 10);
  t.deepEqual(
    requests.map(({ action }) => action),
    ['release', 'release', 'release'],
  );
  world.noted.length = 0;
  for (const { outboundId, action } of requests) t.is((await manage(outboundId, action)).reply?.status, 'Queued');
  t.deepEqual(world.noted.toSorted(), [queued!, sending!].toSorted(), 'the held email is not due');
  t.is(await store.awaitingRelease(), 0);
  t.like(await shown(later.id), { heldUntil, nextRetryAt: null });
  world.reload();
  const delivery = await started(world, accountId, sending!);
  t.is(delivery.reply?.recipients.length, 1);
  await reported(world, accountId, sending!, delivery.attemptId, [
    outcome(delivery.reply!.recipients[0]!.id, 'temporary'),
  ]);
  t.is((await shown(sending!)).status, 'Queued', 'it does not wait once more');
  t.is(await store.awaitingRelease(), 0);
});
