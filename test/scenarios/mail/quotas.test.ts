// Tests quotas on a whole node: what the operator sets counts at once for RCPT, IMAP, REST and mail between local accounts.
import { accountOn, port, storeOf } from '../../../dev/node-accounts.js';
import { imapFlow, messageOf } from '../../support/clients/imap-programs.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { placed } from '../../support/clients/placed.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { mansio } from '../../support/command.js';
import { startTestNode } from '../../support/node.js';
import { runProgram } from '../../support/run-program.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';

interface Quota {
  readonly bytes: { readonly used: number; readonly limit: number | null };
  readonly messages: { readonly used: number; readonly limit: number | null };
}

const MESSAGE = 'From: a@remote.test\r\nSubject: hi\r\n\r\nhello';
/** Prints the resources of the account, and the answer to APPEND. */
const IMAPLIB = `
import imaplib, ssl, sys
port, user, key = sys.argv[1:]
client = imaplib.IMAP4_SSL('127.0.0.1', int(port), ssl_context=ssl._create_unverified_context())
client.login(user, key)
for line in client.getquotaroot('INBOX')[1][1]: print(line.decode())
print(client.append('Archive', None, None, b'Subject: a\\r\\n\\r\\n' + b'x' * 900)[1])
`;

test('a limit that the operator sets holds at once, everywhere', async (t) => {
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_QUOTA_MESSAGES: '1000' });
  const [anna, ben] = [await accountOn(node, 'anna'), await accountOn(node, 'ben')];
  const [rest, other] = [new MailboxClient(node, anna.key), new MailboxClient(node, ben.key)];
  const command = async (...args: string[]) =>
    JSON.parse((await mansio(node.dataDir, [...args, '--json'], { MANSIO_QUOTA_MESSAGES: '1000' })).stdout);
  const smtp = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
  const rcpt = async (size: number) => {
    await smtp.command(`MAIL FROM:<a@remote.test> SIZE=${size}`);
    const { code, text } = await smtp.command('RCPT TO:<anna@example.test>');
    await smtp.command('RSET');
    return `${code} ${text.split(' ')[0]}`;
  };
  const quota = () => rest.get<Quota>('/api/quota');
  t.deepEqual(await quota(), { bytes: { used: 0, limit: null }, messages: { used: 0, limit: 1000 } });
  t.is((await smtp.send('a@remote.test', [anna.email], MESSAGE)).code, 250);
  await placed(node);
  const { bytes } = await quota();

  const limit = bytes.used + 1_000;
  const set = await command('quota', 'set', anna.email, '--bytes', String(limit), '--messages', 'none');
  t.deepEqual(set, {
    name: anna.email,
    kind: 'account',
    bytes: { used: bytes.used, limit },
    messages: { used: 1, limit: null },
  });
  await until(async () => (await rcpt(5_000)) === '452 4.2.2');
  t.is(await rcpt(500), '250 2.1.5');

  const python = await runProgram('python3', ['-c', IMAPLIB, String(port(node, 'imaps')), anna.email, anna.key]);
  t.regex(python.output, new RegExp(`STORAGE 1 ${Math.ceil(limit / 1024)} MAILBOX 6 `));
  t.regex(python.output, /APPENDUID/);
  const client = imapFlow(node, anna, true);
  await client.connect();
  const { storage } = (await client.getQuota('INBOX')) || {};
  t.is(storage?.limit, Math.ceil(limit / 1024) * 1024);
  const refused = await t.throwsAsync(client.append('Archive', messageOf('too much')));
  t.is((refused as { serverResponseCode?: string }).serverResponseCode, 'OVERQUOTA');
  // The notice is placed even so, and takes the rest.
  await until(async () => (await rest.inbox()).some(({ subject }) => subject === 'Your mailbox is nearly full'));
  await until(async () => (await rcpt(0)) === '452 4.2.2');
  const sql = await storeOf(node);
  const isFullFor = async (hours: number) => {
    const { count } = await sql`
      update accounts set full_since = now() - ${hours}::int * interval '1 hour'
      where email = ${anna.email} and full_since is not null`;
    return count === 1;
  };
  await until(() => isFullFor(72));
  // A node reads again what an account uses when a limit is set.
  const setAgain = () => command('quota', 'set', anna.email, '--bytes', String(limit));
  await setAgain();
  await until(async () => (await rcpt(0)) === '552 5.2.2');
  await isFullFor(71);
  await sql.end();
  await setAgain();
  await until(async () => (await rcpt(0)) === '452 4.2.2');
  await client.mailboxOpen('INBOX');
  t.truthy(await client.messageMove('1', 'Trash'));
  await client.logout();

  const draft = {
    fromAddress: anna.email,
    subject: 's',
    textBody: 't',
    recipients: [{ address: ben.email, type: 'To' }],
  };
  for (const path of ['/api/outbound/drafts', '/api/outbound/send']) {
    const response = await rest.request('POST', path, draft);
    t.is(response.status, 507, path);
    t.like(await response.json(), { title: 'Insufficient Storage' });
  }
  const sent = await other.request('POST', '/api/outbound/send', {
    ...draft,
    fromAddress: ben.email,
    recipients: [{ address: anna.email, type: 'To' }],
  });
  const { id } = (await sent.json()) as { id: string };
  const recipients = async () =>
    (await other.get<{ recipients: { status: string; statusCode: string }[] }>(`/api/outbound/${id}`)).recipients;
  await until(async () => (await recipients())[0]!.statusCode === '4.2.2');
  t.is((await recipients())[0]!.status, 'Pending');

  await command('quota', 'set', anna.email, '--bytes', 'default');
  await until(async () => (await rcpt(5_000)) === '250 2.1.5');
  t.is((await other.request('POST', `/api/outbound/${id}/retry`)).status, 200);
  await until(async () => (await recipients())[0]!.status === 'Delivered');
  await placed(node);
  await command('quota', 'set', 'example.test', '--messages', '1');
  await until(async () => (await rcpt(0)) === '452 4.2.2');
  const listed: readonly { name: string; messages: { used: number } }[] = await command('quota', 'list');
  const used = Object.fromEntries(listed.map(({ name, messages }) => [name, messages.used]));
  t.is(used['example.test'], used[anna.email]! + used[ben.email]!);
  t.is(used[anna.email], (await quota()).messages.used);
  // The limit of the domain binds: REST and IMAP name it, and the shape of /api/quota is that of the account.
  const full = await rest.request('POST', '/api/outbound/drafts', draft);
  t.is(full.status, 507);
  t.regex(((await full.json()) as { detail: string }).detail, /^The domain example\.test is full/);
  t.deepEqual(await quota(), { ...(await quota()), messages: { used: used[anna.email]!, limit: null } });
  const refusals = await runProgram('python3', ['-c', IMAPLIB, String(port(node, 'imaps')), anna.email, anna.key]);
  t.regex(refusals.output, new RegExp(`"example\\.test" \\(MESSAGE ${used['example.test']} 1\\)`));
  t.regex(refusals.output, /\[OVERQUOTA\] The domain example\.test is full/);
  t.is((await node.stop()).code, 0);
});
