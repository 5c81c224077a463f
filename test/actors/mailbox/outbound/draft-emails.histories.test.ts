// Tests drafts and the emails in Drafts that stand for them through random histories: REST and mail programs change either.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';
import { checkDrafts, checkRows, type MailboxWorld, mailboxWorld } from '../mailbox-world.js';
import { addressee, draftOf, stored } from '../outbound-world.js';

const which = fc.nat(7);
const anyFolder = fc.constantFrom('drafts', 'archive', 'trash', 'sent');
const command = fc.oneof(
  { weight: 3, arbitrary: fc.record({ name: fc.constant('createDraft' as const) }) },
  {
    weight: 7,
    arbitrary: fc.record({
      name: fc.constantFrom('updateDraft' as const, 'deleteDraft' as const, 'enqueue' as const),
      which: fc.nat(1),
      isGuarded: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ name: fc.constant('append' as const), to: anyFolder, isDeleted: fc.boolean() }) },
  {
    weight: 7,
    arbitrary: fc.record({ name: fc.constantFrom('copy' as const, 'move' as const), which, to: anyFolder }),
  },
  { weight: 2, arbitrary: fc.record({ name: fc.constantFrom('remove' as const, 'storeFlags' as const), which }) },
  { weight: 2, arbitrary: fc.record({ name: fc.constant('expunge' as const) }) },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

interface Known {
  readonly emailIds: readonly string[];
  readonly drafts: readonly { readonly id: string; readonly updatedAt: number }[];
}

/** Returns the refusal, or that the command was done. */
async function issue(world: MailboxWorld, accountId: string, next: Command, known: Known): Promise<string> {
  const mailbox = world.mailboxes.of(accountId);
  const one = <T>(of: readonly T[]): T | undefined =>
    'which' in next ? of[next.which % Math.max(1, of.length)] : of[0];
  const selection = { emailIds: [one(known.emailIds) ?? randomUUID()] };
  const draft = one(known.drafts) ?? { id: randomUUID(), updatedAt: 0 };
  const ifMatch = 'isGuarded' in next && next.isGuarded ? { ifMatch: [draft.updatedAt] } : {};
  const ask = async () => {
    switch (next.name) {
      case 'createDraft':
        return mailbox.ask('createDraft', { draft: await draftOf(world, 'new') });
      case 'updateDraft':
        return mailbox.ask('updateDraft', { outboundId: draft.id, draft: await draftOf(world, 'changed'), ...ifMatch });
      case 'deleteDraft':
        return mailbox.ask('deleteDraft', { outboundId: draft.id, ...ifMatch });
      case 'enqueue':
        return mailbox.ask('enqueue', {
          ...(await stored(world)),
          draft,
          sender: 'zoe@example.test',
          content: null,
          recipients: [addressee('a@one.test')],
        });
      case 'append': {
        const { blob, summary } = await stored(world);
        const flags = next.isDeleted ? ['\\Deleted'] : ['\\Draft'];
        return mailbox.ask('append', { folderId: next.to, messages: [{ blob, summary, receivedAt: 1, flags }] });
      }
      case 'copy':
      case 'move':
        return mailbox.ask(next.name, { selection, toFolderId: next.to });
      case 'remove':
        return mailbox.ask('remove', selection);
      case 'storeFlags':
        return mailbox.ask('storeFlags', { selection, mode: 'replace', flags: ['\\Flagged'] });
      case 'expunge':
        return mailbox.ask('expunge', { folderId: 'drafts' });
    }
  };
  const outcome: { readonly refusal?: string | undefined } = await ask();
  return `${next.name} ${outcome.refusal ?? 'done'}`;
}

test('drafts and the emails in Drafts agree through random histories of REST and mail programs', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const seen = new Set<string>();
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.array(command, { minLength: 1, maxLength: 6 }) },
    { weight: 1, arbitrary: fc.constant('reload' as const) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), async (steps) => {
      const { id: accountId } = await world.directory.createAccount(`${randomUUID()}@example.test`, 'Zoë 💌');
      const mailbox = world.mailboxes.of(accountId);
      await mailbox.ask('unreadCount', {});
      for (const next of steps) {
        if (next === 'reload') {
          world.reload();
          continue;
        }
        const rows = await world.sql<{ id: string }[]>`
          select id from emails where account_id = ${accountId} order by id desc limit 8`;
        const page = await mailbox.ask('outboundPage', { statuses: ['Draft'], page: 1, pageSize: 100 });
        const { items: drafts, totalCount } = page.reply!;
        t.is(totalCount, drafts.length);
        const known = {
          emailIds: rows.map(({ id }) => id),
          drafts: drafts.map(({ id, updatedAt }) => ({ id, updatedAt })),
        };
        for (const done of await Promise.all(next.map((one) => issue(world, accountId, one, known)))) seen.add(done);
        await checkDrafts(world, t, accountId);
      }
      await checkRows(world, t, accountId);
      const state = world.stateOf(accountId);
      const inDrafts = [...state.folderOf('drafts').slots()].map((slot) => state.emails.id(slot));
      const named = [...state.outbound.drafts].map(({ emailId }) => emailId!);
      t.deepEqual(named.sort(), inDrafts.sort(), 'in memory too');
    }),
    { numRuns: runs(40) },
  );
  for (const place of ['updateDraft done', 'enqueue done', 'move done', 'expunge done']) t.true(seen.has(place), place);
});
