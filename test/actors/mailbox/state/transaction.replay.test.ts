// Tests that the log is the whole truth of a mailbox: replayed into an empty state it gives the state of the actor, committed to a
// fresh account it gives the same tables. Histories are random, of several writers whose commands share commits.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import fc from 'fast-check';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';
import { cutAfter, freshAccount, logOf, recordsOf, replayed, replayInto, snapshotOf, tablesOf } from '../log-replay.js';
import { checkDrafts, checkRows, type MailboxWorld, mailboxWorld } from '../mailbox-world.js';
import { addressee, attempt, type Kind, outcome, stored } from '../outbound-world.js';

const WORDS = ['red', 'green', 'blue'];
const word = fc.constantFrom(...WORDS);
const which = fc.nat(5);

const rule = fc.record({
  isEnabled: fc.boolean(),
  priority: fc.nat(3),
  subject: fc.option(word),
  body: fc.option(word, { freq: 3 }),
  markAsRead: fc.option(fc.boolean()),
  label: fc.option(which),
  delete: fc.option(fc.boolean(), { freq: 5 }),
});

const command = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('deliver' as const),
      subject: word,
      at: fc.nat(9),
      refersTo: fc.option(fc.nat(6)),
      isJunk: fc.nat(4).map((n) => n === 0),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('setRead' as const), which, isRead: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('remove' as const, 'announce' as const), which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('applyBodyFilters' as const), which, all: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('createLabel' as const, 'updateLabel' as const), which, name: word }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deleteLabel' as const), which }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom('assignLabel' as const, 'unassignLabel' as const),
      which,
      label: which,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('createFilter' as const, 'updateFilter' as const), which, rule }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deleteFilter' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('append' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('choosePreferences' as const),
      chosen: fc.record({ theme: word, emailsPerPage: fc.nat() }, { requiredKeys: [], noNullPrototype: true }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('setMetadata' as const),
      label: fc.option(which),
      name: fc.constantFrom('/private/Comment', '/private/comment', '/shared/b'),
      value: fc.option(fc.constantFrom('YQ==', 'AP8=', '')),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('copy' as const, 'move' as const),
      which,
      toFolderId: fc.constantFrom('drafts', 'archive'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('createDraft' as const, 'updateDraft' as const, 'deleteDraft' as const),
      which,
      to: fc.nat(2),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('enqueue' as const), which: fc.option(which), to: fc.nat(2) }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('startDelivery' as const), which }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('reportDelivery' as const),
      which,
      outcomes: fc.array(fc.constantFrom<Kind>('delivered', 'temporary', 'permanent'), { maxLength: 3 }),
      isOver: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('giveDsn' as const), which }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('manageOutbound' as const),
      which,
      action: fc.constantFrom('retry' as const, 'cancel' as const),
    }),
  },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

const WAITING = {
  isEnabled: true,
  priority: 1,
  subject: null,
  body: 'red',
  markAsRead: true,
  label: null,
  delete: null,
};

const FIRST: readonly Command[] = [
  { kind: 'createFilter', which: 0, rule: WAITING },
  ...WORDS.map((subject): Command => ({ kind: 'deliver', subject, at: 1, refersTo: null, isJunk: false })),
  ...WORDS.map((name, i): Command => ({ kind: 'createLabel', which: i, name })),
  { kind: 'createFilter', which: 0, rule: { ...WAITING, subject: 'blue', body: null, delete: true } },
];

type Step = readonly Command[] | 'reload';

/** A history in which every type of record is made, so that the test needs no luck for that. */
const EVERY_TYPE: Step[] = [
  [{ kind: 'announce', which: 1 }],
  [{ kind: 'applyBodyFilters', which: 0, all: true }],
  [{ kind: 'setRead', which: 0, isRead: true }],
  [{ kind: 'setRead', which: 0, isRead: false }],
  [{ kind: 'assignLabel', which: 0, label: 0 }],
  [{ kind: 'unassignLabel', which: 0, label: 0 }],
  [{ kind: 'updateLabel', which: 0, name: 'red' }],
  [{ kind: 'deleteLabel', which: 0 }],
  [{ kind: 'remove', which: 0 }],
  [{ kind: 'remove', which: 0 }],
  [{ kind: 'deliver', subject: 'blue', at: 1, refersTo: null, isJunk: false }],
  [{ kind: 'deleteFilter', which: 0 }],
  [{ kind: 'choosePreferences', chosen: { theme: 'red' } }],
  [{ kind: 'setMetadata', label: null, name: '/private/Comment', value: 'YQ==' }],
  [{ kind: 'createDraft', which: 0, to: 1 }],
  [{ kind: 'deleteDraft', which: 0, to: 1 }],
  [{ kind: 'enqueue', which: null, to: 1 }],
  [{ kind: 'startDelivery', which: 0 }],
  [{ kind: 'reportDelivery', which: 0, outcomes: ['delivered'], isOver: true }],
];

/** Holds an account and what its writers know of it. */
class Writers {
  readonly accountId: string;
  readonly other: string;
  emails: string[] = [];
  /** Emails in the inbox, to which deferred filters may apply. */
  received: string[] = [];
  labels: string[] = [];
  filters: string[] = [];
  outbound: { id: string; status: string; updatedAt: number; recipients: { id: string }[] }[] = [];
  readonly attempts = new Map<string, string>();
  readonly #world: MailboxWorld;

  constructor(world: MailboxWorld, accountId: string, other: string) {
    this.#world = world;
    this.accountId = accountId;
    this.other = other;
  }

  async look(): Promise<void> {
    const { sql } = this.#world;
    const ids = async (rows: PromiseLike<readonly { readonly [column: string]: unknown }[]>) =>
      (await rows).map((row) => String(row['id']));
    this.emails = await ids(sql`select id from emails where account_id = ${this.accountId} order by id desc limit 6`);
    this.received = await ids(sql`
      select p.email_id as id from placements p join folders f on f.account_id = p.account_id and f.id = p.folder_id
      where p.account_id = ${this.accountId} and f.role = 'inbox' order by p.uid desc limit 6`);
    this.labels = await ids(sql`
      select id from folders where account_id = ${this.accountId} and role = 'label' order by id`);
    this.filters = await ids(sql`select id from filters where account_id = ${this.accountId} order by id`);
    const rows = await ids(sql`select id from outbound where account_id = ${this.accountId} order by id desc limit 6`);
    this.outbound = (await this.#world.store.outboundRows(this.accountId, rows)).map((row) => ({
      ...row,
      recipients: [...row.recipients],
    }));
  }

  async issue(next: Command): Promise<unknown> {
    const mailbox = this.#world.mailboxes.of(this.accountId);
    const one = <T>(of: readonly T[], n: number | null): T | undefined => (n === null ? undefined : of[n % of.length]);
    const email = 'which' in next ? (one(this.emails, next.which) ?? randomUUID()) : '';
    const received = 'which' in next ? (one(this.received, next.which) ?? randomUUID()) : '';
    const label = 'which' in next ? (one(this.labels, next.which) ?? randomUUID()) : '';
    const outbound = 'which' in next ? one(this.outbound, next.which) : undefined;
    const outboundId = outbound?.id ?? randomUUID();
    switch (next.kind) {
      case 'deliver': {
        const references = next.refersTo === null ? {} : { references: [`<thread-${next.refersTo}@x>`] };
        const mail = { subject: next.subject, body: 'red', ...references };
        const [spooled] = await this.#world.spool([this.accountId], next.at, mail);
        return spooled!.deliver({ isJunk: next.isJunk });
      }
      case 'setRead':
        return mailbox.ask('setRead', { emailIds: [email], isRead: next.isRead });
      case 'remove':
        return mailbox.ask('remove', { emailIds: [email] });
      case 'announce':
        return mailbox.ask('announce', { emailId: received });
      case 'applyBodyFilters':
        return mailbox.ask('applyBodyFilters', { emailId: received, filterIds: next.all ? this.filters : [] });
      case 'createLabel':
        return mailbox.ask('createLabel', { name: `${next.name} ${next.which}`, color: '#000000', sortOrder: 1 });
      case 'updateLabel':
        return mailbox.ask('updateLabel', { labelId: label, name: next.name, color: '#ffffff', sortOrder: next.which });
      case 'deleteLabel':
        return mailbox.ask('deleteLabel', { labelId: label });
      case 'assignLabel':
      case 'unassignLabel':
        return mailbox.ask(next.kind, { emailId: email, labelId: one(this.labels, next.label) ?? randomUUID() });
      case 'createFilter':
        return mailbox.ask('createFilter', { rule: this.#ruleOf(next.rule) });
      case 'updateFilter': {
        const filterId = one(this.filters, next.which) ?? randomUUID();
        return mailbox.ask('updateFilter', { filterId, rule: this.#ruleOf(next.rule) });
      }
      case 'deleteFilter':
        return mailbox.ask('deleteFilter', { filterId: one(this.filters, next.which) ?? randomUUID() });
      case 'append': {
        const { blob, summary } = await stored(this.#world);
        const message = { blob, summary, receivedAt: 1, flags: ['\\Draft'] };
        return mailbox.ask('append', { folderId: 'drafts', messages: [message] });
      }
      case 'setMetadata': {
        const folderId = next.label === null ? null : (one(['inbox', ...this.labels], next.label) ?? null);
        return mailbox.ask('setMetadata', { folderId, entries: [{ name: next.name, value: next.value }] });
      }
      case 'choosePreferences':
        return mailbox.ask(next.kind, { chosen: next.chosen });
      case 'copy':
      case 'move':
        return mailbox.ask(next.kind, { selection: { emailIds: [email] }, toFolderId: next.toFolderId });
      case 'createDraft':
        return mailbox.ask('createDraft', { draft: await this.#draft(next.to) });
      case 'updateDraft':
        return mailbox.ask('updateDraft', { outboundId, draft: await this.#draft(next.to) });
      case 'deleteDraft':
        return mailbox.ask('deleteDraft', { outboundId });
      case 'enqueue': {
        const draft = outbound?.status === 'Draft' ? { id: outboundId, updatedAt: outbound.updatedAt } : null;
        const { sender, content, recipients } = await this.#draft(next.to + 1);
        return mailbox.ask('enqueue', { draft, sender, content, recipients, ...(await stored(this.#world)) });
      }
      case 'startDelivery': {
        const begun = { id: randomUUID(), by: 'n' };
        const supersedes = this.attempts.get(outboundId) ?? null;
        const { reply } = await mailbox.ask('startDelivery', { outboundId, attempt: begun, supersedes });
        if (reply !== undefined) this.attempts.set(outboundId, begun.id);
        return reply;
      }
      case 'reportDelivery': {
        const answered = (outbound?.recipients ?? []).slice(0, next.outcomes.length);
        const outcomes = answered.map(({ id }, i) => {
          const kind = next.outcomes[i]!;
          return outcome(id, kind, kind === 'delivered' && i === 0 ? this.other : undefined);
        });
        const tried = attempt(answered.map(({ id }, i) => ({ id, outcome: next.outcomes[i]! })));
        return mailbox.ask('reportDelivery', {
          outboundId,
          attemptId: this.attempts.get(outboundId) ?? randomUUID(),
          outcomes,
          attempts: [tried],
          isOver: next.isOver,
          isInterrupted: false,
        });
      }
      case 'giveDsn': {
        const { reply } = await mailbox.ask('dsnMaterial', { outboundId });
        const { kind, recipientIds = [] } = reply ?? {};
        const report = await stored(this.#world);
        return mailbox.ask('giveDsn', { outboundId, kind: kind ?? 'failed', recipientIds, report });
      }
      case 'manageOutbound':
        return mailbox.ask('manageOutbound', { outboundId, action: next.action });
    }
  }

  async #draft(to: number) {
    const { blob, summary } = await stored(this.#world);
    return {
      sender: 'me@example.test',
      subject: `${to}`,
      content: { textBody: 't', htmlBody: null },
      recipients: Array.from({ length: to }, (_, i) => addressee(`r${i}@d${i}.test`)),
      message: { blob, size: summary.size, summary },
    };
  }

  #ruleOf({ subject, body, label, ...rest }: typeof rule extends fc.Arbitrary<infer T> ? T : never) {
    return {
      ...rest,
      name: 'rule',
      fromAddressContains: null,
      hasAttachments: null,
      subjectContains: subject,
      bodyContains: body,
      assignLabelId: (label === null ? undefined : this.labels[label % this.labels.length]) ?? null,
    };
  }
}

async function checkReplay(t: ExecutionContext, world: MailboxWorld, accountId: string): Promise<void> {
  const state = world.stateOf(accountId);
  const [whole, byCommit, byCommand] = [
    await freshAccount(world),
    await freshAccount(world),
    await freshAccount(world),
  ];
  const log = await logOf(world, accountId, whole.id);
  const seqs = [...new Set(log.map(({ seq }) => seq))];
  t.deepEqual(
    seqs,
    Array.from({ length: state.modseq - whole.state.modseq }, (_, i) => whole.state.modseq + 1 + i),
    'every modseq has an entry',
  );
  const change = replayed(whole.state, log);
  if (change !== undefined) whole.state.evolve(change);
  t.deepEqual(snapshotOf(whole.state), snapshotOf(state), 'the state, from the log as one list');

  const commits = world.commits.filter((commit) => commit.accountId === accountId).map((commit) => commit.modseqAfter);
  await replayInto(world, byCommit, cutAfter(await logOf(world, accountId, byCommit.id), commits));
  const tables = await tablesOf(world, accountId);
  t.deepEqual(await tablesOf(world, byCommit.id), tables, 'the tables, from the log as it was committed');
  t.deepEqual(snapshotOf(byCommit.state), snapshotOf(state), 'the state, from the log as it was committed');

  await replayInto(world, byCommand, cutAfter(await logOf(world, accountId, byCommand.id), seqs));
  // An email that one commit adds and removes leaves expunged UIDs and thread ids when these are two commits.
  const { expunged, thread_refs: refs, ...others } = await tablesOf(world, byCommand.id);
  const { expunged: coalescedExpunged, thread_refs: coalescedRefs, ...coalescedOthers } = tables;
  t.deepEqual(others, coalescedOthers, 'the tables, from the log command by command');
  t.true(coalescedExpunged!.every((row) => expunged!.includes(row)));
  t.true(coalescedRefs!.every((row) => refs!.includes(row)));
}

test('the log of random histories gives the state of the actor and the tables of the account', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  // Bodies cannot be read: filters that need them wait until the history applies them.
  world.texts.fault = new Error('not read');
  world.texts.longFault = new Error('not read');
  const seen = new Set<string>();
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 6, arbitrary: fc.array(command, { minLength: 1, maxLength: 8 }) },
    { weight: 1, arbitrary: fc.constant('reload' as const) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 10 }), async (steps) => {
      const { id: accountId } = await world.directory.createAccount(`${randomUUID()}@example.test`, 'Model');
      const { id: other } = await world.directory.createAccount(`${randomUUID()}@example.test`, 'Other');
      const writers = new Writers(world, accountId, other);
      // Short histories need something to work on.
      for (const next of FIRST) await writers.issue(next);
      for (const next of steps) {
        if (next === 'reload') world.reload();
        else {
          await writers.look();
          await Promise.all(next.map((one) => writers.issue(one)));
        }
      }
      for (const { type } of await recordsOf(world, accountId)) seen.add(type);
      await checkRows(world, t, accountId);
      await checkDrafts(world, t, accountId);
      await checkReplay(t, world, accountId);
    }),
    { numRuns: runs(40, 40), examples: [[EVERY_TYPE]] },
  );
  t.deepEqual([...seen].sort(), [
    'AnnotationsChanged',
    'BodyFiltersEnded',
    'DeliveredLocally',
    'DeliveryAttempted',
    'EmailAdded',
    'EmailAnnounced',
    'EmailExpunged',
    'EmailPlaced',
    'EmailRemoved',
    'FilterChanged',
    'FilterDeleted',
    'FiltersAwaitBody',
    'FlagsChanged',
    'FolderChanged',
    'FolderCreated',
    'FolderDeleted',
    'MailDiscarded',
    'OutboundChanged',
    'OutboundRemoved',
    'PreferencesChanged',
    'RecipientChanged',
    'UnreadCountChanged',
  ]);
});
