// Tests on whole nodes that moves to and from Junk teach: the account's own filter, which then judges its mail, over a restart, and a real
// rspamd, which learns each message once.
import type { ExecutionContext } from 'ava';
import { generatedMail } from '../../../dev/junk-mail.js';
import { createAccount, port, storeOf, type TestAccount } from '../../../dev/node-accounts.js';
import { junkCut } from '../../../src/mail-format/junk/junk-cut.js';
import { tokensOfMessage } from '../../../src/mail-format/junk/junk-tokens.js';
import { learnMessage } from '../../../src/mail-format/junk/junk-verdict.js';
import { JunkWords } from '../../../src/mail-format/junk/junk-words.js';
import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import { imapFlow } from '../../support/clients/imap-programs.js';
import { type EmailList, MailboxClient } from '../../support/clients/mailbox-client.js';
import { placed } from '../../support/clients/placed.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { startRspamd } from '../../support/peers/rspamd.js';
import test from '../../support/test.js';
import { testWith } from '../../support/test-with.js';
import { until } from '../../support/until.js';

/** The messages of each kind that the account teaches, and those that arrive then. */
const LEARNT = 180;
const NEW = 20;

async function anna(node: TestNode) {
  const sql = await storeOf(node);
  const account = await createAccount(sql, 'anna@example.test', ['app', 'imap']);
  const counts = async () => {
    const [row] = await sql<{ due: number; learnt: number; junk: number }[]>`
      select (select count(*)::int from due_junk_lessons) as due, count(*)::int as learnt,
        (count(*) filter (where is_junk))::int as junk from junk_lessons`;
    return row!;
  };
  return { sql, account, counts };
}

test('moves of an IMAP program teach the filter of the account: the next junk goes to Junk, and other mail does not', async (t) => {
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test' });
  const { sql, account, counts } = await anna(node);
  const mail = [...generatedMail(3, LEARNT + NEW)];
  const junk = mail.flatMap(({ message, isJunk }) => (isJunk ? [message] : []));
  const letters = mail.flatMap(({ message, isJunk }) => (isJunk ? [] : [message]));
  const client = imapFlow(node, account);
  await client.connect();
  for (const letter of letters.slice(0, LEARNT)) await client.append('INBOX', letter, ['\\Seen']);
  const spam: number[] = [];
  for (const one of junk.slice(0, LEARNT)) {
    const appended = await client.append('INBOX', one);
    if (appended !== false) spam.push(appended.uid!);
  }
  await client.mailboxOpen('INBOX');
  const areLearnt = (learnt: number, junk: number) =>
    until(async () => JSON.stringify(await counts()) === JSON.stringify({ due: 0, learnt, junk }));
  const moved = async (uids: readonly number[], target: string) => {
    const answer = await client.messageMove(uids.join(','), target, { uid: true });
    return answer === false ? undefined : answer.uidMap?.get(uids[0]!);
  };
  // There and back: the message is no junk any more, and then it is again. A letter serves as an example of other mail.
  const there = await moved(spam.slice(0, 1), 'Junk');
  await areLearnt(2, 1);
  await client.mailboxOpen('Junk');
  const back = await moved([there!], 'INBOX');
  await areLearnt(2, 0);
  await client.mailboxOpen('INBOX');
  await client.messageCopy(String(back), 'Junk', { uid: true });
  await areLearnt(2, 1);
  await moved(spam.slice(1), 'Junk');
  await areLearnt(2 * LEARNT, LEARNT);
  await client.logout();

  await node.kill('SIGKILL');
  const again = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_DATA_DIR: node.dataDir });
  const smtp = await SmtpClient.greeted(`127.0.0.1:${port(again, 'mx')}`);
  const mailbox = new MailboxClient(again, account.key);
  const total = async (folder: string) => (await mailbox.get<EmailList>(`/api/folders/${folder}/emails`)).totalCount;
  const arrive = async (messages: readonly Buffer[]) => {
    const before = [await total('junk'), await total('inbox')];
    for (const message of messages)
      t.is((await smtp.send('bo@peer.test', [account.email], message.toString('latin1'))).code, 250);
    await placed(again);
    return [(await total('junk')) - before[0]!, (await total('inbox')) - before[1]!];
  };
  // Nobody has seen these letters and this junk; they are of the same kinds.
  t.deepEqual(await arrive(letters.slice(LEARNT)), [0, NEW], 'no letter goes to Junk');
  const [found, missed] = await arrive(junk.slice(LEARNT));
  t.is(found! + missed!, NEW);
  t.true(found! > NEW / 2, `${found} of ${NEW} junk messages are found`);
  // An allowed sender wins over the filter.
  await mailbox.request('PUT', '/api/senders', { allowed: ['friend.test'], blocked: [] });
  const friendly = junk[0]!.toString('latin1').replace(/^From: .*$/m, 'From: <bo@friend.test>');
  const inbox = await total('inbox');
  t.is((await smtp.send('bo@friend.test', [account.email], friendly)).code, 250);
  await placed(again);
  t.is((await total('inbox')) - inbox, 1);
  await sql.end();
  t.is((await again.stop()).code, 0);
  await withoutFilter(t, node.dataDir, account, junk.slice(LEARNT));
});

/** The setting turns the filter off: the junk that it has learnt goes to the inbox, and a move teaches nothing. */
async function withoutFilter(t: ExecutionContext, dataDir: string, account: TestAccount, junk: readonly Buffer[]) {
  const settings = { MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_JUNK_FILTER: 'off' };
  const node = await startTestNode({ ...settings, MANSIO_DATA_DIR: dataDir });
  const smtp = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
  const mailbox = new MailboxClient(node, account.key);
  const list = (folder: string) => mailbox.get<EmailList>(`/api/folders/${folder}/emails`);
  const [inJunk, inInbox] = [(await list('junk')).totalCount, (await list('inbox')).totalCount];
  for (const message of junk)
    t.is((await smtp.send('bo@peer.test', [account.email], message.toString('latin1'))).code, 250);
  await placed(node);
  t.is((await list('junk')).totalCount, inJunk);
  const { items, totalCount } = await list('inbox');
  t.is(totalCount, inInbox + junk.length);
  const sql = await storeOf(node);
  const lessons = async () => (await sql`select 1 from due_junk_lessons union all select 1 from junk_lessons`).length;
  const learnt = await lessons();
  const move = { emailIds: [items[0]!.id], folderId: 'junk' };
  t.is((await mailbox.request('POST', '/api/emails/bulk/move', move)).status, 200);
  t.is((await list('junk')).totalCount, inJunk + 1);
  t.is(await lessons(), learnt);
  await sql.end();
  t.is((await node.stop()).code, 0);
}

test('an account that has taught nothing finds junk by what others of its domain have taught', async (t) => {
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test,other.test' });
  const sql = await storeOf(node);
  for (let seed = 1; seed <= 10; seed++) {
    const { id } = await createAccount(sql, `teacher${seed}@example.test`, ['app']);
    const words = new JunkWords();
    for (const { message, isJunk } of generatedMail(seed, 100)) {
      const index = indexMessage(message);
      learnMessage(tokensOfMessage(index, junkCut(index), message), isJunk, words);
    }
    await sql`insert into junk_words (account_id, words) values (${id}, ${words.stored() as Buffer})`;
  }
  const recipients = [
    await createAccount(sql, 'new@example.test', ['app']),
    await createAccount(sql, 'new@other.test', ['app']),
  ];
  await node.kill('SIGKILL');
  const again = await startTestNode({
    MANSIO_HOSTED_DOMAINS: 'example.test,other.test',
    MANSIO_DATA_DIR: node.dataDir,
  });
  const store = await storeOf(again);
  await until(async () => (await store`select from junk_bases where words <> ''`).length === 1);
  const smtp = await SmtpClient.greeted(`127.0.0.1:${port(again, 'mx')}`);
  const mail = [...generatedMail(99, 30)];
  for (const { message } of mail) {
    const emails = recipients.map(({ email }) => email);
    t.is((await smtp.send('bo@peer.test', emails, message.toString('latin1'))).code, 250);
  }
  await placed(again);
  const junkOf = async ({ key }: { readonly key: string }) => {
    const path = '/api/folders/junk/emails?pageSize=100';
    return (await new MailboxClient(again, key).get<EmailList>(path)).items.map(({ subject }) => subject);
  };
  const subjects = new Set(
    mail.flatMap(({ message, isJunk }) =>
      isJunk ? (/^Subject: (.*)$/m.exec(message.toString('latin1'))?.[1] ?? []) : [],
    ),
  );
  const found = await junkOf(recipients[0]!);
  t.true(found.length >= 3, `${found.length} of 30 junk messages are found`);
  for (const subject of found) t.true(subjects.has(subject), `${subject} is junk`);
  t.deepEqual(await junkOf(recipients[1]!), [], 'the other domain has no base');
  await Promise.all([sql.end(), store.end()]);
  t.is((await again.stop()).code, 0);
});

testWith('rspamd')('moves over REST teach rspamd, which learns a message once', async (t) => {
  const rspamd = await startRspamd(t);
  const node = await startTestNode({
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_RSPAMD_URL: rspamd.url,
    MANSIO_RSPAMD_CONTROLLER_URL: rspamd.controller,
  });
  const { sql, account } = await anna(node);
  const mailbox = new MailboxClient(node, account.key);
  const smtp = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
  const [letter] = [...generatedMail(4, 1)];
  t.is((await smtp.send('bo@peer.test', [account.email], letter!.message.toString('latin1'))).code, 250);
  await placed(node);
  const [email] = await mailbox.inbox();
  const learnt = async () => {
    const answer = (await (await fetch(`${rspamd.controller}/stat`)).json()) as {
      statfiles: { symbol: string; revision: number }[];
    };
    const revision = (symbol: string) => answer.statfiles.find((file) => file.symbol === symbol)?.revision ?? 0;
    return [revision('BAYES_SPAM'), revision('BAYES_HAM')];
  };
  const move = async (role: string) => {
    const body = { emailIds: [email!.id], folderId: role };
    const response = await mailbox.request('POST', '/api/emails/bulk/move', body);
    t.is(response.status, 200, await response.text());
    await until(async () => (await sql`select from due_junk_lessons`).length === 0);
  };
  await move('junk');
  await until(async () => (await learnt())[0] === 1);
  t.deepEqual(await learnt(), [1, 0]);
  // It is in Junk already: that is no further lesson, and a repeated one is refused by rspamd.
  await sql`insert into due_junk_lessons (account_id, email_id, is_junk) values (${account.id}, ${email!.id}, true)`;
  await until(async () => (await sql`select from due_junk_lessons`).length === 0);
  t.deepEqual(await learnt(), [1, 0]);
  await move('inbox');
  await until(async () => (await learnt())[1] === 1);
  await sql.end();
  t.is((await node.stop()).code, 0);
});
