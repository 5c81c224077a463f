// Tests a whole node that asks the given DNS: results in what users export, and the refusal that the operator chose.

import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { startDnsServer } from '../../../dev/servers/dns-server.js';
import { signed, zones } from '../../message-checks/mailauth/peers.js';
import { type EmailList, MailboxClient } from '../../support/clients/mailbox-client.js';
import { placed } from '../../support/clients/placed.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { startTestNode } from '../../support/node.js';
import test from '../../support/test.js';

test('mail is authenticated with the settings of the node', async (t) => {
  const dns = await startDnsServer(zones());
  t.teardown(() => dns.close());
  const node = await startTestNode({
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_HOSTNAME: 'mx.example.test',
    MANSIO_OUTBOUND_DNS: dns.address,
    MANSIO_DMARC_REJECT: 'reject',
  });
  const sql = await storeOf(node);
  const { email, key } = await createAccount(sql, 'anna@example.test');
  await sql.end();
  const client = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
  const message = `From: a@peer.test\r\nTo: ${email}\r\nSubject: hi\r\n\r\nhello`;
  t.is((await client.send('a@elsewhere.test', [email], await signed(message))).code, 250);
  const forged = await client.send('a@elsewhere.test', [email], message);
  t.is(`${forged.code} ${forged.text.split(' ')[0]}`, '550 5.7.1');

  await placed(node);
  const mailbox = new MailboxClient(node, key);
  const { items, totalCount } = await mailbox.get<EmailList>('/api/emails');
  t.is(totalCount, 1);
  const { authentication } = await mailbox.get<{ authentication: object }>(`/api/emails/${items[0]!.id}`);
  t.deepEqual(authentication, {
    spf: { result: 'none', domain: 'elsewhere.test' },
    dkim: { result: 'pass', domain: 'peer.test' },
    dmarc: { result: 'pass', domain: 'peer.test' },
  });
  const response = await mailbox.request('GET', `/api/emails/${items[0]!.id}/export/eml`);
  const eml = await response.text();
  t.regex(eml, /^Return-Path: <a@elsewhere\.test>\r\nAuthentication-Results: mx\.example\.test;\r\n\tspf=none /);
  t.is(eml.match(/\tdkim=pass header\.d=peer\.test/g)?.length, 2);
  t.regex(eml, /\tdmarc=pass \(p=reject\) header\.from=peer\.test\r\nReceived: /);
  t.is((await node.stop()).code, 0);
});

test('Sender is nobody’s author: a message without From fails DMARC and shows the sender of its envelope', async (t) => {
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_DMARC_REJECT: 'none' });
  const sql = await storeOf(node);
  const { email, key } = await createAccount(sql, 'anna@example.test');
  await sql.end();
  const client = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
  const sender = 'Sender: CEO <ceo@bank.test>\r\n';
  const headers = ['', 'From:\r\n', 'From: "x <ceo@bank.test>\r\n', 'From: CEO <>\r\n'];
  for (const from of headers) {
    const { code } = await client.send('a@x_y.test', [email], `${from}${sender}Subject: hi\r\n\r\nhello`);
    t.is(code, 250, from);
    await placed(node);
  }
  t.is((await client.send('', [email], `${sender}\r\nfrom nobody`)).code, 250);
  await placed(node);
  t.is((await client.send('a@x_y.test', [email], `\ufeffFrom: A <a@c.test>\r\n${sender}\r\nhello`)).code, 250);
  await placed(node);
  const mailbox = new MailboxClient(node, key);
  const { items } = await mailbox.get<{ items: Shown[] }>('/api/emails');
  const shown = [...items].reverse().map(about);
  const marked = { fromAddress: 'a@x_y.test', fromDisplayName: '', fromIsEnvelopeSender: true };
  t.deepEqual(shown, [
    ...headers.map(() => marked),
    { fromAddress: '', fromDisplayName: '' },
    { fromAddress: 'a@c.test', fromDisplayName: 'A' },
  ]);
  for (const [i, { id }] of [...items].reverse().entries())
    t.deepEqual(about(await mailbox.get<Shown>(`/api/emails/${id}`)), shown[i]);
  const eml = await (await mailbox.request('GET', `/api/emails/${items.at(-1)!.id}/export/eml`)).text();
  t.regex(eml, /\tdmarc=fail \(no From field\)\r\n/);
  t.is((await node.stop()).code, 0);
});

interface Shown {
  readonly id: string;
  readonly fromAddress: string;
  readonly fromDisplayName: string;
  readonly fromIsEnvelopeSender?: boolean;
}

/** Returns the author as shown. */
function about(shown: Shown) {
  const { fromAddress, fromDisplayName, fromIsEnvelopeSender } = shown;
  return { fromAddress, fromDisplayName, ...('fromIsEnvelopeSender' in shown && { fromIsEnvelopeSender }) };
}
