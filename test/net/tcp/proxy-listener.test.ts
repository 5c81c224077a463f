// Tests only the listener; tests in gateways/http have the server behind it.
import net from 'node:net';
import type { ExecutionContext } from 'ava';
import { ProxyListener } from '../../../src/net/tcp/proxy-listener.js';
import { TrustedNetworks } from '../../../src/net/tcp/trusted-networks.js';
import test from '../../support/test.js';

async function open(t: ExecutionContext, trusted: readonly string[]): Promise<[ProxyListener, number]> {
  const listener = new ProxyListener({
    bind: '127.0.0.1',
    port: 0,
    server: '/nonexistent/socket',
    trusted: new TrustedNetworks(trusted),
    refused: () => t.fail(),
    firstOctetsMs: 30,
  });
  t.teardown(() => listener.close(0));
  return [listener, await listener.open()];
}

test('a connection that says nothing, or no whole line, is closed', async (t) => {
  for (const trusted of [[], ['127.0.0.0/8']]) {
    const [, port] = await open(t, trusted);
    for (const start of ['', 'PROXY TCP4 ', 'GET / HT']) {
      const socket = net.connect(port, '127.0.0.1').resume();
      // A busy listener closes before it has read the start, which resets the connection.
      socket.on('error', () => {});
      const closed = new Promise((resolve) => socket.once('close', resolve));
      if (start !== '') socket.write(start);
      await closed;
    }
  }
  t.pass();
});

test('a server that cannot be reached costs the connection, not the process', async (t) => {
  const [listener, port] = await open(t, []);
  const socket = net.connect(port, '127.0.0.1').resume();
  socket.on('error', () => {});
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write('GET / HTTP/1.1\r\n');
  await closed;
  t.is(listener.addressOf(new Uint8Array(16)), undefined);
});
