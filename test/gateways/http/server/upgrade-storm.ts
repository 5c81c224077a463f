// Runs in its own process, because uWebSockets complains on stderr. Makes many upgrades on raw sockets, three of four late, while
// the heap changes; prints how many opened, and how many of those the server ended.
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { startHttp } from '../../../../src/gateways/http/server/server.js';
import { FakeLog } from '../fakes.js';

const HANDSHAKE =
  'GET /hub HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
const AT_ONCE = 50;
/** In ms. A faulty server ends the socket at once. */
const WATCHED_MS = 10;

let left = Number(process.argv[2]);
let [asked, opened, ended] = [0, 0, 0];
const heap: Buffer[] = [];

const take = () => ({ message() {}, pinged() {}, drained() {}, closed() {} });

const server = await startHttp({
  bind: '127.0.0.1',
  port: 0,
  handler: () => Promise.reject(new Error('only upgrades')),
  log: new FakeLog(),
  webSockets: [
    {
      path: '/hub',
      endpoint: {
        maxMessageBytes: 1024,
        negotiate: () => Promise.reject(new Error('only upgrades')),
        exchange: () => Promise.reject(new Error('only upgrades')),
        upgrade: () => {
          asked++;
          for (let i = 0; i < 8; i++) heap[(asked * 7 + i) % 4096] = Buffer.alloc(64 + ((asked * 31 + i * 97) % 640));
          return asked % 4 === 0 ? take : delay(1 + (asked % 3), take);
        },
      },
    },
  ],
});
const port = Number(server.address.split(':')[1]);

async function connect(): Promise<void> {
  const socket = net.connect(port, '127.0.0.1');
  let got = '';
  let over = false;
  const answered = new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      got += chunk;
      if (got.includes('\r\n\r\n')) resolve();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      over = true;
      resolve();
    });
  });
  socket.write(HANDSHAKE);
  await answered;
  await delay(WATCHED_MS);
  if (got.startsWith('HTTP/1.1 101 ')) opened++;
  if (over) ended++;
  socket.destroy();
}

await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    while (left-- > 0) await connect();
  }),
);
await server.stop(0);
process.stdout.write(JSON.stringify({ opened, ended }));
process.exit(0);
