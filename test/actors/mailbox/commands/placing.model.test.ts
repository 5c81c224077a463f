// Tests folders, placements and flags on a real store against a naive model: random histories of several writers whose commands share
// commits, with reloads between them; then the rows: UIDs, counters, and the modseq of everything that changed.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import fc from 'fast-check';
import { FLAG_NAMES } from '../../../../src/mail-format/flags.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';
import { message } from '../command-world.js';
import { checkRows, type MailboxWorld, mailboxWorld } from '../mailbox-world.js';
import { Model, type Selection, SYSTEM } from './placements-model.js';

const FLAGS = ['\\Seen', '\\FLAGGED', '\\Deleted', '$Junk', '$NotJunk', '$Forwarded', 'Work', 'WORK', 'home'];
const NAMES = ['Zoë 💌', 'ZOË 💌', 'a', 'b', 'Archive'];

const folder = fc.nat(9);
const flags = fc.subarray(FLAGS, { maxLength: 3 });
const uids = fc.array(
  fc.tuple(fc.integer({ min: 0, max: 6 }), fc.nat(4)).map(([first, more]): [number, number] => [first, first + more]),
  { minLength: 1, maxLength: 3 },
);
const selection = fc.oneof(fc.record({ emails: fc.array(fc.nat(8), { maxLength: 4 }) }), fc.record({ folder, uids }));
const command = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      folder,
      messages: fc.array(fc.record({ flags, at: fc.nat(9) }), { minLength: 1, maxLength: 3 }),
      replaces: fc.option(fc.record({ folder, uid: fc.integer({ min: 1, max: 6 }) }), { freq: 3 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('storeFlags' as const),
      selection,
      mode: fc.constantFrom('add' as const, 'remove' as const, 'replace' as const),
      flags,
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('copy' as const), selection, to: folder }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('move' as const),
      selection,
      to: folder,
      from: fc.option(folder, { nil: undefined }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('expunge' as const), folder, uids: fc.option(uids, { nil: undefined }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('setRead' as const), email: fc.nat(8), isRead: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), email: fc.nat(8) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('createFolder' as const),
      name: fc.constantFrom(...NAMES),
      parent: fc.option(folder, { nil: null }),
      role: fc.constantFrom('folder' as const, 'folder' as const, 'label' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('renameFolder' as const),
      folder,
      name: fc.constantFrom(...NAMES),
      parent: fc.oneof(fc.constant(undefined), fc.constant(null), folder),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('deleteFolder' as const), folder, withInferiors: fc.boolean() }),
  },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

/** Returns the id of the email that was added under this UID: the model does not know ids that the mailbox makes. */
function idOfAdded(world: MailboxWorld, folderId: string, uid: number): string {
  for (const { changes } of world.commits) {
    for (const change of changes) {
      if (change.type !== 'EmailAdded') continue;
      const { email, placements } = change.payload;
      if (placements.some((place) => place.folderId === folderId && place.uid === uid)) return email.id;
    }
  }
  return 'none';
}

/** Sends one command; returns a function that compares its reply with the model. Ids are those before the batch. */
function issue(world: MailboxWorld, accountId: string, model: Model, next: Command) {
  const mailbox = world.mailboxes.of(accountId);
  const emails = model.emails.map(({ id }) => id);
  // System folders are named by role, so that both ways to name a folder are used.
  const nameOf = (i: number) => (i < SYSTEM.length ? SYSTEM[i]! : (model.folders[i]?.id ?? randomUUID()));
  const emailId = (i: number) => emails[i] ?? randomUUID();
  const select = (of: { emails: number[] } | { folder: number; uids: [number, number][] }): Selection =>
    'emails' in of
      ? { emailIds: [...new Set(of.emails.map(emailId))] }
      : { folderId: nameOf(of.folder), uids: of.uids };
  const expanded = (ranges: readonly (readonly [number, number])[]) =>
    ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i));
  switch (next.kind) {
    case 'append': {
      const folderId = nameOf(next.folder);
      const messages = next.messages.map(({ flags: of, at: receivedAt }) => message(of, { receivedAt }));
      const replaces = next.replaces && { folderId: nameOf(next.replaces.folder), uid: next.replaces.uid };
      const asked = mailbox.ask('append', { folderId, messages, ...(replaces && { replaces }) });
      return async (t: ExecutionContext) => {
        const { reply, refusal } = await asked;
        const into = model.folder(folderId);
        const { folderId: from, uid } = replaces ?? { folderId: '', uid: 0 };
        const [replaced] = model.select({ folderId: from, uids: [[uid, uid]] }) ?? [];
        const isGone = replaces !== null && replaced === undefined;
        t.is(refusal, into === undefined ? 'noSuchFolder' : isGone ? 'noSuchEmail' : undefined);
        if (reply === undefined) return;
        t.is(reply.emails.length, messages.length);
        const added = reply.emails.map(({ emailId }, i) => ({ ...messages[i]!, id: emailId }));
        t.deepEqual(
          reply.emails.map((email) => email.uid),
          model.append(added, into!),
        );
        if (replaced !== undefined) model.end(replaced, model.folder(from)!);
      };
    }
    case 'storeFlags': {
      const by = select(next.selection);
      const asked = mailbox.ask('storeFlags', { selection: by, mode: next.mode, flags: next.flags });
      return async (t: ExecutionContext) => {
        const { reply, refusal } = await asked;
        const chosen = model.select(by);
        const isUnfit = 'emailIds' in by && next.flags.includes('\\Deleted');
        t.is(refusal, chosen === undefined ? 'noSuchFolder' : isUnfit ? 'noSuchFlag' : undefined);
        if (refusal !== undefined) return;
        const of = 'folderId' in by ? model.folder(by.folderId) : undefined;
        t.is(reply?.changed, model.store(chosen!, next.mode, next.flags, of));
        if ('emailIds' in by) t.is(reply?.missing.length, by.emailIds.length - chosen!.length);
      };
    }
    case 'copy':
    case 'move': {
      const by = select(next.selection);
      const toFolderId = nameOf(next.to);
      const fromFolderId = next.kind === 'move' && next.from !== undefined ? nameOf(next.from) : undefined;
      const asked =
        next.kind === 'copy'
          ? mailbox.ask('copy', { selection: by, toFolderId })
          : mailbox.ask('move', { selection: by, toFolderId, ...(fromFolderId !== undefined && { fromFolderId }) });
      return async (t: ExecutionContext) => {
        const { reply, refusal } = await asked;
        const to = model.folder(toFolderId);
        const named = fromFolderId === undefined ? undefined : model.folder(fromFolderId);
        let chosen = model.select(by);
        const isSourceGone = fromFolderId !== undefined && named === undefined;
        const isUnknown = to === undefined || (chosen === undefined && !isSourceGone);
        t.is(refusal, isUnknown ? 'noSuchFolder' : isSourceGone ? 'noSuchSource' : undefined);
        if (refusal !== undefined || to === undefined || chosen === undefined) return;
        const of = 'folderId' in by ? model.folder(by.folderId) : undefined;
        const from = next.kind === 'copy' ? undefined : (named ?? of);
        if (from !== undefined) chosen = chosen.filter(({ placements }) => placements.has(from.id));
        const before = of === undefined ? [] : chosen.map(({ placements }) => placements.get(of.id)!.uid);
        const newId = (uid: number) => idOfAdded(world, to.id, uid);
        const isByUid = of !== undefined;
        const [count, arrived] =
          next.kind === 'copy' ? model.copy(chosen, to, isByUid, newId) : model.move(chosen, to, from, isByUid, newId);
        t.is(reply?.count, count);
        t.deepEqual(expanded(reply!.from), before);
        const after = arrived.map(({ placements }) => placements.get(to.id)!.uid);
        t.deepEqual(expanded(reply!.to), after);
      };
    }
    case 'expunge': {
      const folderId = nameOf(next.folder);
      const asked = mailbox.ask('expunge', { folderId, ...(next.uids && { uids: next.uids }) });
      return async (t: ExecutionContext) => {
        const { reply, refusal } = await asked;
        const of = model.folder(folderId);
        t.is(refusal, of === undefined ? 'noSuchFolder' : undefined);
        if (of === undefined) return;
        t.deepEqual(expanded(reply!.uids), model.expunge(of, next.uids ?? [[1, 1e9]]));
        t.true(reply?.isComplete);
      };
    }
    case 'setRead':
    case 'remove': {
      const emailIds = [emailId(next.email)];
      const asked =
        next.kind === 'remove'
          ? mailbox.ask('remove', { emailIds })
          : mailbox.ask('setRead', { emailIds, isRead: next.isRead });
      return async (t: ExecutionContext) => {
        const { reply } = await asked;
        const chosen = model.select({ emailIds })!;
        t.is(reply?.missing.length, 1 - chosen.length);
        if (next.kind === 'remove') model.removeAll(chosen);
        else model.store(chosen, next.isRead ? 'add' : 'remove', ['\\Seen'], undefined);
      };
    }
    case 'createFolder': {
      const parentId = next.parent === null ? null : nameOf(next.parent);
      const asked = mailbox.ask('createFolder', { name: next.name, parentId, role: next.role });
      return async (t: ExecutionContext) => {
        const { reply, refusal } = await asked;
        const parent = parentId === null ? undefined : model.folder(parentId);
        const path = parent === undefined ? next.name : `${parent.name}/${next.name}`;
        const isOrphan = parentId !== null && parent === undefined;
        t.is(refusal, isOrphan ? 'noSuchParent' : model.isAccepted(path) ? 'nameTaken' : undefined);
        if (reply === undefined) return;
        model.clock++;
        model.folders.push({ id: reply.id, role: next.role, name: path, uidNext: 1, highest: model.clock });
        t.deepEqual([reply.path, reply.name, reply.parentId], [path, next.name, parent?.id ?? null]);
      };
    }
    case 'renameFolder': {
      const folderId = nameOf(next.folder);
      const parentId = typeof next.parent === 'number' ? nameOf(next.parent) : next.parent;
      const payload = { folderId, name: next.name, ...(parentId !== undefined && { parentId }) };
      const asked = mailbox.ask('renameFolder', payload);
      return async (t: ExecutionContext) => {
        const { refusal } = await asked;
        const renamed = model.folder(folderId);
        if (renamed === undefined) return void t.is(refusal, 'noSuchFolder');
        if (SYSTEM.includes(renamed.role)) return void t.is(refusal, 'systemFolder');
        const parent = typeof parentId === 'string' ? model.folder(parentId) : undefined;
        if (typeof parentId === 'string' && parent === undefined) return void t.is(refusal, 'noSuchParent');
        if (parent === renamed || (parent !== undefined && model.below(renamed).includes(parent))) {
          return void t.is(refusal, 'intoItself');
        }
        const above = parentId === undefined ? model.superior(renamed) : parent;
        t.is(refusal, model.rename(renamed, above === undefined ? next.name : `${above.name}/${next.name}`));
      };
    }
    case 'deleteFolder': {
      const folderId = nameOf(next.folder);
      const asked = mailbox.ask('deleteFolder', { folderId, withInferiors: next.withInferiors });
      return async (t: ExecutionContext) => {
        const { refusal } = await asked;
        const gone = model.folder(folderId);
        const isSystem = gone !== undefined && SYSTEM.includes(gone.role);
        t.is(refusal, gone === undefined ? 'noSuchFolder' : isSystem ? 'systemFolder' : undefined);
        if (refusal === undefined) model.delete([gone!, ...(next.withInferiors ? model.below(gone!) : [])]);
      };
    }
  }
}

const namesOf = (bits: number, keywords: readonly string[]) =>
  [...FLAG_NAMES.filter(([bit]) => (bits & bit) !== 0).map(([, name]) => name), ...keywords]
    .map((name) => name.toLowerCase())
    .sort();

/** Checks that the rows equal the model. */
async function checkModel(t: ExecutionContext, world: MailboxWorld, accountId: string, model: Model, base: number) {
  const emails = await world.sql`
    select id, flags, keywords, modseq::int as modseq from emails where account_id = ${accountId} order by id`;
  t.deepEqual(
    emails.map((row) => [row['id'], namesOf(row['flags'], row['keywords']), row['modseq']]),
    model.emails
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map(({ id, flags: of, modseq }) => [id, [...of].sort(), base + modseq]),
  );
  const placements = await world.sql`
    select folder_id::text || ' ' || uid::text as place, email_id, deleted, modseq::int as modseq
    from placements where account_id = ${accountId}`;
  const expected = model.emails.flatMap(({ id, placements: of }) =>
    [...of].map(([folderId, { uid, isDeleted, modseq }]) => [`${folderId} ${uid}`, id, isDeleted, base + modseq]),
  );
  const byPlace = ([a]: unknown[], [b]: unknown[]) => (String(a) < String(b) ? -1 : 1);
  t.deepEqual(
    placements.map((row) => [row['place'], row['email_id'], row['deleted'], row['modseq']]).sort(byPlace),
    expected.sort(byPlace),
  );
  const folders = await world.sql`
    select id, name, role, uidnext::int as uidnext, highest_modseq::int as highest from folders
    where account_id = ${accountId} order by id`;
  t.deepEqual(
    folders.map((row) => [row['id'], row['name'], row['role'], row['uidnext'], Math.max(row['highest'], base)]),
    model.folders
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map(({ id, name, role, uidNext, highest }) => [id, name, role, uidNext, base + highest]),
  );
  const expunged = await world.sql`
    select x.folder_id::text || ' ' || u.uid::text as place, x.modseq::int as modseq
    from expunged x, generate_series(x.uid, coalesce(x.last_uid, x.uid)) as u (uid) where x.account_id = ${accountId}`;
  for (const { place, modseq } of expunged) t.is(modseq, base + (model.expunged.get(place) ?? -1), place);
}

test('random histories of folders, placements and flags end as the model says, in memory and in the rows', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.array(command, { minLength: 1, maxLength: 5 }) },
    { weight: 1, arbitrary: fc.constant('reload' as const) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const account = await world.directory.createAccount(`${randomUUID()}@example.test`, 'Model');
      const mailbox = world.mailboxes.of(account.id);
      const [row] = await world.sql`select modseq::int as modseq from accounts where id = ${account.id}`;
      const model = new Model((await mailbox.ask('folders', {})).reply!.folders);
      for (const next of steps) {
        if (next === 'reload') {
          world.reload();
          continue;
        }
        const checks = next.map((one) => issue(world, account.id, model, one));
        for (const check of checks) await check(t);
      }
      const { reply } = await mailbox.ask('folders', {});
      t.deepEqual(reply?.folders.map(({ path }) => path).sort(), model.folders.map(({ name }) => name).sort());
      for (const { id, total, unread } of reply!.folders) {
        const held = model.emails.filter(({ placements }) => placements.get(id)?.isDeleted === false);
        const unseen = held.filter(({ flags: of }) => !of.has('\\seen'));
        t.deepEqual([total, unread], [held.length, unseen.length]);
        const list = await mailbox.ask('list', { folder: id, page: 1, pageSize: 100, isRead: false });
        t.deepEqual(list.reply?.items.map((item) => item.id).sort(), unseen.map((email) => email.id).sort());
      }
      await checkModel(t, world, account.id, model, row!['modseq']);
      await checkRows(world, t, account.id);
    }),
    { numRuns: runs(25) },
  );
});
