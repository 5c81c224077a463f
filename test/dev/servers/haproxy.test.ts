// Tests the balancer in front of nodes that are slow or unwell: it follows /healthz, and mail still reaches a node.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, createServer as createHttp, request as httpRequest } from 'node:http';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { requireProgram } from '../../../dev/executables.js';
import { freePort, freePorts } from '../../../dev/ports.js';
import { type Backend, type Balancer, startConfigured, startHaproxy } from '../../../dev/servers/haproxy.js';
import { testWith } from '../../support/test-with.js';
import { until } from '../../support/until.js';

/** Starts a node with these answers of /healthz, whose mail port, for SMTP and IMAP, sends its name. */
async function node(name: string, health: { status: number; afterMs: number }) {
  const answer = async () => {
    await delay(health.afterMs);
    return health.status;
  };
  let checks = 0;
  const http = createHttp((_, response) => {
    void answer().then((status) => response.writeHead(status).end(() => checks++));
  });
  const mx = createServer((socket) => void socket.on('error', () => {}).write(`220 ${name}\r\n`));
  const [httpPort, mxPort] = await Promise.all([http, mx].map(listen));
  const close = () => {
    http.closeAllConnections();
    http.close();
    mx.close();
  };
  return {
    name,
    http: httpPort!,
    mx: mxPort!,
    imap: mxPort!,
    pop3: mxPort!,
    close,
    /** The number of answers so far. */
    checks: () => checks,
  };
}

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** Returns the first line of a mail port of the balancer; '' when it only closes. */
async function banner(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  try {
    const first = await Promise.race([once(socket, 'data'), once(socket, 'end')]);
    return String(first[0] ?? '').trim();
  } finally {
    socket.destroy();
  }
}

testWith('haproxy')('the configuration for deployments is one', async (t) => {
  await t.notThrowsAsync(promisify(execFile)(requireProgram('haproxy'), ['-c', '-f', 'deploy/haproxy.cfg']));
});

testWith('haproxy')('nodes that are slow to say that they are well stay in', async (t) => {
  const nodes = await Promise.all([
    node('slow', { status: 200, afterMs: 1_200 }),
    node('unwell', { status: 503, afterMs: 0 }),
  ]);
  t.teardown(() => nodes.map(({ close }) => close()));
  const [http, mx, imap, pop3] = (await freePorts(4)) as [number, number, number, number];
  const balancer = await startHaproxy({ http, mx, imap, pop3, backends: nodes });
  t.teardown(() => balancer.stop());
  const banners = () => Promise.all([mx, imap, pop3].map(banner));
  // Each of the four listeners makes its own checks, and two of them would remove the node.
  await until(() => nodes.every(({ checks }) => checks() > 8));
  await until(async () => (await banners()).every((line) => line === '220 slow'));
  for (let i = 0; i < 2; i++) t.deepEqual(await banners(), Array(3).fill('220 slow'));
});

testWith('haproxy')('mail goes to nodes that are well, and when none is, to any', async (t) => {
  const [well, unwell] = [
    { status: 200, afterMs: 0 },
    { status: 503, afterMs: 0 },
  ];
  const nodes = await Promise.all([node('a', well), node('b', unwell)]);
  t.teardown(() => nodes.map(({ close }) => close()));
  const [http, mx, imap, pop3] = (await freePorts(4)) as [number, number, number, number];
  const balancer = await startHaproxy({ http, mx, imap, pop3, backends: nodes });
  t.teardown(() => balancer.stop());
  const reached = (expected: readonly string[]) =>
    until(async () => {
      const banners = new Set<string>();
      for (let i = 0; i < 6; i++) banners.add(await banner([mx, imap, pop3][i % 3]!));
      return [...banners].sort().join() === expected.join();
    });
  await reached(['220 a']);
  well.status = 503;
  await t.notThrowsAsync(reached(['220 a', '220 b']));
  unwell.status = 200;
  await t.notThrowsAsync(reached(['220 b']));
});

/** Starts a node that closes each kept connection at the worst moment: it has the next request, and has not begun it. */
async function closingNode() {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    let isUsed = false;
    socket.on('data', (octets) => {
      if (!octets.includes('\r\n\r\n')) return;
      if (isUsed) socket.destroy();
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      isUsed = true;
    });
  });
  const port = await listen(server);
  return { name: 'closing', http: port, mx: port, imap: port, pop3: port, close: () => server.close() };
}

/** Runs the configuration of containers, with this node in place of theirs, and HTTP on `http`. */
async function deployed(node: Backend, http: number): Promise<Balancer> {
  const text = readFileSync('deploy/haproxy.cfg', 'utf8');
  const others = new Map<string, number>([['8080', http]]);
  for (const [, port] of text.matchAll(/^ {2}bind :(\d+)/gm)) {
    if (!others.has(port!)) others.set(port!, await freePort());
  }
  const local = text
    // The value exceeds a user's limit of open files.
    .replace(/^ {2}maxconn .*$/m, '')
    .replaceAll(/^ {2}server node-[23].*$/gm, '')
    .replaceAll(/^( {2}bind) :(\d+)/gm, (_, bind, port) => `${bind} 127.0.0.1:${others.get(port)}`)
    .replaceAll(/ node-1:\d+/g, ` 127.0.0.1:${node.http}`)
    .replaceAll(' port 8080', ` port ${node.http}`);
  return startConfigured(local, http);
}

const balancers = {
  'of containers': deployed,
  'of tests': async (node: Backend, http: number) => {
    const [mx, imap, pop3] = (await freePorts(3)) as [number, number, number];
    return startHaproxy({ http, mx, imap, pop3, backends: [node] });
  },
};

for (const [name, startBalancer] of Object.entries(balancers)) {
  testWith('haproxy')(
    `a request that meets the end of a kept connection to a node is answered all the same, by the balancer ${name}`,
    async (t) => {
      const node = await closingNode();
      t.teardown(node.close);
      const http = await freePort();
      const balancer = await startBalancer(node, http);
      t.teardown(() => balancer.stop());
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      t.teardown(() => agent.destroy());
      for (const method of ['GET', 'PATCH', 'POST', 'GET', 'DELETE', 'PUT', 'HEAD', 'PATCH']) {
        const status = new Promise((resolve, reject) => {
          const request = httpRequest({ port: http, host: '127.0.0.1', method, agent }, (response) => {
            response.on('end', () => resolve(response.statusCode)).resume();
          });
          request.on('error', reject).end();
        });
        t.is(await status, 200, method);
      }
    },
  );
}
