// Tests a compressed connection whose peer sends few octets that expand into many.
import { once } from 'node:events';
import net from 'node:net';
import { setImmediate } from 'node:timers/promises';
import zlib from 'node:zlib';
import { DeflatedSocket } from '../../../src/net/tcp/deflated-socket.js';
import test from '../../support/test.js';

const MIB = 1024 * 1024;
/** The stream and the decompressor may hold this many octets together. */
const MOST_HELD = 64 * 1024;

test('octets are inflated as they are read, and all of them arrive', async (t) => {
  const server = net.createServer().listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const peer = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1');
  const [socket] = (await once(server, 'connection')) as [net.Socket];
  const inflated = new DeflatedSocket(socket);
  t.teardown(() => {
    inflated.destroy();
    peer.destroy();
  });
  const size = 64 * MIB;
  peer.write(zlib.deflateRawSync(Buffer.alloc(size, 'x')));
  await once(inflated, 'readable');
  // The reader is busy for this long, so the decompressor has time to run ahead.
  for (let turn = 0; turn < 10_000; turn++) await setImmediate();
  const held = inflated.readableLength;
  let read = 0;
  while (read < size) {
    const octets: Buffer | null = inflated.read();
    if (octets === null) await once(inflated, 'readable');
    else read += octets.length;
  }
  t.is(read, size);
  t.true(held > 0 && held <= MOST_HELD, `${held} octets`);
});
