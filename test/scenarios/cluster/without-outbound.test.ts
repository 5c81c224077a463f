// Tests a cluster whose only node with the role `outbound` is gone: mail for hosted domains is still delivered, and every node
// says that other mail is due and no node delivers it; nodes without HTTP for clients say so on their metrics port.

import { freePort } from '../../../dev/ports.js';
import { startDnsServer } from '../../../dev/servers/dns-server.js';
import { startRemoteSmtp } from '../../../dev/servers/remote-smtp.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { eventually } from './support/eventually.js';
import { PATIENT_TTL_MS } from './support/roll.js';

interface Report {
  readonly checks: readonly { readonly name: string; readonly status: string }[];
}

testWith('nats-server')(
  'without a node that delivers elsewhere, hosted recipients are delivered and health tells',
  async (t) => {
    t.timeout(600_000);
    const [port, metricsPort] = [await freePort(), await freePort()];
    const remote = await startRemoteSmtp('127.0.2.9', port);
    t.teardown(() => remote.close());
    const dns = await startDnsServer({ 'far.test': { A: ['127.0.2.9'] } });
    t.teardown(() => dns.close());
    const cluster = await startCluster(t, {
      nodes: 3,
      accounts: 2,
      leaseTtlMs: PATIENT_TTL_MS,
      roles: ['api', 'mailbox', 'outbound'],
      settings: {
        MANSIO_OUTBOUND_DNS: dns.address,
        MANSIO_OUTBOUND_PORT: String(port),
        MANSIO_OUTBOUND_ALLOW_PRIVATE: 'true',
      },
      settingsOf: (i) => (i === 1 ? { MANSIO_METRICS_PORT: String(metricsPort) } : {}),
    });
    const [api, , outbound] = cluster.nodes;
    const [sender, neighbour] = cluster.accounts;
    await cluster.settled();
    const call = async (path: string, key: string, body?: object) => {
      const response = await fetch(`${api!.http}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      t.is(response.status, 200);
      return (await response.json()) as { id: string; status: string; items: { subject: string }[] };
    };
    const send = (subject: string, ...to: readonly string[]) =>
      call('/api/outbound/send', sender!.key, {
        fromAddress: sender!.email,
        subject,
        textBody: 'x',
        recipients: to.map((address) => ({ address, type: 'To' })),
      });
    const health = async (url: string) => {
      const response = await fetch(`${url}/healthz`);
      const { checks } = (await response.json()) as Report;
      const queue = checks.find(({ name }) => name === 'delivery-queue')!.status;
      return { queue, code: response.status, hasHub: checks.some(({ name }) => name === 'signalr') };
    };
    const metrics = `http://127.0.0.1:${metricsPort}`;
    t.deepEqual(await health(api!.http), { queue: 'Healthy', code: 200, hasHub: true });
    t.deepEqual(await health(metrics), { queue: 'Healthy', code: 200, hasHub: false });

    await outbound!.kill();
    const { id: near } = await send('near', neighbour!.email);
    t.is((await call(`/api/outbound/${near}`, sender!.key)).status, 'Sent');
    const { id: far } = await send('far', 'someone@far.test', neighbour!.email);
    await eventually('both in the inbox', async () => {
      const { items } = await call('/api/emails', neighbour!.key);
      return items.length === 2;
    });
    for (const url of [api!.http, metrics]) {
      await eventually('the queue is Unhealthy', async () => (await health(url)).queue === 'Unhealthy');
    }
    t.is((await health(metrics)).code, 503);
    t.not((await call(`/api/outbound/${far}`, sender!.key)).status, 'Sent');

    await outbound!.start();
    await eventually(
      'the rest is sent',
      async () => (await call(`/api/outbound/${far}`, sender!.key)).status === 'Sent',
    );
    t.is(remote.messages.length, 1);
    await eventually('the queue is Healthy', async () => (await health(metrics)).queue === 'Healthy');
  },
);
