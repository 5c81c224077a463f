// Sends hostile MIME through a whole node: each message is accepted, listed, shown and returned byte for byte, whatever its parts
// contain, and the node serves others meanwhile.

import { SmtpSender } from '../../../bench/support/smtp-load.js';
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { type EmailView, MailboxClient } from '../../support/clients/mailbox-client.js';
import { startTestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';

const nested = (levels: number) => {
  let body = '';
  for (let i = 0; i < levels; i++) body += `Content-Type: multipart/mixed; boundary="b${i}"\r\n\r\n--b${i}\r\n`;
  return body;
};

const base64 = (text: string) => Buffer.from(text).toString('base64');

const CASES: Readonly<Record<string, string>> = {
  '10,000 parts': `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\nContent-Type: text/plain\r\n\r\nx\r\n'.repeat(10_000)}--b--\r\n`,
  '1,000 levels': `${nested(1000)}Content-Type: text/plain\r\n\r\ndeep\r\n`,
  '1 MB header': `X-Long: ${'x'.repeat(1_000_000)}\r\n\r\nbody\r\n`,
  'missing boundary': 'Content-Type: multipart/mixed; boundary=never\r\n\r\n--other\r\nbody\r\n',
  'no boundary parameter': 'Content-Type: multipart/mixed\r\n\r\nbody\r\n',
  'broken base64': 'Content-Transfer-Encoding: base64\r\n\r\n=A=!!ö§$%&AAA\r\n====\r\nQQ\r\n',
  'unknown charset': 'Content-Type: text/plain; charset=klingon-8\r\n\r\nH\xe4llo\r\n',
  '100,000 folds': `Comments:${'\r\n x'.repeat(100_000)}\r\n\r\nbody\r\n`,
  '10,000 nested groups': `To: ${'a:'.repeat(10_000)}x@y.test${';'.repeat(10_000)}\r\n\r\nbody\r\n`,
  'no header': '\r\nbody\r\n',
  'no body': '',
  'binary body': `Content-Type: text/html\r\n\r\n${Buffer.from(Array.from({ length: 50_000 }, (_, i) => (i % 200) + 32)).toString('latin1')}\r\n`,
  'html bomb': `Content-Type: text/html\r\n\r\n${'<div>'.repeat(200_000)}\r\n`,
  'large text in base64': `Content-Type: text/plain; charset=utf-7\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64('+AGE-'.repeat(300_000)).replace(/.{76}/g, '$&\r\n')}\r\n`,
  'injected names': `Content-Type: application/x; name*=utf-8''a%0d%0aSet-Cookie:%20x%2f..%2fy\r\nContent-Disposition: attachment\r\n\r\nx\r\n`,
};

test('hostile messages are stored and served, whole as they came', async (t) => {
  const node = await startTestNode({
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_LOG_LEVEL: 'error',
    // The messages name no author, which would put them into Junk.
    MANSIO_DMARC_REJECT: 'none',
  });
  const sql = await storeOf(node);
  const account = await createAccount(sql, 'target@example.test');
  await sql.end();
  const client = new MailboxClient(node, account.key);
  const sender = await SmtpSender.open('127.0.0.1', port(node, 'mx'));
  for (const [name, rest] of Object.entries(CASES)) {
    const message = `Subject: ${name}\r\n${rest}`;
    const stuffed = Buffer.from(`${message.replace(/^\./gm, '..')}.\r\n`, 'latin1');
    t.true(await sender.send('evil@remote.test', [account.email], stuffed), name);
    // What takes a slow machine longer than a gateway waits is placed after its answer.
    const listed = await eventually(`${name} to be placed`, async () =>
      (await client.inbox()).find(({ subject }) => subject === name),
    );
    const shown = await client.get<EmailView>(`/api/emails/${listed!.id}`);
    t.is(typeof shown.textBody, 'string', name);
    for (const { id, size } of shown.attachments.slice(0, 3)) {
      const response = await client.request('GET', `/api/emails/${listed!.id}/attachments/${id}`);
      t.is(response.status, 200, name);
      t.is((await response.arrayBuffer()).byteLength, size, name);
    }
    const eml = await client.request('GET', `/api/emails/${listed!.id}/export/eml`);
    const raw = Buffer.from(await eml.arrayBuffer()).toString('latin1');
    t.true(raw.endsWith(`\r\n${message}`), name);
  }
  sender.close();
  t.is((await node.stop()).code, 0);
  t.deepEqual(
    node.logs.filter((line) => line.includes('"level":"error"')),
    [],
  );
});
