// Tests the port with TLS: the server behind it sees the client, certificates change without a new listener, and the share of an address.
import { once } from 'node:events';
import net from 'node:net';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import type { ExecutionContext } from 'ava';
import { freePort } from '../../../../dev/ports.js';
import { type HttpOptions, startHttp } from '../../../../src/gateways/http/server/server.js';
import { CertificateSource } from '../../../../src/net/tcp/certificate-source.js';
import { TrustedNetworks } from '../../../../src/net/tcp/trusted-networks.js';
import { pairFor } from '../../../support/key-pair.js';
import { v1, v2 } from '../../../support/proxy-protocol.js';
import test from '../../../support/test.js';
import { FakeLog } from '../fakes.js';
import { exchangeBytes } from '../gateway.js';

const CLIENT = '203.0.113.7';
const HSTS = 'strict-transport-security: max-age=31536000';

async function start(
  t: ExecutionContext,
  certificates: CertificateSource,
  options: Partial<HttpOptions> = {},
  limits = { connections: 100, connectionsPerAddress: 100, connectionsPerAccount: 100 },
) {
  const log = new FakeLog();
  const server = await startHttp({
    bind: '127.0.0.1',
    port: 0,
    tls: { bind: '127.0.0.1', port: 0, certificates, limits },
    webSockets: [],
    log,
    handler: async (request) => {
      const octets: Uint8Array[] = [];
      await request.body(1024 * 1024, (piece) => void octets.push(Uint8Array.from(piece)));
      const { length } = Buffer.concat(octets);
      return { status: 200, headers: [], body: Buffer.from(`${request.remoteAddress} ${length}!`) };
    },
    ...options,
  });
  t.teardown(() => server.stop(0));
  return { server, log, port: Number(server.tlsAddress!.split(':')[1]) };
}

/** Opens TLS, behind octets in the clear. */
async function secured(port: number, options: ConnectionOptions = {}, before = Buffer.alloc(0)): Promise<TLSSocket> {
  const plain = net.connect(port, '127.0.0.1');
  plain.write(before);
  const socket = connect({ socket: plain, rejectUnauthorized: false, ...options });
  await once(socket, 'secureConnect');
  return socket;
}

const commonName = (socket: TLSSocket) => String(socket.getPeerCertificate().subject.CN);

/** Sends a request and returns the reply, whose body ends with `!`. */
function asked(socket: TLSSocket, body = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    let reply = '';
    const read = (octets: Buffer) => {
      reply += octets.toString('latin1');
      if (!reply.endsWith('!')) return;
      socket.off('data', read);
      resolve(reply.toLowerCase());
    };
    socket.on('data', read);
    socket.once('close', () => reject(new Error('closed')));
    const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`;
    socket.write(`${body === '' ? 'GET' : 'POST'} / HTTP/1.1\r\nHost: x\r\n${length}\r\n${body}`);
  });
}

test('requests over TLS belong to their client, and are told to stay with TLS; plain ones are not', async (t) => {
  const { port, server } = await start(t, new CertificateSource([await pairFor('mail.example.test')]));
  const socket = await secured(port);
  for (const size of [0, 300_000, 0]) {
    const reply = await asked(socket, 'x'.repeat(size));
    t.true(reply.includes(HSTS));
    t.true(reply.endsWith(`127.0.0.1 ${size}!`));
  }
  socket.destroy();
  const plainPort = Number(server.address.split(':')[1]);
  const plain = await exchangeBytes(plainPort, Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'), (got) =>
    got.endsWith('!'),
  );
  t.true(plain.endsWith('127.0.0.1 0!'));
  t.notRegex(plain, /strict-transport-security/i);
  // A client of the plain port that sends a header of its own is no other client.
  const forged = Buffer.concat([v2(CLIENT), Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')]);
  t.notRegex(await exchangeBytes(plainPort, forged, (got) => got.endsWith('!')), /203\.0\.113/);
});

test('TLS alone, while the plain port is off', async (t) => {
  const { port, server } = await start(t, new CertificateSource([await pairFor('a.test')]), { port: 'off' });
  t.is(server.address, '');
  t.true((await asked(await secured(port))).endsWith('127.0.0.1 0!'));
});

test('a renewed certificate is for new connections, and open ones go on', async (t) => {
  const certificates = new CertificateSource([await pairFor('old.example.test')]);
  const { port } = await start(t, certificates);
  const before = await secured(port);
  t.is(commonName(before), 'old.example.test');
  certificates.renew([await pairFor('new.example.test'), await pairFor('other.example.test')]);
  t.true((await asked(before)).endsWith('0!'));
  t.is(commonName(await secured(port)), 'new.example.test');
  const other = await secured(port, { servername: 'other.example.test' });
  t.is(commonName(other), 'other.example.test');
  for (const socket of [before, other]) socket.destroy();
});

test('the PROXY header of a balancer stands before TLS', async (t) => {
  const certificates = new CertificateSource([await pairFor('a.test')]);
  const { port } = await start(t, certificates, { trusted: new TrustedNetworks(['127.0.0.0/8']) });
  for (const header of [v1(CLIENT), v2(CLIENT)]) {
    const socket = await secured(port, {}, Buffer.from(header));
    t.true((await asked(socket)).endsWith(`${CLIENT} 0!`));
    socket.destroy();
  }
});

test('an address has a share of the connections, and gets it back', async (t) => {
  const limits = { connections: 100, connectionsPerAddress: 2, connectionsPerAccount: 100 };
  const { port } = await start(t, new CertificateSource([await pairFor('a.test')]), {}, limits);
  const open = [await secured(port), await secured(port)];
  for (const socket of open) t.true((await asked(socket)).endsWith('0!'));
  await t.throwsAsync(secured(port));
  open[0]!.destroy();
  // The server notices the close in its own time.
  let again: TLSSocket | undefined;
  while (again === undefined) again = await secured(port).catch(() => undefined);
  t.true((await asked(again)).endsWith('0!'));
  for (const socket of [again, open[1]!]) socket.destroy();
});

test('plain text at the port of TLS ends the connection, and is no matter for the log', async (t) => {
  const { port, log } = await start(t, new CertificateSource([await pairFor('a.test')]));
  const socket = net.connect(port, '127.0.0.1').resume();
  socket.on('error', () => {});
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'close');
  t.deepEqual(log.lines, []);
});

test('a port that is in use is said, and nothing stays open', async (t) => {
  const certificates = new CertificateSource([await pairFor('a.test')]);
  const { port } = await start(t, certificates);
  const plainPort = await freePort();
  const options = { bind: '127.0.0.1', webSockets: [], log: new FakeLog(), handler: () => Promise.reject(new Error()) };
  const again = startHttp({ ...options, port: plainPort, tls: { bind: '127.0.0.1', port, certificates } });
  await t.throwsAsync(again, { code: 'EADDRINUSE' });
  const free = await startHttp({ ...options, port: plainPort });
  await free.stop(0);
});
