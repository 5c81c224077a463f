// Tests certificates by ACME with whole nodes and a real authority that refuses nonces: one of three nodes is killed in the middle of a request,
// and a node tells of failures while it serves what it has.
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { port } from '../../../dev/node-accounts.js';
import { freePort } from '../../../dev/ports.js';
import type { HealthReport } from '../../../src/gateways/http/health.js';
import type { Finding } from '../../../src/node/doctor/finding.js';
import { mansio } from '../../support/command.js';
import { nodeDirectory, startTestNode, type TestNode } from '../../support/node.js';
import { type Pebble, startPebble } from '../../support/peers/pebble.js';
import { parseMetrics } from '../../support/prometheus-text.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from '../cluster/support/cluster.js';
import { eventually } from '../cluster/support/eventually.js';

const HOST = 'mail.example.test';

const settingsFor = (pebble: Pebble) => ({
  MANSIO_ACME_DIRECTORY: pebble.directory,
  MANSIO_ACME_CA: pebble.caFile,
  MANSIO_ACME_EMAIL: 'ops@example.test',
  MANSIO_ACME_PORT: String(pebble.httpPort),
  MANSIO_HOSTNAME: HOST,
  MANSIO_HOSTED_DOMAINS: 'example.test',
  MANSIO_OUTBOUND_DNS: pebble.dns,
});

/** Opens TLS as a client that trusts the authority and checks the name. @throws when the certificate is not for the name */
async function trusted(address: string, servername: string, root: string): Promise<TLSSocket> {
  const [host, portText] = [address.slice(0, address.lastIndexOf(':')), address.slice(address.lastIndexOf(':') + 1)];
  const socket = connect({ host, port: Number(portText), servername, ca: root });
  // The handshake counts; a server that is killed afterwards resets the connection.
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  socket.end();
  return socket;
}

testWith(
  'pebble',
  'pebble-challtestsrv',
  'nats-server',
)(
  'one of three nodes requests; it is killed in the middle, another one goes on, and all that live serve',
  async (t) => {
    // The authority asks an address where nobody answers, until the node that requests is gone.
    const [ends, silent] = [['127.0.0.2', '127.0.0.3', '127.0.0.4'] as const, '127.0.0.5'];
    const pebble = await startPebble(t, { address: silent });
    const waiting: Socket[] = [];
    const silence = createServer((socket) => void waiting.push(socket.on('error', () => {}))).listen(
      pebble.httpPort,
      silent,
    );
    const asked = once(silence, 'connection');
    t.teardown(() => {
      for (const socket of waiting) socket.destroy();
      silence.close();
    });
    const cluster = await startCluster(t, {
      settings: settingsFor(pebble),
      settingsOf: (i) => ({
        MANSIO_BIND: ends[i]!,
        MANSIO_HTTP_BIND: '127.0.0.1',
        MANSIO_HTTPS_PORT: '0',
        MANSIO_IMAPS_PORT: '0',
      }),
    });
    await asked;
    const [holder] = await cluster.sql<{ id: string }[]>`select node_id as id from acme_accounts`;
    const [open] = await cluster.sql<{ count: number }[]>`select count(*)::integer as count from acme_tokens`;
    t.is(open!.count, 1);
    const killed = cluster.nodes.findIndex(({ name }) => name === holder!.id);
    t.true(killed >= 0);
    await cluster.nodes[killed]!.kill();
    // Either of the others may request; the authority asks the last that lives.
    const living = cluster.nodes.filter((_, i) => i !== killed);
    await pebble.pointTo(ends[killed === 2 ? 1 : 2]);
    for (const socket of waiting) socket.destroy();

    const root = await pebble.root();
    for (const { process } of living) {
      const { https, imaps } = process.ready.listeners;
      for (const address of [https!, imaps!])
        await eventually(`the certificate at ${address}`, () => trusted(address, HOST, root));
      for (const prefix of ['mta-sts', 'autoconfig', 'autodiscover'])
        await eventually(`that of ${prefix}`, () => trusted(https!, `${prefix}.example.test`, root));
    }
    const [after] = await cluster.sql<{ id: string; epoch: string; revision: string }[]>`
      select node_id as id, epoch, revision from acme_accounts`;
    t.not(after!.id, holder!.id);
    // Two certificates, and none twice.
    t.is(Number(after!.revision), 2);

    // The killed node comes back, and serves without a request.
    await cluster.nodes[killed]!.start();
    await trusted(cluster.nodes[killed]!.process.ready.listeners['https']!, HOST, root);
  },
);

async function healthOf(node: TestNode) {
  const report = (await (await fetch(`http://127.0.0.1:${port(node, 'http')}/healthz`)).json()) as HealthReport;
  return report.checks.find(({ name }) => name === 'tls-certificate')!;
}

testWith('pebble', 'pebble-challtestsrv')(
  'a failure is told while the node serves; then the certificate comes, and the port of ACME redirects',
  async (t) => {
    const pebble = await startPebble(t);
    const metricsPort = await freePort();
    const settings = {
      ...settingsFor(pebble),
      // A certificate of a domain would wait for the end of its own back-off.
      MANSIO_HOSTED_DOMAINS: '',
      MANSIO_DATA_DIR: await nodeDirectory(),
      MANSIO_HTTPS_PORT: '0',
      MANSIO_METRICS_PORT: String(metricsPort),
    };
    // The authority finds nobody: the port is off.
    const refused = await startTestNode({ ...settings, MANSIO_ACME_PORT: 'off' });
    t.false('acme' in refused.ready.listeners);
    const failed = await eventually('the failure', async () => {
      const check = await healthOf(refused);
      return check.status === 'Degraded' ? check : undefined;
    });
    t.regex(failed!.description!, /urn:ietf:params:acme:error:connection/);
    t.is((await fetch(`http://127.0.0.1:${port(refused, 'http')}/healthz`)).status, 200);
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const families = parseMetrics(text);
    t.true(families.has('mansio_certificates_failing'));
    t.regex(text, /mansio_certificate_requests_total\{outcome="failed"\} [1-9]/);
    const { code, stdout } = await mansio(refused.dataDir, ['doctor', '--json'], {
      ...settings,
      MANSIO_ACME_PORT: 'off',
    });
    t.is(code, 1);
    const order = (JSON.parse(stdout) as Finding[]).find(({ detail }) => detail.startsWith('no new certificate: '));
    t.like(order, { check: 'certificate', subject: HOST, status: 'fail' });
    t.regex(
      order!.detail,
      /^no new certificate: connection: .*mail\.example\.test.*; there is none yet; \d+ requests? failed, it is tried/,
    );
    t.is(order!.fix, 'nft add rule inet filter input tcp dport 80 accept');
    t.is((await refused.stop()).code, 0);

    // Another name is tried at once.
    const node = await startTestNode({ ...settings, MANSIO_ACME_NAMES: `${HOST},app.example.test` });
    const root = await pebble.root();
    const https = node.ready.listeners['https']!;
    await eventually('the certificate', () => trusted(https, 'app.example.test', root));
    const check = await eventually('health', async () => {
      const now = await healthOf(node);
      return now.status === 'Healthy' ? now : undefined;
    });
    const { names, expiresAt } = check!.data as { names: string[]; expiresAt: string };
    t.deepEqual(names.sort(), ['app.example.test', HOST]);
    t.true(Date.parse(expiresAt) > Date.now());
    const redirected = async (host: string) => {
      const asked = request({ host: '127.0.0.1', port: port(node, 'acme'), path: '/x?y=1', headers: { host } }).end();
      const [{ statusCode, headers }] = (await once(asked, 'response')) as [IncomingMessage];
      return `${statusCode} ${headers.location}`;
    };
    t.is(await redirected(HOST), `301 https://${HOST}/x?y=1`);
    t.is(await redirected('elsewhere.test'), '421 undefined');
    t.is((await node.stop()).code, 0);
  },
);
