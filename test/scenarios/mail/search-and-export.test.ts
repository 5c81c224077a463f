// Tests search and export as a user sees them on a whole node: mail by SMTP is found at once, also after a kill of the node,
// and the export returns it byte for byte, as Python reads it.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SmtpSender } from '../../../bench/support/smtp-load.js';
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { type EmailList, MailboxClient } from '../../support/clients/mailbox-client.js';
import { placed } from '../../support/clients/placed.js';
import { nodeDirectory, startTestNode, type TestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { testWith } from '../../support/test-with.js';

const READER = `
import mailbox, re, sys, base64
box = mailbox.mbox(sys.argv[1])
for key in box.keys():
    print(base64.b64encode(re.sub(rb'(?m)^>(>*From )', rb'\\1', box.get_bytes(key))).decode())
`;

async function deliver(node: TestNode, to: string, messages: readonly string[]): Promise<void> {
  const sender = await SmtpSender.open('127.0.0.1', port(node, 'mx'));
  for (const message of messages) {
    const stuffed = message.replace(/^\./gm, '..');
    if (!(await sender.send('zoe@remote.test', [to], Buffer.from(`${stuffed}\r\n.\r\n`)))) throw new Error('refused');
  }
  sender.close();
}

const message = (subject: string, body: string) =>
  `From: =?utf-8?Q?Zo=C3=AB?= <zoe@remote.test>\r\nSubject: ${subject}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${body}`;

test('mail is found as soon as it is placed, and after a kill', async (t) => {
  const settings = {
    MANSIO_DATA_DIR: await nodeDirectory('mansio-search-'),
    MANSIO_HOSTED_DOMAINS: 'example.test',
  };
  let node = await startTestNode(settings);
  const sql = await storeOf(node);
  const user = await createAccount(sql, 'sam@example.test');
  await sql.end();
  const found = async (query: string) =>
    (await new MailboxClient(node, user.key).get<EmailList>(`/api/emails/search?${query}`)).items.map((e) => e.subject);
  for (let i = 0; i < 5; i++) {
    await deliver(node, user.email, [message(`mail ${i}`, `Grüße, number${i}`)]);
    await placed(node);
    t.deepEqual(await found(`q=number${i}`), [`mail ${i}`]);
  }
  t.is((await found('q=GRUSSE+zoe')).length, 5);
  t.is((await found('q=zoe@remote.test&isRead=false&toDate=2000-01-01')).length, 0);
  const many = Array.from({ length: 130 }, (_, i) => message(`late ${i}`, `late${i}`));
  await deliver(node, user.email, many);
  await node.kill('SIGKILL');
  node = await startTestNode(settings);
  await placed(node);
  t.deepEqual(await found('q=late129'), ['late 129']);
  t.deepEqual(await found('q=late0'), ['late 0']);
  t.is((await new MailboxClient(node, user.key).get<EmailList>('/api/emails/search?q=late')).totalCount, 130);
  await node.stop();
});

testWith('python3')('an export holds every message as it was received, oldest first, once in a while', async (t) => {
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_MBOX_EXPORT_INTERVAL: '300' });
  const sql = await storeOf(node);
  const user = await createAccount(sql, 'eve@example.test');
  await sql.end();
  const client = new MailboxClient(node, user.key);
  const bodies = ['From here\r\n>From there\r\n>>From far', '', 'no end', '\r\n\r\nFrom\r\n', 'x\r\n'.repeat(300_000)];
  for (const [i, body] of [...bodies, ...bodies].entries()) {
    await deliver(node, user.email, [message(`mail ${i}`, body)]);
    await placed(node);
  }
  const emails = (await client.inbox()).reverse();
  const expected: string[] = [];
  for (const { id } of emails) {
    const eml = await client.request('GET', `/api/emails/${id}/export/eml`);
    expected.push(
      Buffer.from(await eml.arrayBuffer())
        .toString('latin1')
        .replaceAll('\r\n', '\n'),
    );
  }
  const response = await client.request('GET', '/api/external/emails/export/mbox');
  t.is(response.headers.get('content-type'), 'application/mbox');
  const file = join(temporaryDirectory('mansio-export-'), 'mail.mbox');
  writeFileSync(file, Buffer.from(await response.arrayBuffer()));
  const { stdout } = await promisify(execFile)('python3', ['-c', READER, file], { maxBuffer: 1e8 });
  const read = stdout
    .trim()
    .split('\n')
    .map((line) => Buffer.from(line, 'base64').toString('latin1'));
  t.is(read.length, 10);
  read.forEach((text, i) => {
    t.true(text === expected[i], `message ${i}`);
  });
  const again = await Promise.all([1, 2].map(() => client.request('GET', '/api/emails/export/mbox')));
  for (const refused of again) {
    t.is(refused.status, 429);
    // A busy machine may have taken a while since the export began.
    const seconds = refused.headers.get('retry-after')!;
    t.regex(seconds, /^\d+$/);
    t.true(Number(seconds) > 100 && Number(seconds) <= 300, seconds);
  }
  await node.stop();
});
