// Tests scheduled mail in a cluster: the node that owns half of the mailboxes is killed before the mail is due. The next owners
// release everything that was not cancelled, for hosted recipients too; cancelled mail reaches no recipient.

import { freePort } from '../../../dev/ports.js';
import { startDnsServer } from '../../../dev/servers/dns-server.js';
import { startRemoteSmtp } from '../../../dev/servers/remote-smtp.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { eventually } from './support/eventually.js';

const EMAILS = 40;
/** All emails are queued and the node is killed within this time, before the first is due; on an idle machine that takes about 3 s. */
const LEAST_LEAD_MS = 20_000;
/** The lead is at least this multiple of the time that the start of the cluster takes, which is longer than what it is for. */
const STARTS = 2;
/** In ms, from the time of the last email to the end of all deliveries. */
const SENT_MS = 180_000;

testWith('nats-server')('held mail of an owner that is killed is released by the next owners', async (t) => {
  t.timeout(600_000);
  const port = await freePort();
  const address = '127.0.2.9';
  const remote = await startRemoteSmtp(address, port);
  t.teardown(() => remote.close());
  const dns = await startDnsServer({ 'far.test': { MX: [[10, 'mx.far.test']] }, 'mx.far.test': { A: [address] } });
  t.teardown(() => dns.close());
  const startedAt = performance.now();
  const cluster = await startCluster(t, {
    nodes: 4,
    accounts: 8,
    roles: ['api', 'mailbox', 'mailbox', 'outbound'],
    settings: {
      MANSIO_OUTBOUND_DNS: dns.address,
      MANSIO_OUTBOUND_PORT: String(port),
      MANSIO_OUTBOUND_ALLOW_PRIVATE: 'true',
      MANSIO_OUTBOUND_POLL_MS: '500',
    },
  });
  const [api, owner] = cluster.nodes;
  await cluster.settled();
  const { accounts } = cluster;
  const ask = (key: string, path: string, json?: object) =>
    fetch(`${api!.http}/api/outbound/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
  const leadMs = Math.max(LEAST_LEAD_MS, STARTS * (performance.now() - startedAt));
  const first = Date.now() + leadMs;
  const emails = await Promise.all(
    Array.from({ length: EMAILS }, async (_, n) => {
      const { email, key } = accounts[n % accounts.length]!;
      const recipients = [
        { address: `to${n}@far.test`, type: 'To' },
        { address: accounts[(n + 1) % accounts.length]!.email, type: 'Bcc' },
      ];
      const sendAt = new Date(first + 50 * n).toISOString();
      const mail = { fromAddress: email, subject: `s${n}`, textBody: 'x', recipients, sendAt };
      const response = await ask(key, 'send', mail);
      t.is(response.status, 200);
      return { ...((await response.json()) as { id: string }), key, n };
    }),
  );
  const undone = emails.filter(({ n }) => n % 3 === 0);
  const kept = emails.filter(({ n }) => n % 3 !== 0);
  const cancel = (some: typeof undone) =>
    Promise.all(
      some.map(({ id, key }) =>
        // While a mailbox has no owner for long, the answer is 503; what was asked for may be done even so.
        eventually(`the end of ${id}`, async () => {
          const response = await ask(key, `${id}/cancel`);
          if (response.status === 503) return false;
          const { cancelled, status } = (await response.json()) as { cancelled: boolean; status: string };
          return cancelled || status === 'Draft';
        }),
      ),
    );
  await cancel(undone.slice(0, 6));
  await owner!.kill();
  // The next owner cancels those of the dead one.
  await cancel(undone.slice(6));
  t.is(remote.messages.length, 0);
  t.log(`${Math.round((first - Date.now()) / 1_000)} s before the first is due`);
  await eventually(
    'all mail to be sent',
    async () => {
      const [row] = await cluster.sql`select count(*)::int as sent from outbound where status = 'Sent'`;
      return row?.['sent'] === kept.length;
    },
    leadMs + SENT_MS,
  );
  t.deepEqual(
    remote.messages.flatMap(({ recipients }) => recipients).sort(),
    kept.map(({ n }) => `to${n}@far.test`).sort(),
  );
  // Each email has one copy in a mailbox, as well as the sender's own.
  await eventually('hosted recipients to have it', async () => {
    const [row] = await cluster.sql`select count(*)::int as waiting from inbound`;
    return row?.['waiting'] === 0;
  });
  const [row] = await cluster.sql`
    select count(*)::int as received from placements p join folders f on f.account_id = p.account_id and f.id = p.folder_id
    where f.role = 'inbox'`;
  t.is(row?.['received'], kept.length);
  const states = await cluster.sql`select status, count(*)::int as count from outbound group by status order by status`;
  t.deepEqual(
    states.map(({ status, count }) => [status, count]),
    [
      ['Draft', undone.length],
      ['Sent', kept.length],
    ],
  );
});
