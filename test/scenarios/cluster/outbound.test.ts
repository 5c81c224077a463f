// Tests outgoing mail of a cluster where one node speaks HTTP, one has the mailboxes and two deliver: one of these is killed while it
// delivers, the other is stopped cleanly. Every email arrives, and those that were not under way at the kill arrive once.

import { freePort } from '../../../dev/ports.js';
import { startDnsServer, type Zone } from '../../../dev/servers/dns-server.js';
import { startRemoteSmtp } from '../../../dev/servers/remote-smtp.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { eventually } from './support/eventually.js';
import { PATIENT_TTL_MS } from './support/roll.js';

const EMAILS = 300;
const TRANSACTIONS = 50;

testWith('nats-server')('nodes that deliver are killed and stopped, and the mail of others arrives', async (t) => {
  t.timeout(600_000);
  const port = await freePort();
  const address = '127.0.2.1';
  // The remote server is slow, so that some emails are always under way.
  const remote = await startRemoteSmtp(address, port, {
    behaviour: { message: () => new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 30)) },
  });
  t.teardown(() => remote.close());
  const zones: Record<string, Zone> = { 'far.test': { MX: [[10, 'mx.far.test']] }, 'mx.far.test': { A: [address] } };
  const dns = await startDnsServer(zones);
  t.teardown(() => dns.close());
  const cluster = await startCluster(t, {
    nodes: 4,
    accounts: 6,
    leaseTtlMs: PATIENT_TTL_MS,
    roles: ['api', 'mailbox', 'outbound', 'outbound'],
    settings: {
      MANSIO_OUTBOUND_DNS: dns.address,
      MANSIO_OUTBOUND_PORT: String(port),
      MANSIO_OUTBOUND_ALLOW_PRIVATE: 'true',
      MANSIO_OUTBOUND_BACKOFF_BASE_MS: '100',
      MANSIO_OUTBOUND_POLL_MS: '500',
    },
  });
  const [api, , first, second] = cluster.nodes;
  await cluster.settled();

  const sent: string[] = [];
  const send = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const n = sent.length;
      const { email, key } = cluster.accounts[n % cluster.accounts.length]!;
      const recipients = [{ address: `to${n}@far.test`, type: 'To' }];
      const response = await fetch(`${api!.http}/api/outbound/send`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ fromAddress: email, subject: `s${n}`, textBody: 'x', recipients }),
      });
      t.is(response.status, 200);
      sent.push(`to${n}@far.test`);
    }
  };
  const arrived = () => remote.messages.length;

  await send(EMAILS / 3);
  await eventually('some mail to arrive', () => arrived() > 10);
  await first!.kill();
  const atKill = arrived();
  await send(EMAILS / 3);
  await eventually('mail to go on', () => arrived() > atKill + TRANSACTIONS);
  await first!.start();
  await send(EMAILS / 3);
  // A clean stop finishes the deliveries that it has started; the other node delivers the rest.
  await second!.stop();
  await eventually('all mail to be sent', async () => {
    const [row] = await cluster.sql`select count(*)::int as left from outbound where status <> 'Sent'`;
    return row?.['left'] === 0;
  });
  const copies = new Map<string, number>();
  for (const { recipients } of remote.messages) {
    for (const recipient of recipients) copies.set(recipient, (copies.get(recipient) ?? 0) + 1);
  }
  t.deepEqual(
    sent.filter((recipient) => !copies.has(recipient)),
    [],
    'lost',
  );
  const again = [...copies.values()].filter((count) => count > 1).length;
  t.true(again <= TRANSACTIONS, `${again} came twice`);
  t.true([...copies.values()].every((count) => count <= 2));
  t.log(`${sent.length} emails, ${again} came twice`);
});
