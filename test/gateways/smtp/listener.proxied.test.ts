// Tests listeners behind a balancer that sends PROXY headers: the client's address in Received, log and limits; peers that are not
// trusted; and proxies that are slow, silent or broken.
import type { ExecutionContext } from 'ava';
import type { SmtpLimits } from '../../../src/gateways/smtp/limits.js';
import { TrustedNetworks } from '../../../src/net/tcp/trusted-networks.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { V2_LOCAL, v1, v2 } from '../../support/proxy-protocol.js';
import test from '../../support/test.js';
import { type Harness, listen } from './listener.js';

const CLIENT = '203.0.113.7';
const TRUSTED = new TrustedNetworks(['127.0.0.0/8']);
const MESSAGE = 'Subject: x\r\n\r\nhi';

const behind = (t: ExecutionContext, limits: Partial<SmtpLimits> = {}, trusted = TRUSTED): Promise<Harness> =>
  listen(t, { trusted, limits: { greetDelayMs: 0, proxyHeaderMs: 60_000, ...limits } });

async function connect(address: string, header: string | Uint8Array): Promise<SmtpClient> {
  const client = await SmtpClient.connect(address);
  client.write(header);
  return client;
}

async function greeted(address: string, header: string | Uint8Array): Promise<SmtpClient> {
  const client = await connect(address, header);
  await client.reply();
  await client.command('EHLO client.test');
  return client;
}

for (const [version, header] of [
  ['1', v1(CLIENT)],
  ['2', v2(CLIENT, 4711, Buffer.alloc(100))],
] as const) {
  test(`version ${version}: Received and log have the client's address`, async (t) => {
    const { address, stored, logged } = await behind(t);
    const client = await greeted(address, header);
    t.is((await client.send('a@peer.test', ['alice@example.test'], MESSAGE)).code, 250);
    t.regex(stored[0]!.text, /\r\nReceived: [^\r]*\(\[203\.0\.113\.7\]\)/);
    t.false(stored[0]!.text.includes('127.0.0.1'));
    const lines = logged.filter((line) => 'remoteAddress' in line);
    t.true(lines.length > 1);
    for (const line of lines) t.is(line['remoteAddress'], CLIENT);
  });
}

test('IPv6, and STARTTLS behind the header', async (t) => {
  const { address, stored } = await behind(t);
  const client = await greeted(address, v1('2001:db8::7'));
  t.is((await client.command('STARTTLS')).code, 220);
  await client.secure();
  await client.command('EHLO client.test');
  t.is((await client.send('a@peer.test', ['alice@example.test'], MESSAGE)).code, 250);
  t.regex(stored[0]!.text, /\[IPv6:2001:db8::7\].*with ESMTPS/s);
});

test('a header in pieces, and a client that waits for the banner as it should', async (t) => {
  const { address, logged } = await behind(t);
  for (const header of [v1(CLIENT), v2(CLIENT)]) {
    const client = await SmtpClient.connect(address);
    await client.segments([...header].map((octet) => Uint8Array.of(octet)));
    t.is((await client.reply()).code, 220);
    t.is((await client.command('NOOP')).code, 250);
  }
  t.deepEqual(
    logged.flatMap((line) => line['remoteAddress'] ?? []),
    [CLIENT, CLIENT],
  );
});

test('a client that speaks with its header has spoken too soon', async (t) => {
  const { address } = await behind(t, { greetDelayMs: 60_000 });
  const client = await connect(address, Buffer.concat([v2(CLIENT), Buffer.from('EHLO x\r\n')]));
  t.is((await client.reply()).code, 421);
});

test('LOCAL and UNKNOWN: the proxy speaks for itself', async (t) => {
  const { address, logged } = await behind(t);
  for (const header of [V2_LOCAL, 'PROXY UNKNOWN\r\n']) {
    t.is((await (await connect(address, header)).reply()).code, 220);
  }
  t.deepEqual(
    logged.flatMap((line) => line['remoteAddress'] ?? []),
    ['127.0.0.1', '127.0.0.1'],
  );
});

test('a trusted peer that sends no header gets its banner late', async (t) => {
  const { address, logged } = await behind(t, { proxyHeaderMs: 50 });
  const client = await SmtpClient.greeted(address);
  t.is((await client.send('a@peer.test', ['alice@example.test'], MESSAGE)).code, 250);
  t.is(logged.find((line) => line['msg'] === 'message accepted')?.['remoteAddress'], '127.0.0.1');
  // A header that comes later is refused: the connection belongs to a client by then.
  for (const header of [v1(CLIENT), v2(CLIENT)]) {
    const late = await SmtpClient.greeted(address);
    late.write(header);
    t.true((await late.rest()).every(({ code }) => code >= 400 || code === 221));
  }
});

test('from anybody else a header is an unknown command', async (t) => {
  const { address, logged } = await behind(t, {}, new TrustedNetworks(['192.0.2.0/24']));
  for (const header of [v1(CLIENT), v2(CLIENT)]) {
    const client = await SmtpClient.greeted(address);
    client.write(header);
    t.true((await client.rest()).every(({ code }) => code >= 400 || code === 221));
  }
  t.false(JSON.stringify(logged).includes(CLIENT));
});

test('a broken header ends the connection without a word and is logged', async (t) => {
  const { address, logged } = await behind(t);
  const broken = v2(CLIENT);
  broken[12] = 0x31;
  for (const header of ['PROXY TCP4 nonsense\r\n', broken, `PROXY ${'x'.repeat(200)}`]) {
    t.deepEqual(await (await connect(address, header)).rest(), []);
  }
  const warned = logged.filter((line) => line['level'] === 40);
  t.deepEqual(
    warned.map((line) => line['proxy']),
    ['127.0.0.1', '127.0.0.1', '127.0.0.1'],
  );
  // A proxy that leaves before its header is whole causes no warning.
  (await connect(address, 'PROXY TCP4 ')).end();
  t.is(logged.filter((line) => line['level'] === 40).length, 3);
});

test('connections are counted by the client, not by the proxy', async (t) => {
  const { address } = await behind(t, { connectionsPerAddress: 2 });
  const banner = async (client: string) => (await (await connect(address, v1(client))).reply()).text.split(' ')[0];
  t.is(await banner(CLIENT), 'mx.example.test');
  t.is(await banner(CLIENT), 'mx.example.test');
  t.is(await banner('203.0.113.8'), 'mx.example.test');
  t.is(await banner(CLIENT), '4.7.0');
  t.is(await banner(`::ffff:${CLIENT}`), '4.7.0');
});

test('proxies that say nothing yet count, and do not hold a stop up', async (t) => {
  const { address, listener } = await behind(t, { connections: 2 });
  const silent = [await SmtpClient.connect(address), await connect(address, 'PROXY TCP4 ')];
  t.is((await (await SmtpClient.connect(address)).reply()).text.split(' ')[0], '4.3.2');
  await listener.stop(10_000);
  for (const client of silent) t.deepEqual(await client.rest(), []);
});
