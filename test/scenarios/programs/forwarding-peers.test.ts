// Tests forwarding with Postfix and Dovecot as the far side: mail that a node forwards is delivered by Dovecot's LMTP with its signatures
// valid, and a bounce that Postfix makes comes to the rewritten sender and from there to whoever wrote.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { startDovecot } from '../../../bench/support/peers/dovecot.js';
import { startPostfix } from '../../../bench/support/peers/postfix.js';
import { createAccount, storeOf } from '../../../dev/node-accounts.js';
import { freePort } from '../../../dev/ports.js';
import { startDnsServer } from '../../../dev/servers/dns-server.js';
import { startRemoteSmtp } from '../../../dev/servers/remote-smtp.js';
import { postgresDirectory } from '../../../src/store/postgres/accounts/directory.js';
import { postgresSigningKeys } from '../../../src/store/postgres/outbound/signing-keys.js';
import { RSA, signed } from '../../message-checks/mailauth/peers.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { startTestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';
import { checkWithDkimpy } from '../mail/dkimpy.js';

/** The hosts of the sender, and of a server behind Postfix that knows nobody. */
const SENDER_HOST = '127.0.5.1';
const EMPTY_HOST = '127.0.5.2';

/** Undefined where a program is missing, or this is not root. */
async function farSide(t: ExecutionContext, mxPort: number) {
  const dovecot = await startDovecot({ format: 'maildir', protocols: [], lmtp: true });
  if (dovecot === undefined) return undefined;
  t.teardown(() => dovecot.stop());
  const emptyPort = await freePort();
  const routes = {
    'example.test': `127.0.0.1:${mxPort}`,
    'me@far.test': `lmtp:[127.0.0.1]:${dovecot.lmtpPort}`,
    'gone@far.test': `${EMPTY_HOST}:${emptyPort}`,
  };
  // Postfix adds fields to mail of its own host, where the node is too.
  const postfix = await startPostfix(routes, ['local_header_rewrite_clients =']);
  if (postfix === undefined) return undefined;
  t.teardown(() => postfix.stop());
  const empty = await startRemoteSmtp(EMPTY_HOST, emptyPort, { behaviour: { rcpt: () => '550 5.1.1 nobody here' } });
  t.teardown(() => empty.close());
  const directory = join(dovecot.mail, 'me@far.test', 'new');
  const delivered = () => {
    try {
      return readdirSync(directory).map((name) => readFileSync(join(directory, name), 'latin1'));
    } catch {
      return [];
    }
  };
  return { port: postfix.port, delivered };
}

async function nodeBefore(t: ExecutionContext, mxPort: number, farPort: number) {
  const dns = await startDnsServer({
    'far.test': { MX: [[10, 'mx.far.test']] },
    'mx.far.test': { A: ['127.0.0.1'] },
    'peer.test': { MX: [[10, 'mx.peer.test']] },
    'mx.peer.test': { A: [SENDER_HOST] },
  });
  t.teardown(() => dns.close());
  const sender = await startRemoteSmtp(SENDER_HOST, farPort);
  t.teardown(() => sender.close());
  const node = await startTestNode({
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_HOSTNAME: 'mail.example.test',
    MANSIO_MX_PORT: String(mxPort),
    MANSIO_OUTBOUND_DNS: dns.address,
    MANSIO_OUTBOUND_PORT: String(farPort),
    MANSIO_OUTBOUND_ALLOW_PRIVATE: 'true',
    MANSIO_OUTBOUND_POLL_MS: '100',
  });
  t.teardown(() => node.stop());
  const sql = await storeOf(node);
  const ann = await createAccount(sql, 'ann@example.test');
  for (const address of ['me@far.test', 'gone@far.test'])
    await postgresDirectory(sql, 256).addAddress(ann.id, address, true);
  await postgresSigningKeys(sql).add({ domain: 'example.test', selector: 'sel', ...RSA });
  await sql.end();
  return { ann, client: new MailboxClient(node, ann.key), sender };
}

test('mail is forwarded to Postfix and Dovecot, and a bounce of Postfix finds the sender', async (t) => {
  t.timeout(600_000);
  const mxPort = await freePort();
  const far = await farSide(t, mxPort);
  if (far === undefined) {
    t.log('not run: there is no Postfix, no Dovecot with LMTP, or this is not root');
    t.pass();
    return;
  }
  const { ann, client, sender } = await nodeBefore(t, mxPort, far.port);
  const forward = async (address: string) =>
    t.is((await client.request('PUT', '/api/forwarding', { isEnabled: true, address, keepCopy: true })).status, 204);
  const send = async (subject: string) => {
    const message = await signed(`From: a@peer.test\r\nTo: ${ann.email}\r\nSubject: ${subject}\r\n\r\nhello`);
    const smtp = await SmtpClient.greeted(`127.0.0.1:${mxPort}`);
    t.is((await smtp.send('a@peer.test', [ann.email], message)).code, 250);
    smtp.end();
    return message;
  };

  await forward('me@far.test');
  const original = await send('one');
  await eventually('the mail in the Maildir', async () => far.delivered().length === 1);
  const [text] = far.delivered();
  const octets = text!.replace(/\r?\n/g, '\r\n');
  t.true(octets.includes(original), 'the octets are those that came');
  t.regex(octets, /^Return-Path: <SRS0=[^=]{8}=[A-Z2-7]{2}=peer\.test=a@example\.test>\r$/m);
  t.regex(octets, /^Received: from mail\.example\.test \(.*\)\r\n\tby postfix\.test \(Postfix\)/m);
  checkWithDkimpy(t, octets, ['example.test']);

  await forward('gone@far.test');
  await send('two');
  await eventually('the bounce', async () => sender.messages.length > 0);
  const [bounce] = sender.messages;
  t.like(bounce, { sender: '', recipients: ['a@peer.test'] });
  t.regex(bounce!.text, /^Reporting-MTA: dns; postfix\.test\r?$/m);
  t.regex(bounce!.text, /^Final-Recipient: rfc822; gone@far\.test\r?$/m);
  t.regex(bounce!.text, /^Diagnostic-Code: smtp; 550 5\.1\.1 nobody here\r?$/m);
  t.regex(bounce!.text, /^Subject: two\r?$/m, 'it has the header of what was sent');
  t.is(sender.messages.length, 1);
  const inbox = (await client.inbox()).map(({ subject }) => subject);
  t.deepEqual(inbox.toSorted(), ['one', 'two'], 'the account has its copies and no bounce');
});
