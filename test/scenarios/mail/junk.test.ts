// Tests junk on whole nodes: a real rspamd that refuses, tags and accepts mail that arrives and mail that is submitted, and the lists of an
// account's senders.
import { createTransport } from 'nodemailer';
import { findProgram } from '../../../dev/executables.js';
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { freePort } from '../../../dev/ports.js';
import { type EmailList, MailboxClient } from '../../support/clients/mailbox-client.js';
import { placed } from '../../support/clients/placed.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { EICAR, startClamd } from '../../support/peers/clamd.js';
import { startRspamd } from '../../support/peers/rspamd.js';
import { answers, startScriptedRspamd } from '../../support/peers/scripted-rspamd.js';
import test from '../../support/test.js';
import { testWith } from '../../support/test-with.js';

const GTUBE = 'XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X';
/** rspamd gives these lines the actions that they name. */
const ADD_HEADER = 'YJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X';

async function anna(node: TestNode) {
  const sql = await storeOf(node);
  const account = await createAccount(sql, 'anna@example.test', ['app', 'smtp']);
  await sql.end();
  return { ...account, mailbox: new MailboxClient(node, account.key) };
}

function message(to: string, subject: string, text: string): string {
  const fields = ['Date: Sun, 29 Nov 2026 12:00:00 +0000', `Message-ID: <${subject}@peer.test>`, 'MIME-Version: 1.0'];
  return [
    ...fields,
    'From: Bo <bo@peer.test>',
    `To: <${to}>`,
    `Subject: ${subject}`,
    'X-Spam-Status: No',
    '',
    text,
  ].join('\r\n');
}

/** A message with the EICAR file attached. */
function infected(to: string): string {
  const file = Buffer.from(EICAR).toString('base64');
  const parts = `--b\r\nContent-Type: text/plain\r\n\r\nSee the file.\r\n--b\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=test.com\r\nContent-Transfer-Encoding: base64\r\n\r\n${file}\r\n--b--`;
  return message(to, 'virus', parts).replace('Subject:', 'Content-Type: multipart/mixed; boundary=b\r\nSubject:');
}

const CLAMD = findProgram('clamd') !== undefined;
const VIRUS = 'The message contains a virus: Eicar-Test-Body.UNOFFICIAL';

test('while rspamd hangs, all mail of one network is taken unchecked and counted, or deferred, as the setting says', async (t) => {
  const rspamd = await startScriptedRspamd(t);
  rspamd.answer = () => undefined;
  const sent = 20;
  for (const [setting, code, counted] of [
    ['accept', 250, 'skipped'],
    ['defer', 451, 'postponed'],
  ] as const) {
    const metricsPort = await freePort();
    const node = await startTestNode({
      MANSIO_HOSTED_DOMAINS: 'example.test',
      MANSIO_RSPAMD_URL: rspamd.url,
      MANSIO_CONTENT_CHECK_FAILURE: setting,
      MANSIO_METRICS_PORT: String(metricsPort),
    });
    const { email, mailbox } = await anna(node);
    const send = async (subject: string) => {
      const client = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
      const reply = await client.send('bo@peer.test', [email], message(email, subject, 'Hello'));
      client.end();
      return reply.code;
    };
    const codes = await Promise.all(Array.from({ length: sent }, (_, i) => send(`unchecked${i}`)));
    t.deepEqual(codes, Array(sent).fill(code), setting);
    await placed(node);
    t.is((await mailbox.inbox()).length, code === 250 ? sent : 0);
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const line = `mansio_content_checks_total{check="rspamd",outcome="${counted}"} ${sent}\n`;
    t.true(metrics.includes(line), line);
    t.is((await node.stop()).code, 0);
  }
});

testWith('rspamd')('rspamd judges mail that arrives and mail that is sent, by SMTP and HTTP', async (t) => {
  const rspamd = await startRspamd(t, CLAMD ? await startClamd(t) : undefined);
  const metricsPort = await freePort();
  const node = await startTestNode({
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_RSPAMD_URL: rspamd.url,
    MANSIO_METRICS_PORT: String(metricsPort),
  });
  const { email, key, mailbox } = await anna(node);
  const client = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
  const refused = await client.send('bo@peer.test', [email], message(email, 'gtube', GTUBE));
  t.is(`${refused.code} ${refused.text}`, '554 5.7.1 Gtube pattern');
  const deferred = await client.send('bo@peer.test', [email], message(email, 'later', 'Hello'));
  t.is(`${deferred.code} ${deferred.text}`, '451 4.7.1 Come back later');
  if (CLAMD) {
    const found = await client.send('bo@peer.test', [email], infected(email));
    t.is(`${found.code} ${found.text}`, `554 5.7.1 ${VIRUS}`);
  }
  t.is((await client.send('bo@peer.test', [email], message(email, 'junk', ADD_HEADER))).code, 250);
  t.is((await client.send('bo@peer.test', [email], message(email, 'fine', 'See you on Monday.'))).code, 250);

  await placed(node);
  const inFolder = async (folder: string) => (await mailbox.get<EmailList>(`/api/folders/${folder}/emails`)).items;
  const [junk, ...others] = await inFolder('junk');
  t.deepEqual(others, []);
  const source = await (await mailbox.request('GET', `/api/emails/${junk!.id}/export/eml`)).text();
  t.regex(source, /\r\nX-Spam-Status: Yes, score=[\d.]+ required=[\d.]+ tests=none\r\n/);
  t.regex(source, /\r\nX-Spam-Score: [\d.]+\r\n/);
  // What the sender wrote is gone.
  t.is(source.match(/X-Spam-Status/g)?.length, 1);

  const transport = createTransport({
    host: '127.0.0.1',
    port: port(node, 'submission'),
    auth: { user: email, pass: key },
    tls: { rejectUnauthorized: false },
  });
  const submit = (text: string, more: object = {}) =>
    transport.sendMail({ from: email, to: email, subject: 'from a program', text, ...more }).then(
      ({ response }) => response,
      (error: Error) => error.message,
    );
  t.regex(await submit(GTUBE), /554 5\.7\.1 Gtube pattern/);
  t.regex(await submit('hello'), /^250 /);
  if (CLAMD) {
    const attachments = [{ filename: 'test.com', content: EICAR }];
    t.true((await submit('hello', { attachments })).includes(`554 5.7.1 ${VIRUS}`));
  }

  const send = async (subject: string, textBody: string, attachments: readonly object[] = []) => {
    const recipients = [{ address: email, type: 'To' }];
    const body = { fromAddress: email, subject, textBody, recipients, attachments };
    const response = await mailbox.request('POST', '/api/outbound/send', body);
    const { detail } = (await response.json()) as { detail?: string };
    return [response.status, response.headers.get('retry-after'), detail];
  };
  const refusal = 'The message is refused';
  t.deepEqual(await send('gtube', GTUBE), [400, null, `${refusal}: Gtube pattern`]);
  t.deepEqual(await send('later', 'Hello'), [503, '60', 'The message is not taken now: Come back later']);
  t.is((await send('fine', 'See you on Monday.'))[0], 200);
  if (CLAMD) {
    const file = { fileName: 'test.com', content: Buffer.from(EICAR).toString('base64') };
    t.deepEqual(await send('virus', 'hello', [file]), [400, null, `${refusal}: ${VIRUS}`]);
  }

  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  if (!CLAMD) t.log('clamd is not installed: no message with a virus was sent');
  const refusals = CLAMD ? 6 : 3;
  for (const counted of ['"accept"} 3', '"junk"} 1', `"refuse"} ${refusals}`, '"defer"} 2'])
    t.true(metrics.includes(`mansio_content_checks_total{check="rspamd",outcome=${counted}\n`), counted);
  t.is((await node.stop()).code, 0);
});

test('senders that the account blocks are junk; those that it allows are not, whatever rspamd says', async (t) => {
  const rspamd = await startScriptedRspamd(t);
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_RSPAMD_URL: rspamd.url });
  const { email, mailbox } = await anna(node);
  const lists = { allowed: ['friend@spam.test'], blocked: ['spam.test'] };
  await mailbox.request('PUT', '/api/senders', lists);
  t.deepEqual(await mailbox.get('/api/senders'), lists);
  const client = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
  const send = (from: string, subject: string) =>
    client.send(from, [email], `From: <${from}>\r\nTo: <${email}>\r\nSubject: ${subject}\r\n\r\nhello`);
  t.is((await send('bo@spam.test', 'blocked')).code, 250);
  rspamd.answer = answers({ action: 'add header', score: 9 });
  t.is((await send('friend@spam.test', 'allowed')).code, 250);
  t.is((await send('eve@peer.test', 'unknown')).code, 250);
  await placed(node);
  const subjects = async (folder: string) =>
    (await mailbox.get<EmailList>(`/api/folders/${folder}/emails`)).items.map(({ subject }) => subject);
  t.deepEqual((await subjects('junk')).sort(), ['blocked', 'unknown']);
  t.deepEqual(await subjects('inbox'), ['allowed']);
  t.is((await node.stop()).code, 0);
});
