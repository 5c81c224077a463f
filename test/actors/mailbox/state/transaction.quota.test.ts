// Tests what a full mailbox refuses, and what it takes even so; and that what an account uses equals its rows, whatever happens.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { amount } from '../../../support/amounts.js';
import test from '../../../support/test.js';
import { message, start } from '../command-world.js';
import { checkRows, mailboxWorld } from '../mailbox-world.js';
import { draftOf, sender, stored } from '../outbound-world.js';

test('APPEND and copies that are new emails need room, moves and deletions do not', async (t) => {
  const { world, account, mailbox } = await start();
  t.teardown(world.end);
  const append = (folderId: string, sizes: readonly number[], replaces?: { folderId: string; uid: number }) =>
    mailbox.ask('append', {
      folderId,
      messages: sizes.map((size) => message([], { size })),
      ...(replaces && { replaces }),
    });
  await world.limit(account.id, { bytes: 100, messages: 3 });
  t.is((await append('archive', [101])).refusal, 'overQuota');
  t.is((await append('archive', [60, 41])).refusal, 'overQuota');
  t.is((await append('archive', [60])).refusal, undefined);
  t.is((await append('archive', [41])).refusal, 'overQuota');
  t.is((await append('archive', [20, 20])).refusal, undefined);
  t.is((await append('archive', [0])).refusal, 'overQuota', 'a fourth message');
  // A message that replaces another needs only the difference.
  t.is((await append('archive', [61], { folderId: 'archive', uid: 1 })).refusal, 'overQuota');
  const { reply } = await append('archive', [59], { folderId: 'archive', uid: 1 });
  const uid = reply!.emails[0]!.uid;
  const selection = { folderId: 'archive', uids: [[uid, uid] as [number, number]] };
  t.is((await mailbox.ask('copy', { selection, toFolderId: 'trash' })).refusal, undefined);
  t.is((await mailbox.ask('copy', { selection, toFolderId: 'trash' })).refusal, 'overQuota', 'another email');
  t.is((await mailbox.ask('move', { selection, toFolderId: 'trash' })).refusal, undefined);
  await checkRows(world, t, account.id);
  t.deepEqual(world.stateOf(account.id).emails.usage, { bytes: 158, messages: 4 }, 'the trash held the email already');
  const rows = await world.sql`select id from emails where account_id = ${account.id}`;
  await mailbox.ask('remove', { emailIds: rows.map(({ id }) => id as string) });
  t.is((await append('archive', [60])).refusal, undefined);
  await checkRows(world, t, account.id);
});

test('drafts and sent mail need room, and a draft that is sent leaves its own', async (t) => {
  const { world, accountId, mailbox } = await sender(t);
  const draft = await draftOf(world, 'first');
  await world.limit(accountId, { messages: 1 });
  const { reply: made } = await mailbox.ask('createDraft', { draft });
  t.is((await mailbox.ask('createDraft', { draft: await draftOf(world, 'second') })).refusal, 'overQuota');
  const larger = {
    ...draft,
    message: { ...draft.message, summary: { ...draft.message.summary, size: 1e6 }, size: 1e6 },
  };
  await world.limit(accountId, { bytes: 1e5 });
  t.is((await mailbox.ask('updateDraft', { outboundId: made!.id, draft: larger })).refusal, 'overQuota');
  const { reply: saved } = await mailbox.ask('updateDraft', { outboundId: made!.id, draft });
  const outgoing = { sender: 'me@example.test', content: null, recipients: [] };
  const message = await stored(world);
  t.is((await mailbox.ask('enqueue', { ...message, ...outgoing, draft: null })).refusal, 'overQuota');
  const held = { ...message, ...outgoing, draft: null, heldUntil: Date.now() + 1e6 };
  t.is((await mailbox.ask('holdOutbound', held)).refusal, 'overQuota');
  const from = { id: made!.id, updatedAt: saved!.updatedAt };
  t.is((await mailbox.ask('enqueue', { ...message, ...outgoing, draft: from })).refusal, undefined);
  await checkRows(world, t, accountId);
});

test('the copy of a sent message that a client appends takes the room of the other', async (t) => {
  const { world, accountId, mailbox } = await sender(t);
  const sent = await stored(world);
  const outgoing = { sender: 'me@example.test', content: null, recipients: [], draft: null, isSubmission: true };
  await mailbox.ask('enqueue', { ...sent, ...outgoing });
  await world.limit(accountId, { messages: 1 });
  const append = () =>
    mailbox.ask('append', { folderId: 'sent', messages: [{ ...sent, receivedAt: Date.now(), flags: [] }] });
  t.is((await append()).refusal, undefined);
  t.is((await append()).refusal, 'overQuota');
  await checkRows(world, t, accountId);
});

test('what an account uses is what its rows say, with commands together, failed commits and new owners', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const step = fc.oneof(
    fc.record({ kind: fc.constant('append' as const), sizes: fc.array(fc.nat(500), { minLength: 1, maxLength: 4 }) }),
    fc.record({ kind: fc.constant('copy' as const), uid: fc.integer({ min: 1, max: 12 }) }),
    fc.record({ kind: fc.constant('remove' as const), which: fc.nat(12) }),
    fc.record({ kind: fc.constant('deliver' as const) }),
    fc.record({ kind: fc.constant('lost' as const) }),
    fc.record({ kind: fc.constant('reload' as const) }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 6 }),
      fc.nat(2_000),
      async (rounds, bytes) => {
        const { id } = await world.directory.createAccount(`${randomUUID()}@example.test`, 'A');
        const mailbox = world.mailboxes.of(id);
        if (bytes > 0) await world.limit(id, { bytes });
        const ids: string[] = [];
        for (const round of rounds) {
          await Promise.allSettled(
            round.map(async (next) => {
              if (next.kind === 'reload') world.reload();
              if (next.kind === 'lost') {
                // The store has committed, and the node is told that it has not: it loads the mailbox again.
                world.commit.by = async (_, commit) => {
                  world.commit.by = (_change, again) => again();
                  await commit();
                  throw new Error('the connection broke');
                };
              }
              if (next.kind === 'append') {
                const messages = next.sizes.map((size) => message([], { size }));
                const { reply } = await mailbox.ask('append', { folderId: 'archive', messages });
                ids.push(...(reply?.emails.map(({ emailId }) => emailId) ?? []));
              }
              if (next.kind === 'copy') {
                const selection = { folderId: 'archive', uids: [[next.uid, next.uid] as [number, number]] };
                await mailbox.ask('copy', { selection, toFolderId: 'archive' });
              }
              if (next.kind === 'remove') await mailbox.ask('remove', { emailIds: [ids[next.which] ?? randomUUID()] });
              if (next.kind === 'deliver') {
                const [mail] = await world.spool([id], Date.now());
                await mail!.deliver();
              }
            }),
          );
        }
        world.commit.by = (_, commit) => commit();
        const used = (await world.quotaStore.accounts([id]))[0]!.used;
        const [rows] = await world.sql`
        select coalesce(sum(size), 0)::float8 as bytes, count(*)::int as messages from emails where account_id = ${id}`;
        t.deepEqual(used, { bytes: rows!['bytes'], messages: rows!['messages'] });
        world.reload();
        await mailbox.ask('unreadCount', {});
        t.deepEqual(world.stateOf(id).emails.usage, used);
      },
    ),
    { numRuns: amount(10, 100) },
  );
});
