// Tests limits of connections: in total, per address, per account, in time, and in what a client may send.
import net from 'node:net';
import { ConnectionShares } from '../../../src/net/tcp/connection-limits.js';
import { v1 } from '../../support/proxy-protocol.js';
import test from '../../support/test.js';
import { Pop3Client } from './client.js';
import { ALICE, startPop3 } from './gateway.js';

test('a listener and an address have so many connections, and places come free', async (t) => {
  const gateway = await startPop3(t, {
    limits: { connections: 3, connectionsPerAddress: 2 },
    trusted: ['127.0.0.0/8'],
  });
  const connect = (address: string) => new Pop3Client(net.connect(gateway.port, '127.0.0.1')).write(v1(address));
  const first = connect('203.0.113.1');
  t.regex(await first.line(), /^\+OK /);
  t.regex(await connect('203.0.113.1').line(), /^\+OK /);
  t.is(await connect('203.0.113.1').rest(), '-ERR [SYS/TEMP] Too many connections from your address\r\n');
  t.regex(await connect('203.0.113.2').line(), /^\+OK /);
  const another = new Pop3Client(net.connect(gateway.port, '127.0.0.1'));
  t.is(await another.rest(), '-ERR [SYS/TEMP] Too many connections, try again later\r\n');
  t.is(await first.command('QUIT'), '+OK Bye');
  first.close();
  // The server hears of the end of the connection a little later.
  for (let greeting = ''; !greeting.startsWith('+OK'); ) greeting = await connect('203.0.113.1').line();
  t.pass();
});

test('an address has one share of all listeners together', async (t) => {
  const limits = { connections: 10, connectionsPerAddress: 2, connectionsPerAccount: 2 };
  const shares = new ConnectionShares(limits);
  const [first, second] = [await startPop3(t, { limits, shares }), await startPop3(t, { limits, shares })];
  await first.connect();
  await second.connect();
  const third = new Pop3Client(net.connect(first.port, '127.0.0.1'));
  t.is(await third.rest(), '-ERR [SYS/TEMP] Too many connections from your address\r\n');
});

test('an account has so many connections', async (t) => {
  const limits = { connections: 10, connectionsPerAddress: 10, connectionsPerAccount: 1 };
  const gateway = await startPop3(t, { limits });
  await gateway.open();
  const second = await gateway.connect();
  await second.command('USER alice@example.test');
  t.is(await second.command('PASS alice-key'), '-ERR [SYS/TEMP] Too many connections of your account');
  await gateway.open('bob-key');
});

test('a connection without a login ends, whatever is said meanwhile', async (t) => {
  const gateway = await startPop3(t, { limits: { loginMs: 300, errors: 1_000_000 } });
  const [silent, chatty] = [await gateway.connect(), await gateway.connect()];
  const talk = setInterval(() => chatty.write('CAPA\r\n'), 20);
  t.is(await silent.rest(), '-ERR No login in time\r\n');
  t.true((await chatty.rest()).endsWith('-ERR No login in time\r\n'));
  clearInterval(talk);
});

test('silence ends a session, which deletes nothing', async (t) => {
  const gateway = await startPop3(t, { limits: { idleMs: 300 } });
  await gateway.deliver(ALICE, 'A: b\r\n\r\n');
  const client = await gateway.open();
  await client.command('DELE 1');
  t.is(await client.rest(), '-ERR The connection was idle for too long\r\n');
  t.is(gateway.mailboxes.account(ALICE).emails.size, 1);
});

test('refused commands in a row end the connection; one that is good begins again', async (t) => {
  const gateway = await startPop3(t, { limits: { errors: 3 } });
  const client = await gateway.open();
  for (const line of ['X', 'X', 'NOOP', 'X', 'X']) await client.command(line);
  client.write('X\r\nNOOP\r\n');
  t.is(await client.rest(), '-ERR Unknown command\r\n');
});

test('a line is bounded', async (t) => {
  const gateway = await startPop3(t, { limits: { lineOctets: 100 } });
  const client = await gateway.open();
  t.is(await client.command(`X${'x'.repeat(99)}`), '-ERR Unknown command');
  client.write('x'.repeat(500));
  t.is(await client.rest(), '-ERR The line is too long\r\n');
});

test('a client that sends commands and reads nothing is not read from, and loses nothing', async (t) => {
  const gateway = await startPop3(t);
  const [client, other] = [await gateway.open(), await gateway.open('bob-key')];
  client.socket.pause();
  const count = 10_000;
  client.write(`${'CAPA\r\n'.repeat(count)}NOOP\r\n`);
  for (let i = 0; i < 100; i++) t.is(await other.command('NOOP'), '+OK Nothing done');
  client.socket.resume();
  for (let i = 0; i < count; i++) {
    const reply = await client.line();
    if (reply !== '+OK Capabilities follow') t.fail(reply);
    await client.body();
  }
  t.is(await client.line(), '+OK Nothing done');
});

test('a listener that drains ends sessions between two commands', async (t) => {
  const gateway = await startPop3(t);
  const [session, bare] = [await gateway.open(), await gateway.connect()];
  gateway.listener.beginDrain();
  for (const client of [session, bare]) {
    t.is(await client.rest(), '-ERR [SYS/TEMP] The server is stopping, connect again\r\n');
  }
});
