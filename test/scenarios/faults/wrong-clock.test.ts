// Tests machines whose clock is an hour off: mail is dated by the database's clock, which all nodes share.

import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { type EmailList, MailboxClient } from '../../support/clients/mailbox-client.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';

const HOUR_MS = 3_600_000;
/** In ms. A busy machine may be this late. */
const SLACK_MS = HOUR_MS / 4;

/** Returns an option that loads code before the program, which shifts its clock by `ms`. */
function shiftedBy(ms: number): string {
  const code = `const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...given) { if (given.length > 0) super(...given); else super(Real.now() + ${ms}); }
      static now() { return Real.now() + ${ms}; }
    };`;
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
}

async function send(node: TestNode, subject: string): Promise<void> {
  const smtp = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
  await smtp.command('MAIL FROM:<a@peer.test>');
  await smtp.command('RCPT TO:<anna@example.test>');
  await smtp.command('DATA');
  smtp.write(`Subject: ${subject}\r\n\r\nx\r\n.\r\n`);
  const { code } = await smtp.reply();
  if (code !== 250) throw new Error(`${subject}: ${code}`);
}

test('a node an hour off dates mail rightly, in SMTP, in lists and in what it sends itself', async (t) => {
  t.timeout(600_000);
  const first = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', NODE_OPTIONS: shiftedBy(HOUR_MS) });
  t.teardown(async () => void (first.running && (await first.stop())));
  const sql = await storeOf(first);
  const anna = await createAccount(sql, 'anna@example.test');
  await sql.end();
  const isNow = (iso: string) => Math.abs(Date.parse(iso) - Date.now()) < SLACK_MS;
  const ahead = new MailboxClient(first, anna.key);
  await send(first, 'by a node ahead');
  await eventually('the message', async () => (await ahead.inbox()).length === 1);
  const sent = await ahead.request('POST', '/api/outbound/send', {
    fromAddress: anna.email,
    recipients: [{ address: anna.email, type: 'To' }],
    subject: 'to herself',
    textBody: 'x',
  });
  t.true(sent.ok, await sent.text());
  await eventually('the own message', async () => (await ahead.inbox()).length === 2);
  const dates = (await ahead.inbox()).map(({ receivedAt }) => receivedAt);
  t.true(dates.every(isNow), `${dates}`);
  await first.stop();

  for (const [subject, options] of [
    ['by a node that is right', ''],
    ['by a node behind', shiftedBy(-HOUR_MS)],
  ] as const) {
    const node = await startTestNode({
      MANSIO_HOSTED_DOMAINS: 'example.test',
      MANSIO_DATA_DIR: first.dataDir,
      ...(options === '' ? {} : { NODE_OPTIONS: options }),
    });
    t.teardown(async () => void (node.running && (await node.stop())));
    const client = new MailboxClient(node, anna.key);
    const before = (await client.inbox()).length;
    await send(node, subject);
    await eventually(`the message ${subject}`, async () => (await client.inbox()).length > before);
    const { items } = await client.get<EmailList>('/api/emails?pageSize=1');
    t.is(items[0]!.subject, subject, 'the newest is first');
    t.true(isNow(items[0]!.receivedAt), items[0]!.receivedAt);
    await node.stop();
  }
});
