// Tests what follows a request on its connection, with the front before the server and without: nothing runs after a refused
// head, no write runs with the next request in its segment, and later requests wait for the reply.
import net from 'node:net';
import type { ExecutionContext } from 'ava';
import { binary, defineRoute } from '../../../../src/gateways/http/route.js';
import { deferred } from '../../../support/deferred.js';
import test from '../../../support/test.js';
import { closed, exchangeBytes, type Gateway, startGateway } from '../gateway.js';

const octetsOf = (text: string) => ({
  length: text.length,
  chunks: (async function* () {
    yield Buffer.from(text);
  })(),
});

/** Defines routes that record each call; the first one answers when `gate` resolves. */
async function start(t: ExecutionContext, trusted: readonly string[], one: 'GET' | 'POST' = 'POST') {
  const calls: string[] = [];
  const begun = deferred();
  const gate = deferred();
  const route = (method: 'GET' | 'POST', path: string, wait: boolean) =>
    defineRoute({
      method,
      path,
      summary: '',
      tags: [],
      access: 'public',
      replies: { 200: binary('text/plain') },
      async handler() {
        calls.push(`${method} ${path}`);
        begun.resolve();
        if (wait) await gate.promise;
        return { status: 200, stream: octetsOf(`answer to ${path};`) };
      },
    });
  const extra = [route(one, '/one', true), route('POST', '/two', false), route('GET', '/three', false)];
  const gateway: Gateway = await startGateway(t, { trusted, extra });
  return { calls, begun, gate, gateway };
}

const HOST = 'Host: localhost\r\n';
const TWO = `POST /two HTTP/1.1\r\n${HOST}Content-Length: 0\r\n\r\n`;

const REFUSED: Readonly<Record<string, readonly [status: number, request: string]>> = {
  'two lengths': [400, `POST /two HTTP/1.1\r\n${HOST}Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi`],
  'the same length twice': [400, `POST /two HTTP/1.1\r\n${HOST}Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi`],
  'a coding before chunked': [400, `POST /two HTTP/1.1\r\n${HOST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
  'an odd coding': [400, `POST /two HTTP/1.1\r\n${HOST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
  'a coding and a length': [
    400,
    `POST /two HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`,
  ],
  'two credentials': [400, `GET /three HTTP/1.1\r\n${HOST}Authorization: a\r\nAuthorization: b\r\n\r\n`],
  'a long target': [414, `GET /${'a'.repeat(9_000)} HTTP/1.1\r\n${HOST}\r\n`],
  'large fields': [431, `GET /three HTTP/1.1\r\n${HOST}X: ${'x'.repeat(17_000)}\r\n\r\n`],
  '99 fields': [
    431,
    `GET /three HTTP/1.1\r\n${HOST}${Array.from({ length: 98 }, (_, i) => `X-${i}: 1\r\n`).join('')}\r\n`,
  ],
  'a NUL in a field': [400, `GET /three HTTP/1.1\r\n${HOST}X: a\0b\r\n\r\n`],
  'obsolete folding': [400, `GET /three HTTP/1.1\r\n${HOST}X: a\r\n b\r\n\r\n`],
};

for (const [kind, trusted] of [
  ['without a front', []],
  ['behind a front', ['192.0.2.0/24']],
] as const) {
  test(`nothing is executed after a refused head, ${kind}`, async (t) => {
    const { calls, gateway } = await start(t, trusted);
    for (const [what, [status, request]] of Object.entries(REFUSED)) {
      const got = await exchangeBytes(gateway.port, request + TWO, closed);
      t.deepEqual(
        [...got.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => Number(code)),
        [status],
        what,
      );
      t.regex(got, /\r\nConnection: close\r\n/, what);
    }
    t.deepEqual(calls, []);
    t.regex(await exchangeBytes(gateway.port, TWO, (text) => text.includes('answer')), /^HTTP\/1\.1 200 /);
  });

  test(`a write that comes in one segment with the next request is not carried out, ${kind}`, async (t) => {
    const { calls, gateway } = await start(t, trusted);
    const withBody = `POST /two HTTP/1.1\r\n${HOST}Content-Length: 2\r\n\r\nhi`;
    for (const first of [TWO, withBody]) {
      for (const second of [TWO, `GET /three HTTP/1.1\r\n${HOST}\r\n`]) {
        t.is(await exchangeBytes(gateway.port, first + second, closed), '');
      }
    }
    t.deepEqual(calls, []);
  });

  test(`reads in one segment that are answered at once are answered in their order, ${kind}`, async (t) => {
    const { calls, gateway } = await start(t, trusted);
    const read = (path: string) => `GET ${path} HTTP/1.1\r\n${HOST}\r\n`;
    const got = await exchangeBytes(gateway.port, read('/three') + read('/nowhere') + read('/three'), (text) =>
      /answer.*answer/s.test(text),
    );
    t.deepEqual(
      [...got.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => Number(code)),
      [200, 404, 200],
    );
    t.deepEqual(calls, ['GET /three', 'GET /three']);
  });

  test(`a read whose reply has no body does not share its segment with the next one, ${kind}`, async (t) => {
    const { gateway } = await start(t, trusted);
    const read = `HEAD /three HTTP/1.1\r\n${HOST}\r\n`;
    t.is(await exchangeBytes(gateway.port, read + read, closed), '');
    t.regex(await exchangeBytes(gateway.port, read, (text) => text.endsWith('\r\n\r\n')), /^HTTP\/1\.1 200 /);
  });

  for (const method of ['POST', 'GET'] as const) {
    test(`what follows a ${method} is answered after it, ${kind}`, async (t) => {
      const { calls, begun, gate, gateway } = await start(t, trusted, method);
      const socket = net.connect(gateway.port, '127.0.0.1');
      t.teardown(() => socket.destroy());
      let got = '';
      const both = new Promise<void>((resolve, reject) => {
        socket.on('data', (chunk) => {
          got += chunk;
          if (got.includes('answer to /two')) resolve();
        });
        socket.on('close', () => reject(new Error(`closed after ${got}`)));
      });
      socket.write(`${method} /one HTTP/1.1\r\n${HOST}${method === 'GET' ? '' : 'Content-Length: 0\r\n'}\r\n`);
      await begun.promise;
      await new Promise<void>((resolve) => {
        socket.write(TWO, () => resolve());
      });
      // This later request on another connection shows that the server has had its chance to read the earlier ones.
      await exchangeBytes(gateway.port, `GET /three HTTP/1.1\r\n${HOST}\r\n`, (text) => text.includes('answer'));
      t.deepEqual(calls, [`${method} /one`, 'GET /three']);
      gate.resolve();
      await both;
      t.deepEqual(calls, [`${method} /one`, 'GET /three', 'POST /two']);
      t.true(got.indexOf('answer to /one') < got.indexOf('answer to /two'));
    });
  }
}
