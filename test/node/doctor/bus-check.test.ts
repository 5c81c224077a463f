// Tests the check of NATS with real servers: which of them take this node.
import { startNatsServer } from '../../../dev/servers/nats-server.js';
import { busCheck } from '../../../src/node/doctor/bus-check.js';
import test from '../../support/test.js';
import { testWith } from '../../support/test-with.js';
import { subjectFor } from './subjects.js';

const GONE = '127.0.0.1:1';

async function of(t: Parameters<typeof subjectFor>[0], urls?: string) {
  const env: Record<string, string> = urls === undefined ? {} : { NATS_URL: urls };
  return busCheck.run((await subjectFor(t, { env, more: { dialMs: 20_000 } })).subject);
}

test('a node without NATS is alone, and without any server it fails', async (t) => {
  t.like(await of(t), [{ subject: 'NATS_URL', status: 'ok' }]);
  const [found, ...others] = await of(t, `nats://joe:secret@${GONE}`);
  t.like(found, { subject: GONE, status: 'fail', fix: 'systemctl restart nats-server' });
  t.deepEqual(others, []);
  t.false(JSON.stringify(found).includes('secret'));
});

test('a server on another machine without TLS is a warning', async (t) => {
  // No server answers at an address of the documentation.
  const { subject } = await subjectFor(t, { env: { NATS_URL: 'nats://203.0.113.5' }, more: { dialMs: 100 } });
  const findings = await busCheck.run(subject);
  t.like(findings[1], { subject: 'TLS', status: 'warn' });
  t.regex(findings[1]!.fix!, /^write tls:\/\/ before each server/);
});

testWith('nats-server')('one server that takes the node is enough; one that does not is a warning', async (t) => {
  const server = await startNatsServer();
  t.teardown(() => server.kill());
  const [own] = await of(t, server.url);
  t.like(own, { subject: `127.0.0.1:${server.port}`, status: 'ok' });
  t.regex(own!.detail, /^nats-server \d+\.\d+/);
  const both = await of(t, `${server.url},nats://${GONE}`);
  t.deepEqual(
    both.map(({ status }) => status),
    ['ok', 'warn'],
  );
});
