// Tests what a pool asks of its connections when they open.
import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net';
import { connect } from '../../../../src/store/postgres/driver/client.js';
import { testDatabase } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';

test('a pool asks for the types of arrays once, and reads arrays over later connections', async (t) => {
  const { address } = await testDatabase(t);
  let asked = 0;
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connectTo(address.port!, address.host!);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => [client, upstream].map((each) => each.destroy()));
    }
    client.on('data', (octets) => {
      if (octets.includes('pg_catalog.pg_type')) asked++;
    });
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.teardown(() => proxy.close());
  const { port } = proxy.address() as AddressInfo;
  const sql = connect({ ...address, host: '127.0.0.1', port }, { max: 1, applicationName: 'test' });
  t.teardown(() => sql.end({ timeout: 1 }));
  for (let i = 0; i < 3; i++) {
    const [row] = await sql`select ${['a', 'b']}::text[] as texts, array[1, 2] as numbers, array[true] as truths`;
    t.deepEqual(row, { texts: ['a', 'b'], numbers: [1, 2], truths: [true] });
    const closed = [...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    for (const socket of sockets) socket.destroy();
    await Promise.all(closed);
    sockets.clear();
    await sql`select 1`.catch(() => undefined);
  }
  t.is(asked, 1);
});
