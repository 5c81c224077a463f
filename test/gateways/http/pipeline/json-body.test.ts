// Tests expensive and large bodies, and the memory for them: the cost of a request is bounded before it is parsed.
import net from 'node:net';
import test from '../../../support/test.js';
import { ALICE, BOB } from '../fakes.js';
import { exchangeBytes, type Gateway, startGateway } from '../gateway.js';

const MIB = 1024 * 1024;
const TO = [{ address: 'bob@remote.test', type: 'To' }];
const MAIL = { fromAddress: 'alice@example.test', subject: 'Hi', recipients: TO };

const head = (key: string, length: number, path = '/api/outbound/send') =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
const whole = (got: string): boolean => /\r\n\r\n.*\}$/s.test(got);

for (const [what, beginning, found] of [
  ['nesting', '['.repeat(40), /"body":\["is nested more than 32 deep"\]/],
  ['nesting in a field that nobody knows', `{"x":${'{"a":'.repeat(40)}`, /is nested more than 32 deep/],
  ['members', `{${'"a":1,'.repeat(5_001)}`, /"body":\["has more than 5000 values"\]/],
  ['elements', `{"recipients":[${'{},'.repeat(2_501)}`, /has more than 5000 values/],
] as const) {
  test(`too much ${what} is refused before the rest of the body has come`, async (t) => {
    const { port, key } = await startGateway(t);
    for (const path of ['/api/outbound/send', '/api/emails/bulk/delete']) {
      const got = await exchangeBytes(port, head(key, MIB, path) + beginning, whole);
      t.regex(got, /^HTTP\/1\.1 400 /);
      t.regex(got, found);
    }
  });
}

test('a body without files has 4 MiB at most, refused before the rest of it has come', async (t) => {
  const gateway = await startGateway(t, { maxMessageSize: 16 * MIB });
  const { port, key } = gateway;
  const got = await exchangeBytes(port, `${head(key, 10 * MIB)}{"textBody":"${'x'.repeat(4 * MIB)}`, whole);
  t.regex(got, /^HTTP\/1\.1 413 /);
  const send = (json: object) => gateway.fetch('/api/outbound/send', { method: 'POST', json });
  t.is((await send({ ...MAIL, textBody: 'x'.repeat(4 * MIB - 1_000) })).status, 200);
  // Only the field of the attachments is taken out of the JSON.
  t.is((await send({ ...MAIL, textBody: 'x', content: 'A'.repeat(4 * MIB) })).status, 413);
});

test.serial('of a body with files what is parsed is small, whatever the size of the files', async (t) => {
  const gateway = await startGateway(t, { maxMessageSize: 16 * MIB });
  const parse = JSON.parse;
  let longest = 0;
  JSON.parse = (text: string, ...more) => {
    longest = Math.max(longest, text.length);
    return parse(text, ...more);
  };
  const content = Buffer.alloc(8 * MIB, 'mansio').toString('base64');
  const sent = await gateway
    .fetch('/api/outbound/send', {
      method: 'POST',
      json: { ...MAIL, textBody: 'x', attachments: [{ fileName: 'a', content }] },
    })
    .finally(() => {
      JSON.parse = parse;
    });
  t.is(sent.status, 200);
  // The gateway of the tests also parses the OpenAPI document here.
  t.true(longest < MIB, String(longest));
});

/** Announces two large bodies and sends only the beginning of each, until `end`. */
async function dripping(gateway: Gateway, key: string, octets: number): Promise<{ end(): void }> {
  const sockets = [1, 2].map(() => net.connect(gateway.port, '127.0.0.1'));
  for (const socket of sockets) {
    socket.on('error', () => undefined);
    socket.write(`${head(key, 2 * MIB)}{"textBody":"${'x'.repeat(octets)}`);
  }
  return { end: () => sockets.forEach((socket) => void socket.destroy()) };
}

test('bodies that are announced and do not come take no room from others', async (t) => {
  const gateway = await startGateway(t);
  const { directory } = gateway;
  const slow = [
    await dripping(gateway, directory.key(BOB, 'app'), 100_000),
    await dripping(gateway, directory.key('018f0000-0000-7000-8000-00000000000c', 'app'), 100_000),
  ];
  t.teardown(() => slow.forEach(({ end }) => void end()));
  for (let i = 0; i < 20; i++) t.is((await gateway.fetch('/api/config', { key: null })).status, 200);
  const large = { ...MAIL, textBody: 'word '.repeat(300_000) };
  const key = directory.key(ALICE, 'app');
  t.is((await gateway.fetch('/api/outbound/send', { method: 'POST', key, json: large })).status, 200);
});
