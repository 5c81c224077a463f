// Tests outbound mail of a mailbox under random histories: commands in groups that share commits, and new owners. Answers,
// memory, the state of a new owner and the rows agree.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import fc from 'fast-check';
import type { OutboundEmail } from '../../../../src/actors/mailbox/outbound/protocol.js';
import { OUTBOUND_STATUSES } from '../../../../src/mail-format/outbound-status.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';
import { checkRows, type MailboxWorld, mailboxWorld } from '../mailbox-world.js';
import { addressee, draftOf, type Kind, outcome, stored } from '../outbound-world.js';

const which = fc.nat(3);
const command = fc.oneof(
  { weight: 3, arbitrary: fc.record({ name: fc.constant('createDraft' as const), to: fc.nat(2) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      name: fc.constantFrom('updateDraft' as const, 'deleteDraft' as const),
      which,
      to: fc.nat(2),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      name: fc.constantFrom('enqueue' as const, 'holdOutbound' as const),
      which: fc.option(which),
      to: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ name: fc.constant('startDelivery' as const), which, supersedes: fc.boolean() }) },
  {
    weight: 8,
    arbitrary: fc.record({
      name: fc.constant('reportDelivery' as const),
      which,
      kinds: fc.array(fc.constantFrom<Kind>('delivered', 'temporary', 'permanent'), { maxLength: 3 }),
      isOver: fc.boolean(),
      isInterrupted: fc.boolean(),
      isPostponed: fc.boolean(),
      begins: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ name: fc.constant('giveDsn' as const), which }) },
  {
    weight: 5,
    arbitrary: fc.record({
      name: fc.constantFrom('releaseOutbound' as const, 'cancelOutbound' as const, 'retryOutbound' as const),
      which,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      name: fc.constant('manageOutbound' as const),
      which,
      action: fc.constantFrom('retry' as const, 'cancel' as const, 'release' as const),
    }),
  },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

interface Known {
  readonly email: OutboundEmail;
  /** The last delivery that has begun. */
  readonly attemptId: string;
}

interface Answer {
  readonly reply?: object;
  readonly refusal?: string;
}

const addressesOf = (to: number) => Array.from({ length: to }, (_, i) => `r${i}@d${i}.test`);

/** Returns the id of the command's email. */
function idOf(next: Command, known: readonly Known[]): string {
  const at = 'which' in next && next.which !== null ? known[next.which % Math.max(1, known.length)] : undefined;
  return at?.email.id ?? '';
}

async function issue(world: MailboxWorld, accountId: string, next: Command, known: readonly Known[]): Promise<Answer> {
  const mailbox = world.mailboxes.of(accountId);
  const at = 'which' in next && next.which !== null ? known[next.which % Math.max(1, known.length)] : undefined;
  const outboundId = at?.email.id ?? randomUUID();
  switch (next.name) {
    case 'createDraft':
      return mailbox.ask('createDraft', { draft: await draftOf(world, 's', addressesOf(next.to)) });
    case 'updateDraft':
      return mailbox.ask('updateDraft', { outboundId, draft: await draftOf(world, 's', addressesOf(next.to)) });
    case 'deleteDraft':
      return mailbox.ask('deleteDraft', { outboundId });
    case 'enqueue':
    case 'holdOutbound': {
      const draft = at === undefined ? null : { id: outboundId, updatedAt: at.email.updatedAt };
      const recipients = addressesOf(next.to).map(addressee);
      const content = { textBody: 't', htmlBody: null };
      const queued = { draft, sender: 'me@example.test', content, recipients, ...(await stored(world)) };
      if (next.name === 'enqueue') return mailbox.ask('enqueue', queued);
      return mailbox.ask('holdOutbound', { ...queued, heldUntil: 1_800_000_000_000 + next.to });
    }
    case 'startDelivery': {
      const supersedes = next.supersedes ? (at?.attemptId ?? null) : null;
      return mailbox.ask('startDelivery', { outboundId, attempt: { id: randomUUID(), by: 'n' }, supersedes });
    }
    case 'reportDelivery': {
      const outcomes = next.kinds.flatMap((kind, i) => {
        const recipient = at?.email.recipients[i];
        return recipient === undefined
          ? []
          : [outcome(recipient.id, kind, kind === 'delivered' ? accountId : undefined)];
      });
      const { isOver, isInterrupted, begins } = next;
      const postponed = next.isPostponed ? (at?.email.recipients.map(({ id }) => id) ?? []) : [];
      const attemptId = at?.attemptId ?? randomUUID();
      const about = { outboundId, attemptId, outcomes, attempts: [], isOver, isInterrupted, postponed, begins };
      return mailbox.ask('reportDelivery', about);
    }
    case 'releaseOutbound':
      return mailbox.ask('releaseOutbound', { outboundId, heldUntil: at?.email.heldUntil ?? 1 });
    case 'cancelOutbound':
    case 'retryOutbound':
      return mailbox.ask(next.name, { outboundId });
    case 'giveDsn':
      return mailbox.ask('giveDsn', {
        outboundId,
        kind: 'failed',
        recipientIds: at?.email.recipients.filter(({ status }) => status === 'Failed').map(({ id }) => id) ?? [],
        report: await stored(world),
      });
    case 'manageOutbound':
      return mailbox.ask('manageOutbound', { outboundId, action: next.action });
  }
}

async function everything(world: MailboxWorld, accountId: string, t: ExecutionContext): Promise<OutboundEmail[]> {
  const mailbox = world.mailboxes.of(accountId);
  const emails: OutboundEmail[] = [];
  for (const status of OUTBOUND_STATUSES) {
    const { items, totalCount } = (await mailbox.ask('outboundPage', { statuses: [status], page: 1, pageSize: 100 }))
      .reply!;
    t.is(items.length, totalCount);
    t.true(items.every((item) => item.status === status));
    emails.push(...items);
  }
  for (const email of emails) {
    t.deepEqual((await mailbox.ask('outbound', { outboundId: email.id })).reply?.email, email, 'memory says the same');
  }
  return emails.sort((a, b) => (a.id < b.id ? -1 : 1));
}

test('random histories leave memory, rows, counts and local mail in agreement', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.oneof(
          { weight: 5, arbitrary: fc.array(command, { minLength: 1, maxLength: 5 }) },
          { weight: 1, arbitrary: fc.constant('reload' as const) },
        ),
        {
          maxLength: 12,
        },
      ),
      async (rounds) => {
        const account = await world.directory.createAccount(`${randomUUID()}@example.test`, 'Model');
        let known: Known[] = [];
        let local = 0;
        const cancelled = new Set<string>();
        for (const round of rounds) {
          if (round === 'reload') world.reload();
          else {
            const answers = await Promise.all(round.map((next) => issue(world, account.id, next, known)));
            answers.forEach(({ reply, refusal }, i) => {
              seen.add(`${round[i]!.name} ${refusal ?? 'done'}`);
              const isRetry = reply !== undefined && ('retried' in reply || round[i]!.name === 'manageOutbound');
              const id = idOf(round[i]!, known);
              const isSent = reply !== undefined && ['enqueue', 'holdOutbound'].includes(round[i]!.name);
              if (isRetry || isSent) cancelled.delete(id);
              else if (reply !== undefined && 'cancelled' in reply && reply.cancelled === true) cancelled.add(id);
              if (reply !== undefined && 'localDeliveries' in reply)
                local += (reply.localDeliveries as unknown[]).length;
            });
          }
          const emails = await everything(world, account.id, t);
          const attempts = await world.sql`select id, attempt_id from outbound where account_id = ${account.id}`;
          const attemptIds = new Map(attempts.map((row) => [row['id'], row['attempt_id']]));
          known = emails.map((email) => ({ email, attemptId: attemptIds.get(email.id) ?? randomUUID() })).slice(-4);
          for (const { id, status, recipients, nextRetryAt, heldUntil, sentAt } of emails) {
            const isUnsent = status === 'Failed' || status === 'Draft';
            if (cancelled.has(id)) t.true(isUnsent, 'what was cancelled is not delivered afterwards');
            const are = new Set(recipients.map((recipient) => recipient.status));
            if (status === 'Sent') t.deepEqual([...are], ['Delivered']);
            if (status === 'Failed') t.true(are.has('Failed') && !are.has('Pending'));
            if (status === 'Queued') t.true(are.has('Pending'));
            // While Sending, some recipients may wait for their next attempt.
            if (status !== 'Sending') t.is((nextRetryAt ?? heldUntil) !== null, status === 'Queued');
            if (heldUntil !== null) t.deepEqual([status, nextRetryAt, [...are]], ['Queued', null, ['Pending']]);
            t.is(sentAt !== null, status === 'Sent');
          }
        }
        const before = await everything(world, account.id, t);
        world.reload();
        t.deepEqual(await everything(world, account.id, t), before, 'a fresh owner reads the same');
        // All recipients are addresses of this account, which gets each message once.
        const delivered = before.filter(({ recipients }) => recipients.some(({ status }) => status === 'Delivered'));
        const [count] = await world.sql`select count(*)::int as inbound from inbound where account_id = ${account.id}`;
        t.deepEqual([local, count!['inbound']], [delivered.length, delivered.length]);
        await world.sql`delete from inbound where account_id = ${account.id}`;
        await checkRows(world, t, account.id);
      },
    ),
    { numRuns: runs(40) },
  );
  for (const place of [
    'enqueue done',
    'startDelivery done',
    'startDelivery notDue',
    'reportDelivery done',
    'updateDraft done',
    'holdOutbound done',
    'releaseOutbound done',
    'releaseOutbound released',
    'cancelOutbound done',
    'retryOutbound done',
  ])
    t.true(seen.has(place), place);
});
