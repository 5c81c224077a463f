// Tests scripts that edit headers on mail that arrives: the edited message is content of its own for one account, and of each header there is
// one email.
import type { ExecutionContext } from 'ava';
import { StoreFault } from '../../../../src/store/errors.js';
import test from '../../../support/test.js';
import { checkRows } from '../mailbox-world.js';
import { sender } from '../outbound-world.js';

/** More than is stored with others in one statement. */
const LARGE = 'a line of the body\r\n'.repeat(20_000);

async function start(t: ExecutionContext, commands: string) {
  const { world, accountId, mailbox } = await sender(t);
  const content = `require ["editheader", "fileinto", "copy", "vacation", "imap4flags"]; ${commands}`;
  t.truthy((await mailbox.ask('putSieveScript', { name: 'main', content, isActive: true })).reply);
  const envelope = { sender: 'ann@far.test', recipient: 'me@example.test' };
  /** The emails of an account: folder, subject and message. */
  async function emailsOf(id: string) {
    const rows = await world.sql<{ name: string; subject: string; blob: string; size: number }[]>`
      select f.name, e.subject, encode(e.blob, 'hex') as blob, e.size::int as size from placements p
        join folders f on f.account_id = p.account_id and f.id = p.folder_id
        join emails e on e.account_id = p.account_id and e.id = p.email_id
      where p.account_id = ${id} order by f.name, e.id`;
    return Promise.all(
      rows.map(async ({ name, subject, blob, size }) => {
        const text = Buffer.from(await world.blobs.read(blob, 0, size)).toString();
        return { name, subject, blob, text };
      }),
    );
  }
  return { world, accountId, mailbox, envelope, emailsOf };
}

test('an edited message is stored for its account alone, in the commit of the delivery', async (t) => {
  const edit =
    'deleteheader "Subject"; addheader "Subject" "Grüße"; if header "subject" "Grüße" { fileinto "Archive"; }';
  const { world, accountId, envelope, emailsOf } = await start(t, edit);
  const other = await world.directory.createAccount('other@example.test', 'x');
  const deliveries = await world.spool([accountId, other.id], Date.now(), { subject: 'one', body: LARGE });
  for (const delivery of deliveries) t.truthy((await delivery.deliver(envelope)).reply!.emailId);
  const [mine] = await emailsOf(accountId);
  const [theirs] = await emailsOf(other.id);
  t.like(mine, { name: 'Archive', subject: 'Grüße' });
  t.like(theirs, { name: 'INBOX', subject: 'one', blob: deliveries[0]!.blob });
  const field = 'Subject: =?UTF-8?B?R3LDvMOfZQ==?=';
  const lines = theirs!.text.split('\r\n');
  const expected = [field, ...lines.filter((line) => line !== 'Subject: one')].join('\r\n');
  t.is(mine!.text.toLowerCase(), expected.toLowerCase());
  for (const id of [accountId, other.id]) await checkRows(world, t, id);
});

test('the message as it came is collected when only edited ones are kept', async (t) => {
  const { world, accountId, envelope, emailsOf } = await start(t, 'addheader "X-A" "1";');
  const [delivery] = await world.spool([accountId], Date.now());
  await delivery!.deliver(envelope);
  const stored = async () =>
    (await world.sql<{ hash: string }[]>`select encode(hash, 'hex') as hash from blobs`).map(({ hash }) => hash);
  t.true((await stored()).includes(delivery!.blob));
  await world.sql`update blobs set stored_at = now() - interval '1 day'`;
  await world.sql`update blob_candidates set at = now() - interval '1 day'`;
  while ((await world.blobs.collect(1_000, 100)) > 0);
  t.deepEqual(
    await stored(),
    (await emailsOf(accountId)).map(({ blob }) => blob),
  );
});

test('actions with different headers make emails of their own, and what is sent has the header of its place', async (t) => {
  const { world, accountId, mailbox, envelope, emailsOf } = await start(
    t,
    `redirect :copy "a@elsewhere.test"; keep;
    addheader "X-A" "1"; fileinto :flags "\\\\Seen" "Archive"; redirect :copy "b@elsewhere.test"; redirect "c@elsewhere.test";
    vacation "I am away.";`,
  );
  const [delivery] = await world.spool([accountId], Date.now());
  await delivery!.deliver(envelope);
  const emails = await emailsOf(accountId);
  t.deepEqual(
    emails.map(({ name, text }) => [name, text.startsWith('X-A: 1\r\n')]),
    [
      ['Archive', true],
      ['INBOX', false],
    ],
  );
  const { due } = (await mailbox.ask('dueAutomaticMail', {})).reply!;
  const [asCame, edited] = [delivery!.blob, emails[0]!.blob];
  t.deepEqual(
    due.map(({ kind, targets, blob }) => [kind, targets, blob === edited ? 'edited' : blob === asCame && 'as it came']),
    [
      ['forward', ['a@elsewhere.test'], 'as it came'],
      ['forward', ['b@elsewhere.test', 'c@elsewhere.test'], 'edited'],
      ['vacation', [], 'as it came'],
    ],
  );
  await checkRows(world, t, accountId);
});

test('a message whose edit cannot be stored now is placed later, once', async (t) => {
  const { world, accountId, envelope, emailsOf } = await start(t, 'addheader "X-A" "1";');
  const [delivery] = await world.spool([accountId], Date.now());
  const { put } = world.blobs;
  world.blobs.put = () => Promise.reject(new StoreFault('store-unavailable', 'no answer', { temporary: true }));
  t.is((await delivery!.deliver(envelope)).refusal, 'attemptUnderWay');
  t.deepEqual(await emailsOf(accountId), []);
  world.blobs.put = put;
  const { emailId } = (await delivery!.deliver(envelope)).reply!;
  t.is((await delivery!.deliver(envelope)).reply!.emailId, null, 'the inbound row is consumed');
  t.truthy(emailId);
  t.is((await emailsOf(accountId)).length, 1);
  await checkRows(world, t, accountId);
});
