// Tests that a whole node says at its start, and in its health, that NATS beyond loopback has no TLS, and serves clients nevertheless.
import { startNatsServer } from '../../../dev/servers/nats-server.js';
import { defaultSigningKey } from '../../support/default-signing-key.js';
import { startTestNode } from '../../support/node.js';
import { testWith } from '../../support/test-with.js';

interface Report {
  readonly status: string;
  readonly checks: readonly { readonly name: string; readonly status: string }[];
}

testWith('nats-server')('a node warns of NATS beyond loopback without TLS', async (t) => {
  t.timeout(600_000);
  const nats = await startNatsServer();
  t.teardown(() => nats.kill());
  // The address is not one of loopback, and the kernel connects it to this machine.
  const url = nats.url.replace('127.0.0.1', '0.0.0.0');
  const node = await startTestNode({ NATS_URL: url, ...defaultSigningKey().settings });
  t.teardown(() => node.stop());
  const warnings = node.logs.filter((line) => line.includes('NATS_URL has servers beyond loopback without TLS'));
  t.is(warnings.length, 1);
  t.like(JSON.parse(warnings[0]!), { level: 'warn', servers: ['0.0.0.0'] });
  const response = await fetch(`http://${node.ready.listeners['http']}/healthz`);
  const { status, checks } = (await response.json()) as Report;
  t.deepEqual([response.status, status], [200, 'Degraded']);
  t.deepEqual(
    checks.filter((check) => check.status !== 'Healthy').map(({ name }) => name),
    ['backend-tls'],
  );
});
