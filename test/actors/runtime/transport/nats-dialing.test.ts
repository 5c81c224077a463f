// Tests which server is tried when.

import pino from 'pino';
import { dialForEver } from '../../../../src/actors/runtime/transport/nats-dialing.js';
import { natsServer } from '../../../../src/actors/runtime/transport/nats-servers.js';
import test from '../../../support/test.js';

test('every server is tried in random order, the one that was lost last', async (t) => {
  const servers = ['a', 'b', 'c'].map((host) => natsServer(`nats://${host}:4222`));
  const lost = servers[1]!;
  const seconds = new Set<string>();
  for (let i = 0; i < 50; i++) {
    const tried: string[] = [];
    const connection = await dialForEver(
      servers,
      lost,
      async (server) => {
        tried.push(server.host);
        if (server !== lost) throw new Error('away');
        return server.host;
      },
      () => false,
      pino({ level: 'silent' }),
    );
    t.is(connection, 'b');
    t.deepEqual([...tried].sort(), ['a', 'b', 'c']);
    t.is(tried.at(-1), 'b');
    seconds.add(tried[1]!);
  }
  t.deepEqual([...seconds].sort(), ['a', 'c']);
});
