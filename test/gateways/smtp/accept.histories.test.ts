// Tests accepted mail on real mailboxes and a real store while commits fail before and after they are written, the database refuses rows,
// owners change and mailboxes are unreachable: accepted mail is there once, refused mail at most once, and every email has its octets.
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import type { Mailboxes } from '../../../src/actors/mailbox/protocol.js';
import { ActorFault } from '../../../src/actors/runtime/errors.js';
import { NO_TRACER } from '../../../src/actors/runtime/tracing.js';
import { acceptMessage } from '../../../src/gateways/smtp/accept.js';
import { blobOf } from '../../../src/store/blobs.js';
import { StoreFault } from '../../../src/store/errors.js';
import { newId } from '../../../src/store/ids/new-id.js';
import { InlineMessages } from '../../../src/store/inline/inline-messages.js';
import type { CommitResult, MailboxChange } from '../../../src/store/mailboxes.js';
import { checkRows, type MailboxWorld, mailboxWorld } from '../../actors/mailbox/mailbox-world.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

const ACCOUNTS = 3;

/** The database refuses emails of the accounts in `refusing`. */
const REFUSING = `
  create table refusing (account_id uuid);
  create function refuse() returns trigger language plpgsql as $$
  begin
    if exists (select from refusing where account_id = new.account_id) then raise exception 'refused'; end if;
    return new;
  end $$;
  create trigger refuse before insert on emails for each row execute function refuse()`;

type Commit = () => Promise<CommitResult>;

/** Each happens to one commit of a mailbox, in order. */
const happening = fc.constantFrom<
  (commit: Commit, world: MailboxWorld, change: MailboxChange) => Promise<CommitResult>
>(
  (commit) => commit(),
  (commit) => commit(),
  async function refused(commit, { sql }, { accountId }) {
    await sql`insert into refusing (account_id) values (${accountId})`;
    try {
      return await commit();
    } finally {
      await sql`delete from refusing where account_id = ${accountId}`;
    }
  },
  async function lostBefore() {
    await nextTurn();
    throw new StoreFault('store-unavailable', 'lost before', { temporary: true });
  },
  async function lostAfter(commit) {
    await commit();
    throw new StoreFault('store-unavailable', 'lost after', { temporary: true });
  },
  async function locked() {
    await nextTurn();
    throw new StoreFault('store-locked', 'locked', { temporary: true });
  },
  async function ownerChanges(commit, world) {
    world.reload();
    await world.mailboxes
      .of(world.commits.at(-1)?.accountId ?? randomUUID())
      .ask('unreadCount', {})
      .catch(() => {});
    return commit();
  },
);

const message = fc.record({
  /** Indexes of the accounts. */
  to: fc.subarray([...Array(ACCOUNTS).keys()], { minLength: 1 }),
  /** The message is sent together with the previous one. */
  isTogether: fc.boolean(),
  /** The gateway is on the node of the mailboxes. */
  isHere: fc.oneof({ weight: 2, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  /** The mailbox's answer is lost, perhaps while the commit runs. */
  isAnswerLost: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});

/** Returns the mailboxes; with `isUnheard`, their answers are all lost. What they are asked is added to `asked`. */
function remembering(mailboxes: MailboxWorld['mailboxes'], isUnheard: boolean, asked: Promise<unknown>[]): Mailboxes {
  const of = (accountId: string) => {
    const mailbox = mailboxes.of(accountId);
    const ask = async (...of: Parameters<typeof mailbox.ask>) => {
      const answer = mailbox.ask(...of);
      asked.push(answer.catch(() => {}));
      if (!isUnheard) return answer;
      await nextTurn();
      throw new ActorFault('unreachable', 'the answer is lost');
    };
    return { ...mailbox, ask };
  };
  return { of } as Mailboxes;
}

test('what was accepted is there once, what was refused at most once', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  await world.sql.unsafe(REFUSING);
  const history = fc.record({
    messages: fc.array(message, { minLength: 1, maxLength: 10 }),
    happenings: fc.array(happening, { maxLength: 12 }),
  });
  let [accepted, refused] = [0, 0];
  await fc.assert(
    fc.asyncProperty(history, async ({ messages, happenings }) => {
      const waiting = [...happenings];
      const commits: Promise<unknown>[] = [];
      const asked: Promise<unknown>[] = [];
      world.commit.by = (change, commit) => {
        const committed = waiting.shift()?.(commit, world, change) ?? commit();
        commits.push(committed.catch(() => {}));
        return committed;
      };
      const accounts = await Promise.all(
        Array.from({ length: ACCOUNTS }, async () => {
          const { id, email } = await world.directory.createAccount(`${randomUUID()}@example.test`, 'A');
          return { accountId: id, email };
        }),
      );
      const outcomes = new Map<string, { readonly to: readonly string[]; readonly isAccepted: boolean }>();

      async function accept({ to, isHere, isAnswerLost }: (typeof messages)[number]): Promise<void> {
        const subject = randomUUID();
        const content = {
          ...blobOf(Buffer.from(`From: a@b.test\r\nSubject: ${subject}\r\n\r\nx`)),
          isInMemory: true,
          release() {},
        };
        const destinations = to.map((i) => {
          const { accountId, email } = accounts[i]!;
          return { recipient: { kind: 'mailbox' as const, accountId }, address: email };
        });
        const inlineMessages = isHere
          ? world.inlineMessages
          : new InlineMessages(
              () => false,
              () => 'owner',
            );
        const mailboxes = remembering(world.mailboxes, isAnswerLost, asked);
        const ports = {
          ...world,
          mailboxes,
          inlineMessages,
          directory: { openUnclaimed: async () => new Map() },
          tracer: NO_TRACER,
        };
        const judgement = { verdict: 'accept', headers: '', by: undefined } as const;
        const accepting = acceptMessage(ports, { content, authenticated: undefined, judgement }, destinations, {
          sender: '',
          receivedAt: Date.now(),
          remoteAddress: '127.0.0.1',
          newId,
        });
        const isAccepted = await accepting.then(
          () => true,
          () => false,
        );
        outcomes.set(subject, { to: destinations.map(({ recipient }) => recipient.accountId), isAccepted });
      }

      let together: Promise<void>[] = [];
      for (const next of messages) {
        if (!next.isTogether) await Promise.all(together.splice(0));
        together.push(accept(next));
      }
      await Promise.all(together);
      together = [];
      world.commit.by = (_, commit) => commit();
      // A command whose sender waits no more may still store rows.
      await Promise.all(asked);
      await Promise.all(commits);
      world.reload();
      for (const { accountId, id: inboundId, blob, envelope, isTried } of await world.inbound.overdue(
        [0],
        -1000,
        1000,
        [],
      )) {
        const { receivedAt, summary } = envelope;
        const mail = { inboundId, blob, receivedAt, summary, ...(isTried === true && { isTried }) };
        await world.mailboxes.of(accountId).ask('deliver', mail);
      }

      for (const { isAccepted } of outcomes.values()) {
        if (isAccepted) accepted++;
        else refused++;
      }
      for (const { accountId } of accounts) {
        const emails = await world.sql<{ subject: string; octets: number }[]>`
          select subject, (select sum(length(data))::int from blob_chunks c where c.hash = e.blob) as octets
          from emails e where account_id = ${accountId}`;
        t.true(emails.every(({ octets }) => octets > 0));
        for (const [subject, { to, isAccepted }] of outcomes) {
          const count = emails.filter((email) => email.subject === subject).length;
          if (!to.includes(accountId)) t.is(count, 0);
          else if (isAccepted) t.is(count, 1, 'accepted');
          else t.true(count <= 1, 'refused');
        }
        await checkRows(world, t, accountId);
      }
    }),
    { numRuns: runs(60) },
  );
  t.log(`${accepted} accepted, ${refused} refused`);
  t.true(accepted > 50 && refused > 0);
});
