// Tests labels and filters on a real store against a plain model: random histories in batches that share commits, with reloads
// between them; then placements in the rows, and UIDs, which rise and are never used twice.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import fc from 'fast-check';
import type { MailboxEvent } from '../../../../src/actors/mailbox/protocol.js';
import { allClientEventsOf } from '../../../../src/gateways/events/client-events.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';
import { checkRows, type MailboxWorld, mailboxWorld } from '../mailbox-world.js';
import { fold, Model, type ModelEmail, type ModelLabel, type Rule, rule, word } from './filters-model.js';

const NAMES = ['Work', 'WORK', 'Home', 'Straße', 'a/b'];

const command = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('deliver' as const),
      from: word,
      subject: word,
      body: word,
      at: fc.nat(9),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('createLabel' as const),
      name: fc.constantFrom(...NAMES),
      sortOrder: fc.integer({ min: -2, max: 2 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('updateLabel' as const),
      label: fc.nat(4),
      name: fc.constantFrom(...NAMES),
      sortOrder: fc.integer({ min: -2, max: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deleteLabel' as const), label: fc.nat(4) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom('assignLabel' as const, 'unassignLabel' as const),
      email: fc.nat(12),
      label: fc.nat(4),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('createFilter' as const), rule }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('updateFilter' as const), filter: fc.nat(3), rule }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deleteFilter' as const), filter: fc.nat(3) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('setRead' as const), email: fc.nat(12), isRead: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), email: fc.nat(12) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('announce' as const), email: fc.nat(12) }) },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

/** Sends one command and computes the model's reply; ids are those before the batch. */
function issue(world: MailboxWorld, accountId: string, model: Model, next: Command, ids: ReturnType<typeof idsOf>) {
  const mailbox = world.mailboxes.of(accountId);
  const emailId = 'email' in next ? (ids.emails[next.email] ?? randomUUID()) : '';
  const labelId = 'label' in next ? (ids.labels[next.label] ?? randomUUID()) : '';
  const email = () => model.emails.find(({ id }) => id === emailId);
  const label = () => model.labels.find(({ id }) => id === labelId);
  const payloadOf = (of: Rule) => ({
    name: 'rule',
    isEnabled: of.isEnabled,
    priority: of.priority,
    fromAddressContains: of.from,
    subjectContains: of.subject,
    bodyContains: of.body,
    hasAttachments: of.hasAttachments,
    markAsRead: of.markAsRead,
    assignLabelId: of.label === null ? null : (ids.labels[of.label] ?? null),
    delete: of.delete,
  });
  const isKnown = (id: string | null) => id === null || model.labels.some((known) => known.id === id);
  switch (next.kind) {
    case 'createLabel': {
      const { name, sortOrder } = next;
      const asked = mailbox.ask('createLabel', { name, color: '#00ff00', sortOrder });
      return async (t: ExecutionContext) => {
        const { reply, refusal } = await asked;
        t.is(refusal, model.isTaken(name) ? 'nameTaken' : undefined);
        if (reply !== undefined) model.labels.push({ id: reply.id, name, color: '#00ff00', sortOrder });
      };
    }
    case 'updateLabel': {
      const { name, sortOrder } = next;
      const asked = mailbox.ask('updateLabel', { labelId, name, color: '#0000ff', sortOrder });
      return async (t: ExecutionContext) => {
        const known = label();
        const { refusal } = await asked;
        t.is(refusal, known === undefined ? 'noSuchLabel' : model.isTaken(name, labelId) ? 'nameTaken' : undefined);
        if (refusal === undefined && known) Object.assign(known, { name, sortOrder, color: '#0000ff' });
      };
    }
    case 'deleteLabel': {
      const asked = mailbox.ask('deleteLabel', { labelId });
      return async (t: ExecutionContext) => {
        t.is((await asked).refusal, label() === undefined ? 'noSuchLabel' : undefined);
        model.deleteLabel(labelId);
      };
    }
    case 'assignLabel':
    case 'unassignLabel': {
      const asked = mailbox.ask(next.kind, { emailId, labelId });
      return async (t: ExecutionContext) => {
        const { refusal } = await asked;
        const known = email();
        t.is(refusal, known === undefined ? 'noSuchEmail' : label() === undefined ? 'noSuchLabel' : undefined);
        if (refusal !== undefined || known === undefined) return;
        if (next.kind === 'assignLabel') known.folders.add(labelId);
        else model.take(known, labelId);
      };
    }
    case 'createFilter': {
      const payload = payloadOf(next.rule);
      const asked = mailbox.ask('createFilter', { rule: payload });
      return async (t: ExecutionContext) => {
        const { reply, refusal } = await asked;
        t.is(refusal, isKnown(payload.assignLabelId) ? undefined : 'noSuchLabel');
        if (reply !== undefined) model.addFilter(reply.id, next.rule, payload.assignLabelId);
      };
    }
    case 'updateFilter': {
      const filterId = ids.filters[next.filter] ?? randomUUID();
      const payload = payloadOf(next.rule);
      const asked = mailbox.ask('updateFilter', { filterId, rule: payload });
      return async (t: ExecutionContext) => {
        const known = model.filters.find(({ id }) => id === filterId);
        const { refusal } = await asked;
        t.is(
          refusal,
          known === undefined ? 'noSuchFilter' : isKnown(payload.assignLabelId) ? undefined : 'noSuchLabel',
        );
        if (refusal === undefined && known) Object.assign(known, { rule: next.rule, labelId: payload.assignLabelId });
      };
    }
    case 'deleteFilter': {
      const filterId = ids.filters[next.filter] ?? randomUUID();
      const asked = mailbox.ask('deleteFilter', { filterId });
      return async (t: ExecutionContext) => {
        const isThere = model.filters.some(({ id }) => id === filterId);
        t.is((await asked).refusal, isThere ? undefined : 'noSuchFilter');
        model.filters = model.filters.filter(({ id }) => id !== filterId);
      };
    }
    case 'setRead': {
      const asked = mailbox.ask('setRead', { emailIds: [emailId], isRead: next.isRead });
      return async (t: ExecutionContext) => {
        const known = email();
        t.is((await asked).reply?.changed, known !== undefined && known.isRead !== next.isRead ? 1 : 0);
        if (known) known.isRead = next.isRead;
      };
    }
    case 'remove': {
      const asked = mailbox.ask('remove', { emailIds: [emailId] });
      return async (t: ExecutionContext) => {
        t.is((await asked).reply?.removed, email() === undefined ? 0 : 1);
        model.emails = model.emails.filter(({ id }) => id !== emailId);
      };
    }
    case 'announce': {
      const asked = mailbox.ask('announce', { emailId });
      return async (t: ExecutionContext) => {
        const known = email();
        const { reply, refusal } = await asked;
        t.is(refusal, known === undefined ? 'noSuchEmail' : undefined);
        if (known === undefined) return;
        const isKept = model.judged(known) !== null;
        t.is(reply?.isKept, isKept);
        if (!isKept) model.emails = model.emails.filter(({ id }) => id !== emailId);
      };
    }
    case 'deliver':
      throw new Error('mail is spooled first');
  }
}

const idsOf = (model: Model) => ({
  emails: model.emails.map(({ id }) => id),
  labels: model.labels.map(({ id }) => id),
  filters: model.filters.map(({ id }) => id),
});

/** Sends commands together: they may share commits, and take effect in this order. */
async function batch(
  t: ExecutionContext,
  world: MailboxWorld,
  accountId: string,
  model: Model,
  steps: readonly Command[],
) {
  const ids = idsOf(model);
  const spooled = await Promise.all(
    steps.map((step) =>
      step.kind === 'deliver'
        ? world.spool([accountId], step.at, { from: `${step.from}@b.test`, subject: step.subject, body: step.body })
        : undefined,
    ),
  );
  const checks = steps.map((step, i) => {
    if (step.kind !== 'deliver') return issue(world, accountId, model, step, ids);
    const asked = spooled[i]![0]!.deliver();
    return async () => {
      const { from, subject, body, at } = step;
      const { reply } = await asked;
      const arrived: ModelEmail = {
        id: reply?.emailId ?? '',
        from: `${from}@b.test`,
        subject,
        body,
        receivedAt: at,
        isRead: false,
        folders: new Set([model.inbox]),
      };
      const kept = model.judged(arrived);
      t.is(kept === null, reply?.emailId === null);
      if (kept !== null) model.emails.push(kept);
    };
  });
  for (const check of checks) await check(t);
}

async function compare(t: ExecutionContext, world: MailboxWorld, accountId: string, model: Model) {
  const mailbox = world.mailboxes.of(accountId);
  const inOrder = (folderId: string) =>
    model.emails
      .filter(({ folders }) => folders.has(folderId))
      .sort((a, b) => b.receivedAt - a.receivedAt || (a.id < b.id ? 1 : -1));
  const { reply: labels } = await mailbox.ask('labels', {});
  const key = ({ sortOrder, name }: ModelLabel) => [sortOrder, fold(name)] as const;
  const expected = model.labels.toSorted((a, b) => {
    const [[x, nameX], [y, nameY]] = [key(a), key(b)];
    return x - y || (nameX < nameY ? -1 : 1);
  });
  t.deepEqual(
    labels?.labels.map(({ createdAt: _, ...label }) => label),
    expected.map((label) => ({ ...label, emailCount: inOrder(label.id).length })),
  );
  for (const { id } of model.labels) {
    const { reply } = await mailbox.ask('labelEmails', { labelId: id, page: 1, pageSize: 100 });
    const emails = inOrder(id);
    t.deepEqual(
      reply?.items.map((item) => [item.id, item.isRead]),
      emails.map((email) => [email.id, email.isRead]),
    );
    t.is(reply?.totalCount, emails.length);
    t.is(reply?.unreadCount, emails.filter(({ isRead }) => !isRead).length);
  }
  const { reply: inbox } = await mailbox.ask('list', { folder: 'inbox', page: 1, pageSize: 100 });
  t.deepEqual(
    inbox?.items.map((item) => [item.id, item.isRead, item.labels.map((label) => label.name)]),
    inOrder(model.inbox).map((email) => [
      email.id,
      email.isRead,
      expected.flatMap(({ id, name }) => (email.folders.has(id) ? [name] : [])),
    ]),
  );
  t.is(inbox?.unreadCount, inOrder(model.inbox).filter(({ isRead }) => !isRead).length);
  const { reply: filters } = await mailbox.ask('filters', {});
  t.deepEqual(
    filters?.filters.map((filter) => [
      filter.id,
      filter.assignLabelId,
      filter.timesApplied,
      filter.lastAppliedAt !== null,
    ]),
    model.filters
      .toSorted((a, b) => a.rule.priority - b.rule.priority || a.made - b.made)
      .map((filter) => [filter.id, filter.labelId, filter.times, filter.times > 0]),
  );
}

async function checkUids(t: ExecutionContext, world: MailboxWorld, accountId: string) {
  const newest = new Map<string, number>();
  const given = (folderId: string, uid: number) => {
    t.true(uid > (newest.get(folderId) ?? 0));
    newest.set(folderId, uid);
  };
  let unread = 0;
  for (const event of (await world.events.read(accountId, 0, 10_000)) as unknown as MailboxEvent[]) {
    if (event.type === 'EmailAdded') for (const { folderId, uid } of event.payload.placements) given(folderId, uid);
    if (event.type === 'FolderDeleted' && event.payload.placed !== null) {
      for (const { uid } of event.payload.placed.emails) given(event.payload.placed.folderId, uid);
    }
    if (event.type === 'EmailPlaced') given(event.payload.folderId, event.payload.uid);
    if (event.type === 'UnreadCountChanged') unread = event.payload.unread;
  }
  const [row] = await world.sql`select unread from folders where account_id = ${accountId} and role = 'inbox'`;
  t.is(unread, row?.['unread']);
}

test('random histories of labels and filters end as the model says, in memory, after reloads, and in the rows', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const steps = fc.array(
    fc.oneof({ weight: 5, arbitrary: fc.array(command, { maxLength: 10 }) }, fc.constant('reload')),
    {
      maxLength: 8,
    },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const account = await world.directory.createAccount(`${randomUUID()}@example.test`, 'Model');
      const folders = await world.sql`select id, role from folders where account_id = ${account.id}`;
      const idOf = (role: string) => folders.find((row) => row['role'] === role)?.['id'] as string;
      const model = new Model(idOf('inbox'), idOf('archive'));
      for (const next of history) {
        if (typeof next === 'string') world.reload();
        else await batch(t, world, account.id, model, next);
        await compare(t, world, account.id, model);
      }
      world.reload();
      await compare(t, world, account.id, model);
      await checkRows(world, t, account.id);
      await checkUids(t, world, account.id);
      const placed = await world.sql<{ e: string; f: string[] }[]>`
        select email_id as e, array_agg(folder_id::text order by folder_id::text) as f from placements
        where account_id = ${account.id} group by email_id order by email_id`;
      t.deepEqual(
        placed.map(({ e, f }) => [e, f]),
        model.emails.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(({ id, folders: at }) => [id, [...at].sort()]),
      );
    }),
    { numRuns: runs(40) },
  );
});

test('a filter that deletes leaves nothing but the blob as a candidate; what could not be tested is counted', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const account = await world.directory.createAccount('filters@example.test', 'x');
  const mailbox = world.mailboxes.of(account.id);
  const conditions = { fromAddressContains: null, subjectContains: null, hasAttachments: null };
  const rule = { ...conditions, name: 'no spam', isEnabled: true, priority: 1, bodyContains: 'SPAM' };
  const { reply: filter } = await mailbox.ask('createFilter', {
    rule: { ...rule, markAsRead: null, assignLabelId: null, delete: true },
  });
  const before = (await world.events.read(account.id, 0, 100)).length;
  const [first] = await world.spool([account.id], 1, { body: 'this is spam' });
  t.is((await first!.deliver()).reply?.emailId, null);
  t.is((await first!.deliver()).reply?.emailId, null);
  const [rows] = await world.sql`
    select (select count(*)::int from emails) as emails, (select count(*)::int from inbound) as inbound,
      (select array_agg(encode(hash, 'hex')) from blob_candidates) as candidates`;
  t.deepEqual({ ...rows }, { emails: 0, inbound: 0, candidates: [first!.blob] });
  const after = (await world.events.read(account.id, 0, 100)).slice(before);
  t.deepEqual(
    after.map((record) => [record.type, allClientEventsOf(record as never)]),
    [
      ['FilterChanged', []],
      ['MailDiscarded', []],
    ],
  );
  t.is((await mailbox.ask('filters', {})).reply?.filters[0]?.timesApplied, 1);

  world.texts.fault = new Error('no body today');
  const [second] = await world.spool([account.id], 2, { body: 'more spam' });
  const emailId = (await second!.deliver()).reply?.emailId;
  t.is(typeof emailId, 'string');
  const tested = await mailbox.ask('testFilter', { filterId: filter!.id, limit: 10 });
  t.deepEqual(tested.reply, { matchCount: 0, matchedEmailIds: [], untestedCount: 1 });
  await mailbox.ask('updateFilter', {
    filterId: filter!.id,
    rule: { ...rule, subjectContains: 'no such subject', markAsRead: null, assignLabelId: null, delete: true },
  });
  world.texts.fault = undefined;
  await mailbox.ask('applyBodyFilters', { emailId: emailId!, filterIds: [] });
  await mailbox.ask('updateFilter', {
    filterId: filter!.id,
    rule: { ...rule, markAsRead: null, assignLabelId: null, delete: true },
  });
  const again = await mailbox.ask('testFilter', { filterId: filter!.id, limit: 10 });
  t.deepEqual(again.reply, { matchCount: 1, matchedEmailIds: [emailId!], untestedCount: 0 });
  const unsaved = await mailbox.ask('testConditions', {
    conditions: { ...conditions, bodyContains: 'SPAM' },
    limit: 10,
  });
  t.deepEqual(unsaved.reply, again.reply);
  t.deepEqual((await mailbox.ask('announce', { emailId: emailId! })).reply, { isKept: false });
  t.is((await mailbox.ask('announce', { emailId: emailId! })).refusal, 'noSuchEmail');
  t.is((await mailbox.ask('announce', { emailId: 'no id' })).refusal, 'noSuchEmail');

  await mailbox.ask('updateFilter', {
    filterId: filter!.id,
    rule: { ...rule, isEnabled: false, markAsRead: null, assignLabelId: null, delete: true },
  });
  const asked = world.texts.asked;
  const [third] = await world.spool([account.id], 3, { body: 'spam' });
  t.is(typeof (await third!.deliver()).reply?.emailId, 'string');
  t.is(world.texts.asked, asked);
});
