// Tests that what an account has taught puts no mail of its contacts into Junk, stored or inline, as long as the author is proven.
import { createHash, randomUUID } from 'node:crypto';
import { junkCut } from '../../../../src/mail-format/junk/junk-cut.js';
import { tokensOfMessage } from '../../../../src/mail-format/junk/junk-tokens.js';
import { FEWEST_LEARNT } from '../../../../src/mail-format/junk/junk-verdict.js';
import { JunkWords } from '../../../../src/mail-format/junk/junk-words.js';
import { indexMessage } from '../../../../src/mail-format/mime-index/indexer.js';
import { summarize } from '../../../../src/mail-format/summary.js';
import test from '../../../support/test.js';
import { mailboxWorld } from '../mailbox-world.js';

const JUNK = 'cheap pills lottery winner casino jackpot million replica watches';
const LETTER = 'meeting agenda minutes lunch train project schedule garden birthday';

/** Words of an account that has learnt both kinds. */
function taught(): JunkWords {
  const words = new JunkWords();
  for (const [body, isJunk] of [
    [JUNK, true],
    [LETTER, false],
  ] as const) {
    const raw = Buffer.from(`Subject: hello\r\n\r\n${body}`);
    const index = indexMessage(raw);
    for (let n = 0; n < FEWEST_LEARNT; n++) words.learn(tokensOfMessage(index, junkCut(index), raw), isJunk);
  }
  return words;
}

async function setUp() {
  const words = taught();
  const junk = { learning: { note: () => undefined }, words: { of: () => ({ own: words, base: undefined }) } };
  const world = await mailboxWorld(undefined, { junk });
  const { id: accountId } = await world.directory.createAccount('zoe@example.test', 'Zoe');
  const mailbox = world.mailboxes.of(accountId);
  await world.sql`insert into known_recipients (account_id, address) values (${accountId}, 'ann@friend.test')`;
  const folderOf = async (emailId: string) => {
    const { reply } = await mailbox.ask('list', { folder: 'junk', page: 1, pageSize: 100 });
    return reply!.items.some(({ id }) => id === emailId) ? 'junk' : 'inbox';
  };
  const storedIn = async (from: string, body: string, more: { isAuthorProven?: true } = {}) => {
    const [mail] = await world.spool([accountId], Date.now(), { from, body });
    return folderOf((await mail!.deliver(more)).reply!.emailId!);
  };
  /** The folder of a message that the mailbox stores with its email; `declined` when it has to be stored first. */
  const inlineIn = async (from: string, body: string, more: { isAuthorProven?: true } = {}) => {
    const raw = Buffer.from(`From: ${from}\r\nMessage-ID: <${randomUUID()}@b>\r\n\r\n${body}`);
    const index = indexMessage(raw);
    const hash = createHash('sha256').update(raw).digest('hex');
    const content = { hash, size: raw.length, index, chunks: () => [raw] };
    const inboundId = randomUUID();
    const { answer } = await world.inlineMessages.commitInline(
      accountId,
      [{ content, summary: summarize(index) }],
      ([handle]) => mailbox.ask('deliver', { ...handle!, inboundId, receivedAt: 1, ...more } as never),
      inboundId,
    );
    return answer?.reply === undefined ? 'declined' : folderOf(answer.reply.emailId!);
  };
  return { world, storedIn, inlineIn };
}

test('junk of a contact goes to the inbox when its author is proven, and to Junk when it may be forged', async (t) => {
  const { world, storedIn, inlineIn } = await setUp();
  t.teardown(world.end);
  const proven = { isAuthorProven: true } as const;
  t.is(await storedIn('eve@evil.test', JUNK), 'junk');
  t.is(await storedIn('eve@evil.test', LETTER), 'inbox');
  t.is(await storedIn('Ann@Friend.test', JUNK, proven), 'inbox');
  t.is(await storedIn('ann@friend.test', JUNK), 'junk');
  t.is(await storedIn('eve@friend.test', JUNK, proven), 'junk', 'the account has never written to this address');
  t.is(await inlineIn('eve@evil.test', JUNK), 'junk');
  t.is(await inlineIn('ann@friend.test', JUNK), 'junk');
  t.is(await inlineIn('ann@friend.test', LETTER, proven), 'inbox');
  t.is(await inlineIn('ann@friend.test', JUNK, proven), 'declined', 'the store is asked whether she is a contact');
  t.is(await inlineIn('eve@evil.test', JUNK, proven), 'declined');
});

test('while the store does not say whether the author is a contact, the mail goes to the inbox', async (t) => {
  const { world, storedIn } = await setUp();
  t.teardown(world.end);
  const { hasWrittenTo } = world.store;
  Object.assign(world.store, { hasWrittenTo: () => Promise.reject(new Error('away')) });
  t.is(await storedIn('eve@evil.test', JUNK, { isAuthorProven: true }), 'inbox');
  Object.assign(world.store, { hasWrittenTo });
  t.is(await storedIn('eve@evil.test', JUNK, { isAuthorProven: true }), 'junk');
});
