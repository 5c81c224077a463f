// Tests that a message is queued once, with its octets, whatever the result of the commit that stores both; when the result is
// unknown, the gateway is told so and queues nothing more.
import type { ExecutionContext } from 'ava';
import { summarize } from '../../../src/mail-format/summary.js';
import { blobOf } from '../../../src/store/blobs.js';
import { StoreFault } from '../../../src/store/errors.js';
import { InlineMessages } from '../../../src/store/inline/inline-messages.js';
import type { CommitResult, MailboxChange } from '../../../src/store/mailboxes.js';
import { checkDrafts, checkRows, mailboxWorld } from '../../actors/mailbox/mailbox-world.js';
import { addressee, draftOf } from '../../actors/mailbox/outbound-world.js';
import test from '../../support/test.js';

type Commit = (change: MailboxChange, commit: () => Promise<CommitResult>) => Promise<CommitResult>;

const LOST = new StoreFault('store-unavailable', 'the connection broke', { temporary: true });
const LOCKED = new StoreFault('store-locked', 'rows are locked', { temporary: true });

/** The sender's mailbox is on this node, or on another one. */
const PLACES = ['here', 'elsewhere'] as const;
type Place = (typeof PLACES)[number];

/** Returns the mailbox of a sender who sends a draft; the first commit that stores a message runs through `first`. */
async function sending(t: ExecutionContext, place: Place, subject: string, first?: Commit) {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { id: accountId } = await world.directory.createAccount('sender@example.test', 'Sender');
  const mailbox = world.mailboxes.of(accountId);
  const draft = (await mailbox.ask('createDraft', { draft: await draftOf(world, subject, ['a@remote.test']) })).reply!;
  const { updatedAt } = (await mailbox.ask('outbound', { outboundId: draft.id })).reply!.email;
  const content = blobOf(Buffer.from(`From: sender@example.test\r\nSubject: ${subject}\r\n\r\nhello`));
  let commits = 0;
  world.commit.by = (change, commit) => {
    const isFirst = change.contents.length > 0 && commits++ === 0;
    return isFirst && first !== undefined ? first(change, commit) : commit();
  };
  const outgoing = {
    draft: { id: draft.id, updatedAt },
    sender: 'sender@example.test',
    content: null,
    recipients: [addressee('a@remote.test')],
  };
  const message = { content, summary: summarize(content.index) };
  const stored = async () => {
    await world.blobs.put(content);
    return [{ blob: content.hash, summary: message.summary }];
  };
  const inlineMessages = place === 'here' ? world.inlineMessages : new InlineMessages(() => false, undefined, 60_000);
  return {
    world,
    mailbox,
    commits: () => commits,
    queue: () =>
      inlineMessages.commit(
        accountId,
        [message],
        ([handle], how) => mailbox.ask('enqueue', { ...handle!, ...outgoing }, { deadlineMs: 10_000, ...how }),
        stored,
      ),
    /** `many` is the number of queued emails. */
    async check(many: number) {
      const rows = await world.sql`select id, status from outbound where account_id = ${accountId}`;
      t.deepEqual([...rows], [{ id: draft.id, status: many === 0 ? 'Draft' : 'Queued' }]);
      const copies = await world.sql`select 1 from placements p join folders f
        on f.account_id = p.account_id and f.id = p.folder_id and f.role = 'sent' where p.account_id = ${accountId}`;
      t.is(copies.length, many);
      if (many > 0) t.is((await world.blobs.read(content.hash, 0, content.size)).length, content.size);
      await checkRows(world, t, accountId);
      await checkDrafts(world, t, accountId);
    },
  };
}

const done: readonly (readonly [string, Commit?])[] = [
  ['a commit that nothing disturbs'],
  ['a commit of an owner that is no owner any more', async () => ({ kind: 'fenced' })],
  [
    'a commit that the database refuses',
    async () => {
      throw LOCKED;
    },
  ],
];

for (const place of PLACES) {
  for (const [title, first] of done) {
    test(`${title}, of a mailbox ${place}, leaves the message queued once`, async (t) => {
      const { queue, check, commits } = await sending(t, place, title, first);
      t.is((await queue()).refusal, undefined);
      await check(1);
      t.true(commits() > 0, 'no commit has stored the message');
      t.is((await queue()).refusal, 'noSuchOutbound', 'a draft is sent once');
      await check(1);
    });
  }
}

for (const [isWritten, title] of [
  [true, 'a commit that was made and of which nobody was told'],
  [false, 'a commit that was not made and of which nobody was told'],
] as const) {
  const lost: Commit = async (_, commit) => {
    if (isWritten) await commit();
    throw LOST;
  };
  test(`${title} is not made once more`, async (t) => {
    const { queue, check } = await sending(t, 'here', title, lost);
    await t.throwsAsync(queue(), { instanceOf: StoreFault, code: 'store-unavailable' });
    await check(isWritten ? 1 : 0);
    // The client tries again.
    const { refusal } = await queue();
    t.is(refusal, isWritten ? 'noSuchOutbound' : undefined);
    await check(1);
  });

  test(`${title} is made once when the message travelled with the command`, async (t) => {
    const { queue, check } = await sending(t, 'elsewhere', title, lost);
    const { reply } = await queue();
    t.is(typeof reply?.sentEmailId, 'string');
    await check(1);
  });
}
