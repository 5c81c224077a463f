// Tests the check of listeners with servers that answer rightly, wrongly or not at all, from inside and at the addresses that DNS has.
import { type AddressInfo, createServer } from 'node:net';
import type { ExecutionContext } from 'ava';
import { freePort } from '../../../dev/ports.js';
import { listenerCheck } from '../../../src/node/doctor/listener-check.js';
import test from '../../support/test.js';
import { HOST, NODE, type SubjectWishes, subjectFor } from './subjects.js';

/** A server that says `line` and waits; returns its port. */
async function saying(t: ExecutionContext, line: string): Promise<number> {
  const server = createServer((socket) => void socket.on('error', () => undefined).write(line));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const GREETING = 'HTTP/1.1 200 OK\r\n\r\n';

/** A node with the listener `metrics`, which is asked from inside alone, and others that clients are told. */
async function findings(
  t: ExecutionContext,
  listeners: Readonly<Record<string, number>>,
  address: string,
  wishes: SubjectWishes = {},
) {
  const open = Object.fromEntries(Object.entries(listeners).map(([name, port]) => [name, `${HOST}:${port}`]));
  const { subject, server } = await subjectFor(t, {
    nodes: [{ ...NODE, listeners: open }],
    ...wishes,
    more: { dialMs: 20_000, ...wishes.more },
  });
  server.zones.set(HOST, { A: [address] });
  return listenerCheck.run(subject);
}

test('a listener of this node answers, answers wrongly, or is closed', async (t) => {
  const port = await saying(t, GREETING);
  t.like(await findings(t, { metrics: port }, '127.0.0.1'), [
    { subject: `metrics 127.0.0.1:${port}`, status: 'ok', detail: 'answers "HTTP/1.1 200 OK"' },
  ]);
  const wrong = await saying(t, 'SSH-2.0-OpenSSH\r\n500 what\r\n');
  const [odd] = await findings(t, { metrics: wrong }, '127.0.0.1');
  t.like(odd, { status: 'fail', fix: 'systemctl restart mansio' });
  t.regex(odd!.detail, /^it answers /);
  const closed = await freePort();
  t.like(await findings(t, { metrics: closed }, '127.0.0.1'), [
    {
      status: 'fail',
      detail: `no connection to 127.0.0.1 port ${closed}: ECONNREFUSED`,
      fix: 'systemctl restart mansio',
    },
  ]);
});

test('a listener is asked at the addresses that DNS has', async (t) => {
  const [port, closed] = [await saying(t, GREETING), await freePort()];
  const outside = async (address: string, told: number, wishes: SubjectWishes = {}) => {
    const env = { MANSIO_PUBLIC_URL: `http://${HOST}:${told}` };
    return (await findings(t, { metrics: port }, address, { env, ...wishes })).slice(1);
  };
  t.like(await outside('127.0.0.1', port), [{ subject: `http 127.0.0.1:${port} (${HOST})`, status: 'ok' }]);
  const [refused] = await outside('127.0.0.1', closed);
  t.like(refused, { status: 'fail', fix: 'MANSIO_BIND=0.0.0.0' });
  t.regex(refused!.detail, /nothing listens there \(MANSIO_BIND is 127\.0\.0\.1\)$/);
  // An address that no interface has.
  t.like(await outside('127.9.9.9', closed), [
    { status: 'warn', fix: `nft add rule inet filter input tcp dport ${closed} accept` },
  ]);
});

test('with ACME, port 80 is asked at each name of the certificate', async (t) => {
  const env = { MANSIO_ACME_DIRECTORY: 'https://acme.test/dir', MANSIO_ACME_NAMES: `${HOST},app.example.org` };
  const { subject, server } = await subjectFor(t, { env, nodes: [{ ...NODE, listeners: {} }], more: { dialMs: 100 } });
  server.zones.set(HOST, { A: ['127.9.9.9'] });
  server.zones.set('app.example.org', { A: ['127.9.9.8'] });
  const found = (await listenerCheck.run(subject)).map((each) => each.subject);
  t.deepEqual(found, [`acme 127.9.9.9:80 (${HOST})`, 'acme 127.9.9.8:80 (app.example.org)']);
});

test('without a node, or without the database, that is said', async (t) => {
  const { subject } = await subjectFor(t);
  t.like(await listenerCheck.run({ ...subject, nodeId: 'other' }), [
    { status: 'fail', detail: 'no node runs on this data directory (other)', fix: 'systemctl start mansio' },
  ]);
  t.like(await listenerCheck.run({ ...subject, facts: undefined }), [{ status: 'warn', fix: 'mansio doctor' }]);
});
