// Tests drain and stop under load: each client with an open connection is told to leave it, and no request is lost.
import http from 'node:http';
import net from 'node:net';
import type { ExecutionContext } from 'ava';
import type { HttpHandler } from '../../../../src/gateways/http/exchange.js';
import { type HttpServer, startHttp } from '../../../../src/gateways/http/server/server.js';
import { TrustedNetworks } from '../../../../src/net/tcp/trusted-networks.js';
import { deferred } from '../../../support/deferred.js';
import { startBalancer } from '../../../support/peers/balancer.js';
import test from '../../../support/test.js';
import { FakeLog } from '../fakes.js';

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

async function start(t: ExecutionContext, trusted: readonly string[], handler?: HttpHandler): Promise<HttpServer> {
  const server = await startHttp({
    bind: '127.0.0.1',
    port: 0,
    webSockets: [],
    trusted: new TrustedNetworks(trusted),
    log: new FakeLog(),
    handler:
      handler ??
      (async (request) => {
        const body: Uint8Array[] = [];
        await request.body(1_000_000, (octets) => void body.push(octets));
        return { status: 200, headers: [], body: Buffer.concat([...body, Buffer.from('!')]) };
      }),
  });
  t.teardown(() => server.stop(0));
  return server;
}

const portOf = ({ address }: HttpServer) => Number(address.split(':')[1]);

function post(port: number, agent: http.Agent, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = http.request({ port, host: '127.0.0.1', agent, method: 'POST' }, (response) => {
      let got = '';
      response.on('data', (chunk) => {
        got += chunk;
      });
      response.on('end', () => resolve(`${response.statusCode} ${got}`));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}

for (const [name, trusted] of [
  ['a server', []],
  ['a server behind its front', ['127.0.0.0/8']],
] as const) {
  test(`${name} that drains and stops behind a balancer fails no request`, async (t) => {
    const [old, next] = [await start(t, trusted), await start(t, trusted)];
    const balancer = await startBalancer(t, portOf(old));
    const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
    t.teardown(() => agent.destroy());
    let answered = 0;
    let over = false;
    const client = async (id: number) => {
      for (let i = 0; !over; i++) {
        t.is(await post(balancer.port, agent, `${id}.${i}`), `200 ${id}.${i}!`);
        answered++;
      }
    };
    const until = async (count: number) => {
      while (answered < count) await new Promise(setImmediate);
    };
    const clients = Promise.all(Array.from({ length: 12 }, (_, id) => client(id)));
    const rolled = (async () => {
      await until(100);
      old.beginDrain();
      await until(200);
      balancer.target = portOf(next);
      await until(answered + 24);
      await old.stop(10_000);
      await until(answered + 100);
      over = true;
    })();
    await t.notThrowsAsync(Promise.race([clients, rolled]));
    await t.notThrowsAsync(clients);
  });

  test(`${name} that stops under load ends each connection with a reply that says so`, async (t) => {
    const server = await start(t, trusted);
    let answered = 0;
    const client = () =>
      new Promise<string>((resolve) => {
        const socket = net.connect(portOf(server), '127.0.0.1');
        let last = '';
        socket.on('data', (chunk) => {
          last += chunk;
          if (!last.endsWith('!')) return;
          answered++;
          if (/\r\nConnection: close\r\n/i.test(last)) return;
          last = '';
          socket.write(GET);
        });
        socket.on('error', (error) => resolve(error.message));
        socket.on('close', () => resolve(last));
        socket.write(GET);
      });
    const clients = Array.from({ length: 10 }, client);
    while (answered < 100) await new Promise(setImmediate);
    await server.stop(10_000);
    for (const last of await Promise.all(clients)) t.regex(last, /^HTTP\/1\.1 200 .*\r\nConnection: close\r\n.*!$/is);
  });

  test(`${name} that stops answers requests that have arrived on connections that are kept`, async (t) => {
    const server = await start(t, trusted);
    const large = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\n\r\n${'x'.repeat(50_000)}`;
    const connections = [GET, large].map((request) => {
      const socket = net.connect(portOf(server), '127.0.0.1');
      let answers = 0;
      const answered = (count: number) =>
        new Promise<void>((resolve, reject) => {
          const look = () => answers === count && resolve();
          socket.on('data', look);
          socket.on('error', reject);
          socket.on('close', () => reject(new Error('closed without an answer')));
          look();
        });
      socket.on('data', (chunk) => {
        answers += String(chunk).split('HTTP/1.1 200 OK').length - 1;
      });
      return { answered, ask: () => void socket.write(request) };
    });
    for (const { ask } of connections) ask();
    await Promise.all(connections.map(({ answered }) => answered(1)));
    // This is longer than a server that stops waits for another request.
    await new Promise((resolve) => setTimeout(resolve, 200));
    // The kernel has the requests, but the server has not read them.
    for (const { ask } of connections) ask();
    const stopped = server.stop(10_000);
    await t.notThrowsAsync(Promise.all(connections.map(({ answered }) => answered(2))));
    await stopped;
  });
}

test('while draining beside processes that share the port no new connections are taken, and those there are are served', async (t) => {
  const server = await start(t, []);
  const kept = net.connect(portOf(server), '127.0.0.1');
  const next = () => new Promise<string>((resolve) => kept.once('data', (chunk) => resolve(String(chunk))));
  kept.write(GET);
  t.notRegex(await next(), /Connection: close/i);
  server.beginDrain(true);
  await t.throwsAsync(fetch(`http://${server.address}/`));
  kept.write(GET);
  t.regex(await next(), /^HTTP\/1\.1 200 .*\r\nConnection: close\r\n/is);
});

test('while draining new connections are taken, and large replies say that they are the last as well', async (t) => {
  async function* chunks() {
    yield Buffer.alloc(100_000);
  }
  const bodies = [
    Buffer.alloc(100),
    Buffer.alloc(100_000),
    { length: 100_000, chunks },
    { length: null, chunks },
    null,
  ];
  const server = await start(t, [], async (request) => {
    const body = bodies[Number(request.path.slice(1))]!;
    return {
      status: body === null ? 204 : 200,
      headers: [],
      body: body !== null && 'chunks' in body ? { ...body, chunks: chunks() } : body,
    };
  });
  const agent = new http.Agent({ keepAlive: true });
  t.teardown(() => agent.destroy());
  const fields = async (method: string) => {
    const found: (string | undefined)[] = [];
    for (const i of bodies.keys()) {
      const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
        const options = { port: portOf(server), host: '127.0.0.1', agent, method, path: `/${i}` };
        http.request(options, resolve).on('error', reject).end();
      });
      await response.resume().toArray();
      found.push(response.headers.connection);
    }
    return found;
  };
  t.deepEqual(
    await fields('GET'),
    bodies.map(() => undefined),
  );
  server.beginDrain();
  t.deepEqual(
    await fields('GET'),
    bodies.map(() => 'close'),
  );
  t.deepEqual(
    await fields('HEAD'),
    bodies.map(() => 'close'),
  );
});

test('a request that comes while another is awaited is served', async (t) => {
  const [reached, go] = [deferred(), deferred()];
  const server = await start(t, [], async (request) => {
    if (request.path === '/slow') {
      reached.resolve();
      await go.promise;
    }
    return { status: 200, headers: [], body: Buffer.from('!') };
  });
  const idle = net.connect(portOf(server), '127.0.0.1');
  await new Promise((resolve) => idle.once('connect', resolve));
  const slow = fetch(`http://${server.address}/slow`);
  await reached.promise;
  const stopped = server.stop(60_000);
  const answer = new Promise<string>((resolve) => idle.once('data', (chunk) => resolve(String(chunk))));
  idle.write(GET);
  t.regex(await answer, /^HTTP\/1\.1 200 /);
  go.resolve();
  t.is(await (await slow).text(), '!');
  await stopped;
});
