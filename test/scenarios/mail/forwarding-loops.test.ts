// Tests forwarding between two servers: a chain of two seals that others verify, accounts that forward to each other, and a target that
// sends everything back without the marks that it got.
import type { ExecutionContext } from 'ava';
import { createAccount, storeOf } from '../../../dev/node-accounts.js';
import { freePort } from '../../../dev/ports.js';
import { startDnsServer, type Zone } from '../../../dev/servers/dns-server.js';
import { type RemoteMessage, startRemoteSmtp } from '../../../dev/servers/remote-smtp.js';
import { postgresDirectory } from '../../../src/store/postgres/accounts/directory.js';
import { postgresSigningKeys } from '../../../src/store/postgres/outbound/signing-keys.js';
import { keyRecord, RSA, signed, zones } from '../../message-checks/mailauth/peers.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { startTestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';
import { checkWithDkimpy } from './dkimpy.js';

/** The hosts of the domains; all MX hosts have one port. */
const HOSTS = { 'first.test': '127.0.4.1', 'second.test': '127.0.4.2', 'far.test': '127.0.4.3' } as const;
/** RFC 5321 §6.3: the most hosts that a message passes. */
const MOST_ROUNDS = 51;
/** In ms. A busy machine needs some seconds for a round. */
const LOOP_MS = 400_000;

/** A server that hosts a domain with one account. `targets`: the verified addresses of the account elsewhere. */
async function server(
  t: ExecutionContext,
  { domain, dns, port }: { readonly domain: 'first.test' | 'second.test'; readonly dns: string; readonly port: number },
  targets: readonly string[],
) {
  const node = await startTestNode({
    MANSIO_HOSTED_DOMAINS: domain,
    MANSIO_HOSTNAME: `mx.${domain}`,
    MANSIO_BIND: HOSTS[domain],
    MANSIO_HTTP_BIND: '127.0.0.1',
    MANSIO_MX_PORT: String(port),
    MANSIO_OUTBOUND_DNS: dns,
    MANSIO_OUTBOUND_PORT: String(port),
    MANSIO_OUTBOUND_ALLOW_PRIVATE: 'true',
    MANSIO_OUTBOUND_BACKOFF_BASE_MS: '150',
    MANSIO_OUTBOUND_POLL_MS: '100',
  });
  t.teardown(() => node.stop());
  const sql = await storeOf(node);
  t.teardown(() => sql.end());
  const { id, email, key } = await createAccount(sql, `user@${domain}`);
  for (const address of targets) await postgresDirectory(sql, 256).addAddress(id, address, true);
  await postgresSigningKeys(sql).add({ domain, selector: 'sel', ...RSA });
  const client = new MailboxClient(node, key);
  return {
    email,
    client,
    mx: `${HOSTS[domain]}:${port}`,
    async forward(address: string, keepCopy: boolean) {
      const body = { isEnabled: true, address, keepCopy };
      t.is((await client.request('PUT', '/api/forwarding', body)).status, 204);
    },
    /** Whether nothing is on its way. */
    async isQuiet() {
      const [row] = await sql<{ count: number }[]>`
        select ((select count(*) from due_automatic_mail) + (select count(*) from inbound)
          + (select count(*) from outbound where status not in ('Sent', 'Failed')))::int as count`;
      return row!.count === 0;
    },
  };
}

async function setUp(t: ExecutionContext) {
  const port = await freePort();
  const { 'rsa._domainkey.peer.test': rsa, 'ed._domainkey.peer.test': ed } = zones();
  const dns = await startDnsServer({
    ...Object.fromEntries(
      Object.entries(HOSTS).flatMap(([domain, address]): [string, Zone][] => [
        [domain, { MX: [[10, `mx.${domain}`]] }],
        [`mx.${domain}`, { A: [address] }],
        [`sel._domainkey.${domain}`, keyRecord(RSA)],
      ]),
    ),
    'peer.test': { MX: [[10, 'mx.far.test']] },
    'rsa._domainkey.peer.test': rsa!,
    'ed._domainkey.peer.test': ed!,
  });
  t.teardown(() => dns.close());
  const remote = await startRemoteSmtp(HOSTS['far.test'], port, { behaviour: {} });
  t.teardown(() => remote.close());
  const at = { dns: dns.address, port };
  const first = await server(t, { domain: 'first.test', ...at }, ['user@second.test', 'back@far.test']);
  const second = await server(t, { domain: 'second.test', ...at }, ['user@first.test', 'me@far.test']);
  return { first, second, remote };
}

const messageOf = (subject: string) => `From: a@peer.test\r\nTo: user@first.test\r\nSubject: ${subject}\r\n\r\nhello`;

test('mail passes two servers with valid seals, and goes round nowhere', async (t) => {
  t.timeout(600_000);
  const { first, second, remote } = await setUp(t);
  const subjects = async ({ client }: typeof first) => (await client.inbox()).map(({ subject }) => subject);
  const send = async (mx: string, sender: string, to: string, text: string) => {
    const smtp = await SmtpClient.greeted(mx);
    const { code } = await smtp.send(sender, [to], text);
    smtp.end();
    return code;
  };
  const arrived = async (recipient: string) => {
    const found = () => remote.messages.find(({ recipients }) => recipients.includes(recipient));
    await eventually(`mail for ${recipient}`, () => found() !== undefined);
    return found()!;
  };

  // A chain: first.test seals, second.test seals that, and a bounce finds its way back through both.
  await first.forward(second.email, true);
  await second.forward('me@far.test', true);
  const original = await signed(messageOf('chain'));
  t.is(await send(first.mx, 'a@peer.test', first.email, original), 250);
  const got = await arrived('me@far.test');
  t.true(got.text.includes(original), 'the octets are those that came');
  t.deepEqual(
    [...got.text.matchAll(/^ARC-Seal: i=(\d+);(?:[^\r\n]|\r?\n[ \t])*/gm)].map(([seal, i]) => [
      i,
      /\bcv=(\w+)/.exec(seal)?.[1],
      /\bd=([\w.]+)/.exec(seal)?.[1],
    ]),
    [
      ['2', 'pass', 'second.test'],
      ['1', 'none', 'first.test'],
    ],
  );
  checkWithDkimpy(t, got.text, ['first.test', 'second.test']);
  t.regex(got.sender, /^SRS1=.*@second\.test$/);
  t.is(await send(second.mx, '', got.sender, 'From: <m@far.test>\r\nSubject: returned\r\n\r\nsorry'), 250);
  t.regex((await arrived('a@peer.test')).text, /^Subject: returned\r?$/m);

  // Two accounts forward to each other: each gets the message once, and nobody is told of anything.
  await second.forward(first.email, true);
  const before = remote.messages.length;
  t.is(await send(first.mx, 'a@peer.test', first.email, messageOf('mutual')), 250);
  await eventually('the copy of the second', async () => (await subjects(second)).includes('mutual'));
  await eventually('the end', async () => (await first.isQuiet()) && (await second.isQuiet()));
  for (const one of [first, second]) t.deepEqual((await subjects(one)).toSorted(), ['chain', 'mutual']);
  t.is(remote.messages.length, before);

  // A target sends everything back and has removed the marks of loops: the number of hosts ends it.
  const codes: number[] = [];
  remote.behaviour.message = ({ recipients, text }: RemoteMessage) => {
    const stripped = text
      .replace(/^Delivered-To: .*\r?\n/gim, '')
      .replace(/\r?\n/g, '\r\n')
      .trimEnd();
    const returned = `Received: from here by mx.far.test; Sun, 29 Nov 2026 20:00:00 +0000\r\n${stripped}`;
    if (recipients.includes('back@far.test'))
      void send(first.mx, 'back@far.test', first.email, returned).then((code) => codes.push(code));
    return undefined;
  };
  await first.forward('back@far.test', false);
  t.is(await send(first.mx, 'a@peer.test', first.email, messageOf('round')), 250);
  await eventually('the refusal of the loop', () => codes.includes(554), LOOP_MS);
  await eventually('the end of the loop', async () => await first.isQuiet());
  const rounds = remote.messages.filter(({ recipients }) => recipients.includes('back@far.test')).length;
  t.true(rounds > 1 && rounds <= MOST_ROUNDS, `${rounds} rounds`);
  t.is(codes.filter((code) => code !== 250).length, 1);
  t.deepEqual((await subjects(first)).toSorted(), ['chain', 'mutual'], 'nothing is left of the loop');
});
