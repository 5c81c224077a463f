// Tests the active script of an account on mail that arrives: inline and stored, behind the filters, in the store of the mailbox.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { flagNames } from '../../../../src/mail-format/flags.js';
import { summarize } from '../../../../src/mail-format/summary.js';
import { blobOf } from '../../../../src/store/blobs.js';
import { newId } from '../../../../src/store/ids/new-id.js';
import { NO_RULE } from '../../../support/filter-row.js';
import test from '../../../support/test.js';
import { checkRows, type Mail, mailboxWorld } from '../mailbox-world.js';

async function start(t: ExecutionContext) {
  const world = await mailboxWorld();
  t.teardown(() => world.end());
  const account = await world.directory.createAccount(`${randomUUID()}@example.test`, 'x');
  const mailbox = world.mailboxes.of(account.id);
  const use = (content: string, name = 'main', isActive: boolean | null = true) =>
    mailbox.ask('putSieveScript', { name, content, isActive });
  /** The folders of an email by name, and its flags. */
  async function placesOf(emailId: string | null) {
    if (emailId === null) return [];
    const rows = await world.sql`
      select f.name from placements p join folders f on f.account_id = p.account_id and f.id = p.folder_id
      where p.account_id = ${account.id} and p.email_id = ${emailId} order by f.name`;
    const [email] = await world.sql`select flags, keywords from emails where id = ${emailId}`;
    const flags = [...flagNames(email!['flags'] as number), ...((email!['keywords'] as string[] | null) ?? [])];
    return [...rows.map((row) => row['name'] as string), ...flags];
  }
  async function deliver(mail: Mail = {}, more: { readonly isJunk?: boolean } = {}) {
    const [delivery] = await world.spool([account.id], Date.now(), mail);
    const { reply } = await delivery!.deliver(more);
    return placesOf(reply!.emailId);
  }
  return { world, accountId: account.id, mailbox, use, deliver, placesOf };
}

test('a script files, flags and discards stored mail by header and body', async (t) => {
  const { world, accountId, mailbox, use, deliver } = await start(t);
  t.deepEqual(await deliver(), ['INBOX']);
  await mailbox.ask('createFolder', { name: 'Lists', role: 'folder' });
  await use(`require ["fileinto", "imap4flags", "mailbox", "body", "copy", "special-use", "variables"];
    if header :matches "subject" "[*] *" { fileinto :create "Lists/\${1}"; stop; }
    if header "subject" "list" { fileinto :flags ["work"] "lists"; stop; }
    if header "subject" "copy" { fileinto :copy "Lists"; stop; }
    if header "subject" "gone" { discard; stop; }
    if header "subject" "junk" { fileinto :specialuse "\\\\Junk" "None"; stop; }
    if header "subject" "none" { fileinto "None"; stop; }
    if header "subject" "draft" { fileinto "Drafts"; stop; }
    if body :contains "offer" { fileinto "Archive"; }`);
  t.deepEqual(await deliver({ subject: 'hello' }), ['INBOX']);
  t.deepEqual(await deliver({ subject: '[Cats] one' }), ['Lists/Cats']);
  t.deepEqual(await deliver({ subject: '[cats] two' }), ['Lists/Cats']);
  t.deepEqual(await deliver({ subject: 'list' }), ['Lists', 'work']);
  t.deepEqual(await deliver({ subject: 'copy' }), ['INBOX', 'Lists']);
  t.deepEqual(await deliver({ subject: 'gone' }), []);
  t.deepEqual(await deliver({ subject: 'junk' }), ['Junk']);
  t.deepEqual(await deliver({ subject: 'none' }), ['INBOX']);
  t.deepEqual(await deliver({ subject: 'draft' }), ['INBOX']);
  t.deepEqual(await deliver({ body: 'a great Offer' }), ['Archive']);
  t.deepEqual(await deliver({ subject: 'gone' }, { isJunk: true }), ['Junk'], 'no script judges junk');
  await mailbox.ask('activateSieveScript', { name: null });
  t.deepEqual(await deliver({ subject: 'gone' }), ['INBOX']);
  await checkRows(world, t, accountId);
});

test('filters come first: one that stops or deletes ends the evaluation, and keep leaves the email where they put it', async (t) => {
  const { mailbox, use, deliver } = await start(t);
  const { reply } = await mailbox.ask('createFolder', { name: 'Moved', role: 'folder' });
  const filter = async (more: object) =>
    t.truthy((await mailbox.ask('putFilter', { rule: { ...NO_RULE, ...more } as never })).reply);
  await filter({ subjectContains: 'moved', moveToFolderId: reply!.id, flag: '\\Flagged' });
  await filter({ subjectContains: 'stop', stop: true });
  await filter({ subjectContains: 'delete', delete: true });
  await use(
    'require ["fileinto", "imap4flags"]; if header :contains "subject" "file" { fileinto :flags "s" "Archive"; }',
  );
  t.deepEqual(await deliver({ subject: 'moved' }), ['Moved', '\\Flagged']);
  t.deepEqual(await deliver({ subject: 'moved, file' }), ['Archive', '\\Flagged', 's']);
  t.deepEqual(await deliver({ subject: 'stop, file' }), ['INBOX']);
  t.deepEqual(await deliver({ subject: 'delete, file' }), []);
});

test('scripts include others, and a fault keeps the mail', async (t) => {
  const { use, deliver } = await start(t);
  await use('require ["fileinto", "body"]; if body :contains "deep" { fileinto "Archive"; }', 'part', null);
  await use('require "include"; include "part";');
  t.deepEqual(await deliver({ body: 'deep' }), ['Archive']);
  t.deepEqual(await deliver({ body: 'flat' }), ['INBOX']);
  await use('require ["fileinto", "include"]; fileinto "Archive"; include "missing";');
  t.deepEqual(await deliver(), ['INBOX']);
  await use('require "include"; include "main";');
  t.deepEqual(await deliver(), ['INBOX'], 'a script that includes itself ends');
  await use('this does not compile');
  t.deepEqual(await deliver(), ['INBOX']);
});

test('a script judges inline mail in memory', async (t) => {
  const { world, accountId, mailbox, use, placesOf } = await start(t);
  await use('require ["fileinto", "body"]; if body :contains "offer" { fileinto "Archive"; }');
  const content = blobOf(Buffer.from(`Message-ID: <${newId()}@b>\r\nSubject: x\r\n\r\nan offer`));
  const inboundId = newId();
  const outcome = await world.inlineMessages.commitInline(
    accountId,
    [{ content, summary: summarize(content.index) }],
    ([handle]) => mailbox.ask('deliver', { ...handle!, inboundId, receivedAt: 1 } as never),
    inboundId,
  );
  t.deepEqual(await placesOf(outcome.answer!.reply!.emailId), ['Archive']);
});

test('a script tests the envelope', async (t) => {
  const { world, accountId, use, placesOf } = await start(t);
  await use(`require ["fileinto", "envelope", "subaddress"];
    if envelope :detail "to" "news" { fileinto "Archive"; }
    if envelope "from" "" { fileinto "Junk"; }`);
  const deliver = async (envelope: { readonly sender?: string; readonly recipient?: string }) => {
    const [spooled] = await world.spool([accountId], 1);
    return placesOf((await spooled!.deliver(envelope)).reply!.emailId);
  };
  t.deepEqual(await deliver({ sender: 'a@example.org', recipient: 'me+news@example.test' }), ['Archive']);
  t.deepEqual(await deliver({ sender: '', recipient: 'me@example.test' }), ['Junk']);
  t.deepEqual(await deliver({ sender: 'a@example.org' }), ['INBOX']);
});

test('mail that a script cannot read is placed later', async (t) => {
  const { world, accountId, mailbox, use, placesOf } = await start(t);
  await use('require "fileinto"; if header "subject" "file" { fileinto "Archive"; }');
  const [delivery] = await world.spool([accountId], 1, { subject: 'file' });
  const { index } = world.blobs;
  world.blobs.index = () => Promise.reject(new Error('the store does not answer'));
  await t.throwsAsync(delivery!.deliver());
  world.blobs.index = index;
  t.deepEqual(await placesOf((await delivery!.deliver()).reply!.emailId), ['Archive']);
  t.is((await mailbox.ask('sieveScripts', {})).reply!.scripts.length, 1);
});
