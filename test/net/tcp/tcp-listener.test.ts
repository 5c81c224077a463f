// Tests listenTcp with a small protocol of lines: framing, TLS, limits, times, the pace of writes, and how connections end.
import { once } from 'node:events';
import net from 'node:net';
import { ConnectionLimits } from '../../../src/net/tcp/connection-limits.js';
import type { SessionStart } from '../../../src/net/tcp/tcp-listener.js';
import { TrustedNetworks } from '../../../src/net/tcp/trusted-networks.js';
import { v1 } from '../../support/proxy-protocol.js';
import test from '../../support/test.js';
import { turn } from '../../support/turns.js';
import { Client, open } from './line-sessions.js';

test('lines come in and go out, pipelined ones in order, octets by number between them', async (t) => {
  const opened = await open(t);
  const client = await Client.connect(opened);
  t.is(await client.line(), '+ hello 127.0.0.1');
  client.write('one\r\ntwo\r\ntake 7\r\na\nb\r\nc\rthree\r\ntake 2\r\n');
  t.is(await client.line(), '+ one');
  t.is(await client.line(), '+ two');
  t.is(await client.line(), '+ "a\\nb\\r\\nc\\r"');
  t.is(await client.line(), '+ three');
  client.write('x');
  client.write('yfour\r\nquit\r\nnever\r\n');
  t.is(await client.line(), '+ "xy"');
  t.is(await client.line(), '+ four');
  t.is(await client.line(), undefined);
});

test('STARTTLS forgets what was pipelined behind it', async (t) => {
  for (const count of [1, 20_000]) {
    const opened = await open(t);
    const client = await Client.connect(opened);
    await client.line();
    client.write(`stls\r\n${'injected\r\n'.repeat(count)}inj`);
    t.is(await client.line(), '+ begin');
    // Octets that the kernel still holds are read as a handshake, which ends the connection.
    const secured = await client.secure().then(
      () => true,
      () => false,
    );
    if (!secured) continue;
    client.write('tls\r\nafter\r\n');
    t.is(await client.line(), '+ TLSv1.3');
    t.is(await client.line(), '+ after');
  }
});

test('STARTTLS comes after the replies before it, and a failed handshake ends the connection', async (t) => {
  const opened = await open(t);
  const client = await Client.connect(opened);
  client.write('one\r\nstls\r\n');
  t.is(await client.line(), '+ hello 127.0.0.1');
  t.is(await client.line(), '+ one');
  t.is(await client.line(), '+ begin');
  client.write('this is not TLS\r\n'.repeat(10));
  while ((await client.line()) !== undefined);
  t.deepEqual(
    opened.logged.filter(({ level }) => (level as number) >= 40),
    [],
  );
});

test('TLS from the first octet', async (t) => {
  const client = await Client.connect(await open(t, { implicitTls: true }));
  await client.secure();
  t.is(await client.line(), '+ hello 127.0.0.1');
  t.is(await client.write('tls\r\n').line(), '+ TLSv1.3');
});

test('a trusted proxy says whose connection it is, and has no usable header at its own cost', async (t) => {
  const opened = await open(t, { trusted: new TrustedNetworks(['127.0.0.0/8']) });
  const client = await Client.connect(opened, v1('203.0.113.9'));
  t.is(await client.line(), '+ hello 203.0.113.9');
  t.is(await (await Client.connect(opened, 'one\r\n')).line(), '+ hello 127.0.0.1');
  const bad = await Client.connect(opened, 'PROXY TCP4 nonsense\r\n');
  t.is(await bad.line(), undefined);
  t.is(opened.logged.filter(({ msg }) => msg === 'unusable PROXY header').length, 1);
});

test('bare line feeds and endless lines are refused', async (t) => {
  const opened = await open(t);
  const bare = await Client.connect(opened);
  await bare.line();
  t.is(await bare.write('one\n').line(), '- bare line feed');
  t.is(await bare.line(), undefined);
  const endless = await Client.connect(opened);
  await endless.line();
  t.is(await endless.write('x'.repeat(200)).line(), '- line too long');
  t.is(await endless.line(), undefined);
});

test('connections of one address, one account and all are limited, and count until they are closed', async (t) => {
  const opened = await open(t, {
    trusted: new TrustedNetworks(['127.0.0.0/8']),
    limits: { connections: 3, connectionsPerAddress: 2, connectionsPerAccount: 1 },
  });
  const from = (address: string) => Client.connect(opened, v1(address));
  const first = await from('203.0.113.1');
  t.is(await first.line(), '+ hello 203.0.113.1');
  const second = await from('203.0.113.1');
  t.is(await second.line(), '+ hello 203.0.113.1');
  const third = await from('203.0.113.1');
  t.is(await third.line(), '- address full');
  t.is(await third.line(), undefined);
  const other = await from('203.0.113.2');
  t.is(await other.line(), '+ hello 203.0.113.2');
  t.is(await (await from('203.0.113.3')).line(), '- full');
  t.is(await first.write('user alice\r\n').line(), '+ in');
  t.is(await second.write('user alice\r\n').line(), '- too many');
  t.is(await second.write('user bob\r\n').line(), '+ in');
  first.write('quit\r\n');
  t.is(await first.line(), undefined);
  while (opened.listener.connections === 3) await turn();
  t.is(await second.write('user alice\r\n').line(), '+ in');
  t.is(await (await from('203.0.113.1')).line(), '+ hello 203.0.113.1');
});

test('a peer that says nothing, does not log in or sends too slowly is told and sent away', async (t) => {
  const times = {
    idleMs: 60_000,
    loginMs: 60_000,
    stressLoginMs: 60_000,
    handshakeMs: 60_000,
    minRate: 100,
    minRateGraceMs: 60_000,
  };
  const idle = await Client.connect(await open(t, { times: { ...times, idleMs: 20 } }));
  t.deepEqual([await idle.line(), await idle.line()], ['+ hello 127.0.0.1', '- idle']);
  const anonymous = await Client.connect(await open(t, { times: { ...times, loginMs: 20 } }));
  t.deepEqual([await anonymous.line(), await anonymous.line()], ['+ hello 127.0.0.1', '- no login']);
  const slow = await Client.connect(await open(t, { times: { ...times, minRateGraceMs: 20 } }), 'take 10\r\nx');
  t.deepEqual([await slow.line(), await slow.line()], ['+ hello 127.0.0.1', '- too slow']);
  const silent = await Client.connect(await open(t, { implicitTls: true, times: { ...times, handshakeMs: 20 } }));
  t.is(await silent.line(), undefined);
});

test('a login ends the time for one', async (t) => {
  const opened = await open(t, {
    times: {
      idleMs: 5_000,
      loginMs: 4_000,
      stressLoginMs: 4_000,
      handshakeMs: 60_000,
      minRate: 100,
      minRateGraceMs: 60_000,
    },
  });
  const client = await Client.connect(opened);
  await client.line();
  t.is(await client.write('user alice\r\n').line(), '+ in');
  t.is(await client.line(), '- idle');
});

test('a session with much to say goes at the pace of its peer, and one that does not wait is cut off', async (t) => {
  const opened = await open(t, { writer: { highWater: 65_536, mostBuffered: 4_000_000, stalledMs: 60_000 } });
  const client = await Client.connect(opened);
  await client.line();
  client.write('flood 40\r\n');
  t.is((await client.line())?.length, 40 * 65_536);
  client.socket.pause();
  client.write('burst 1000\r\n');
  const closed = once(client.socket, 'close');
  while (opened.listener.connections > 0) await turn();
  client.socket.resume();
  await closed;
  t.pass();
});

test('one write may be larger than what may wait', async (t) => {
  const opened = await open(t, { writer: { highWater: 65_536, mostBuffered: 11_000_000, stalledMs: 60_000 } });
  const client = await Client.connect(opened);
  await client.line();
  client.write('block 10000000\r\nend\r\n');
  t.is((await client.line())?.length, 20_000_000 + '+ end'.length);
});

test('a peer that reads nothing is cut off', async (t) => {
  const opened = await open(t, { writer: { highWater: 65_536, mostBuffered: 100_000_000, stalledMs: 50 } });
  const client = await Client.connect(opened);
  await client.line();
  client.socket.pause();
  client.write('flood 1000\r\n');
  while (opened.listener.connections > 0) await turn();
  t.pass();
});

test('draining ends connections between two lines, and lets the others finish what they are at', async (t) => {
  const opened = await open(t);
  const [idle, busy, partial] = [
    await Client.connect(opened),
    await Client.connect(opened),
    await Client.connect(opened),
  ];
  for (const client of [idle, busy, partial]) t.is(await client.line(), '+ hello 127.0.0.1');
  busy.write('take 4\r\nab');
  partial.write('one\r\nhalf a li');
  t.is(await partial.line(), '+ one');
  const stopped = opened.listener.stop(60_000);
  t.is(await idle.line(), '- stopping');
  t.is(await idle.line(), undefined);
  t.is(await partial.write('ne\r\n').line(), '+ half a line');
  t.is(await partial.line(), '- stopping');
  t.is(await busy.write('cd').line(), '+ "abcd"');
  t.is(await busy.line(), '- stopping');
  for (const client of [idle, busy, partial]) client.socket.destroy();
  await stopped;
  t.is(opened.listener.connections, 0);
});

test('draining beside processes that share the port takes no new connections, and serves those there are', async (t) => {
  const opened = await open(t);
  const client = await Client.connect(opened);
  t.is(await client.line(), '+ hello 127.0.0.1');
  client.write('half a li');
  opened.listener.beginDrain(true);
  const refused = net.connect(Number(opened.listener.address.split(':')[1]), '127.0.0.1');
  t.is(
    await new Promise((resolve) => refused.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code))),
    'ECONNREFUSED',
  );
  t.is(await client.write('ne\r\n').line(), '+ half a line');
  t.is(await client.line(), '- stopping');
  client.socket.destroy();
  await opened.listener.stop(60_000);
  t.is(opened.listener.connections, 0);
});

test('a stop cuts off what is left after its time', async (t) => {
  const opened = await open(t);
  const client = await Client.connect(opened, 'take 4\r\nab');
  await client.line();
  await opened.listener.stop(10);
  t.is(await client.line(), undefined);
});

test('a bug in a session is logged and costs the connection alone', async (t) => {
  const opened = await open(t);
  const client = await Client.connect(opened, 'break\r\n');
  t.deepEqual([await client.line(), await client.line()], ['+ hello 127.0.0.1', '- bug']);
  t.like(
    opened.logged.find(({ level }) => level === 50),
    { msg: 'a session failed', remoteAddress: '127.0.0.1' },
  );
  t.is(await (await Client.connect(opened)).line(), '+ hello 127.0.0.1');
});

test('a slot gives back what it took, once', (t) => {
  const limits = new ConnectionLimits({ connections: 2, connectionsPerAddress: 1, connectionsPerAccount: 1 });
  const [one, two] = [limits.enter()!, limits.enter()!];
  t.is(limits.enter(), undefined);
  t.is(one.ofNetwork('a'), undefined);
  t.is(two.ofNetwork('a'), 'share');
  t.is(two.ofNetwork('b'), undefined);
  t.true(one.logIn('x'));
  t.false(two.logIn('x'));
  t.true(one.logIn('y'));
  t.true(two.logIn('x'));
  one.leave();
  one.leave();
  t.is(limits.open, 1);
  t.false(one.logIn('y'));
  t.is(limits.enter()?.ofNetwork('a'), undefined);
});

test('a session that rests is called again for input, and is closed once, however its connection ends', async (t) => {
  const closed: string[] = [];
  const start: SessionStart = (connection) => {
    let name = '';
    return {
      async run() {
        while (connection.hasInput) {
          const line = (await connection.readLine())?.toString();
          if (line === undefined || line === 'quit') return 'over';
          if (line === 'break') throw new Error('a bug');
          name ||= line;
          connection.write(`+ ${line}\r\n`);
        }
        return 'rest';
      },
      close: () => closed.push(name),
    };
  };
  const opened = await open(t, {}, start);
  const talk = async (name: string) => {
    const client = await Client.connect(opened, `${name}\r\nagain\r\n`);
    t.is(await client.line(), `+ ${name}`);
    t.is(await client.line(), '+ again');
    t.is(await client.write('la').write('ter\r\n').line(), '+ later');
    return client;
  };
  const [quits, breaks, leaves, stays] = [
    await talk('quits'),
    await talk('breaks'),
    await talk('leaves'),
    await talk('stays'),
  ];
  t.is(await quits.write('quit\r\n').line(), undefined);
  t.is(await breaks.write('break\r\n').line(), '- bug');
  leaves.socket.destroy();
  opened.listener.beginDrain();
  t.is(await stays.line(), '- stopping');
  await opened.listener.stop(1000);
  t.deepEqual(closed.toSorted(), ['breaks', 'leaves', 'quits', 'stays']);
});

test('a session that rests is ended when its peer is silent for too long', async (t) => {
  const times = {
    idleMs: 50,
    loginMs: 60_000,
    stressLoginMs: 60_000,
    handshakeMs: 60_000,
    minRate: 100,
    minRateGraceMs: 60_000,
  };
  const opened = await open(t, { times }, () => ({ run: async () => 'rest', close() {} }));
  t.is(await (await Client.connect(opened)).line(), '- idle');
});
