// Tests the MessagePack hub protocol: encoded messages parse to the same, the stock client and this reader understand each other,
// and hostile octets are a ProtocolError, never a crash, and take little memory.
import { type HubMessage as ClientMessage, NullLogger } from '@microsoft/signalr';
import { MessagePackHubProtocol } from '@microsoft/signalr-protocol-msgpack';
import { encode } from '@msgpack/msgpack';
import fc from 'fast-check';
import type { HubMessage } from '../../../../src/gateways/hub/protocols/hub-messages.js';
import { MESSAGE_PACK_PROTOCOL as PROTOCOL } from '../../../../src/gateways/hub/protocols/message-pack-protocol.js';
import { ProtocolError } from '../../../../src/gateways/hub/protocols/protocol-error.js';
import { runs } from '../../../support/amounts.js';
import { hubMessage } from '../../../support/hub-message-arbitrary.js';
import test from '../../../support/test.js';

/** Values that JSON cannot distinguish count as the same message. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Adds the optional elements, which encoded messages always have, as those of ASP.NET do. */
function whole(message: HubMessage): unknown {
  switch (message.type) {
    case 1:
    case 4:
      return plain({ headers: {}, streamIds: [], ...message });
    case 2:
    case 3:
    case 5:
      return plain({ headers: {}, ...message });
    case 7:
      return plain({ allowReconnect: false, ...message });
    default:
      return plain(message);
  }
}

const parse = (frame: Uint8Array) => PROTOCOL.split(frame).map((message) => PROTOCOL.parse(message));
/** Encodes one message without its length, and parses it. */
const parsed = (...elements: unknown[]) => PROTOCOL.parse(encode(elements));

test('messages survive encoding and parsing, many to a frame', (t) => {
  fc.assert(
    fc.property(fc.array(hubMessage, { minLength: 1, maxLength: 4 }), (sent) => {
      const frame = Buffer.concat(sent.map((message) => PROTOCOL.encode(message)));
      t.deepEqual(plain(parse(frame)), sent.map(whole));
    }),
  );
});

test('the length stands before a message whatever it is', (t) => {
  for (const length of [1, 100, 127, 128, 16_000, 16_384, 70_000, 2_200_000]) {
    const text = 'x'.repeat(length);
    const frame = PROTOCOL.encode({ type: 1, target: 'T', arguments: [text, 'Zoë 💌'] });
    t.like(parse(frame), [{ target: 'T', arguments: [text, 'Zoë 💌'] }]);
    const [message] = new MessagePackHubProtocol().parseMessages(bufferOf(frame), NullLogger.instance);
    t.like(message, { target: 'T', arguments: [text, 'Zoë 💌'] });
  }
});

test('the stock client reads what is encoded', (t) => {
  const client = new MessagePackHubProtocol();
  fc.assert(
    // Only servers receive invocations of streams and their cancellation.
    fc.property(
      hubMessage.filter(({ type }) => type !== 4 && type !== 5),
      (sent) => {
        const [message] = client.parseMessages(bufferOf(PROTOCOL.encode(sent)), NullLogger.instance);
        // The stock client has a null error when a connection closes without a fault.
        const { error, ...rest } = message as { error?: string | null };
        t.deepEqual(plain(error === null ? rest : message), whole(sent.type === 1 ? { ...sent, streamIds: [] } : sent));
      },
    ),
  );
});

test('what the stock client writes is read', (t) => {
  const client = new MessagePackHubProtocol();
  const headers = { a: 'b' };
  for (const [sent, read] of [
    [{ type: 1, target: 'T', arguments: [1, null, { a: ['Zoë 💌'] }] }, {}],
    [{ type: 1, target: 'T', arguments: [], invocationId: '7', streamIds: ['1'], headers }, {}],
    [{ type: 4, target: 'T', arguments: [1.5], invocationId: '7' }, {}],
    [{ type: 2, invocationId: '7', item: { a: 1 } }, {}],
    [{ type: 3, invocationId: '7', result: [1] }, {}],
    [{ type: 3, invocationId: '7', error: 'no' }, {}],
    [{ type: 3, invocationId: '7' }, {}],
    [{ type: 5, invocationId: '7' }, {}],
    [{ type: 6 }, {}],
    [{ type: 7 }, {}],
    [{ type: 8, sequenceId: 3 }, {}],
    [{ type: 9, sequenceId: 3 }, {}],
  ] as const) {
    const frame = new Uint8Array(client.writeMessage(sent as unknown as ClientMessage));
    t.like(plain(parse(frame)[0]), { ...(plain(sent) as object), ...read });
  }
});

test('members without a value are left out, as JSON leaves them out', (t) => {
  const frame = PROTOCOL.encode({ type: 1, target: 'T', arguments: [{ id: 'e', keywords: undefined }] });
  t.deepEqual((parse(frame)[0] as { arguments: unknown }).arguments, [{ id: 'e' }]);
});

test('nil stands for an absent optional element, elements may be left out at the end, and later ones are passed over', (t) => {
  t.deepEqual(parsed(1, null, null, 'T', [], null), { type: 1, target: 'T', arguments: [] });
  t.deepEqual(parsed(1, {}, null, 'T', []), { type: 1, headers: {}, target: 'T', arguments: [] });
  t.deepEqual(parsed(7, null, true, 'later'), { type: 7, allowReconnect: true });
  t.deepEqual(parsed(3, null, '1', 3, null), { type: 3, invocationId: '1', result: null });
  t.is(parsed(10, 'later'), undefined);
});

test('a completion has a value, an error or nothing', (t) => {
  const kinds = [{ result: { a: 1 } }, { result: null }, { error: 'no' }, {}].map((outcome) => {
    const frame = PROTOCOL.encode({ type: 3, invocationId: '1', ...outcome });
    const [message] = new MessagePackHubProtocol().parseMessages(bufferOf(frame), NullLogger.instance);
    return plain(message);
  });
  const base = { type: 3, headers: {}, invocationId: '1' };
  t.deepEqual(kinds, [{ ...base, result: { a: 1 } }, { ...base, result: null }, { ...base, error: 'no' }, base]);
});

for (const [title, elements, wrong] of [
  ['no type', [], /'type'/],
  ['a type that is no number', ['1'], /'type'/],
  ['no target', [1, {}, null], /'target'/],
  ['arguments that are no array', [1, {}, null, 'T', {}], /'arguments'/],
  ['headers that are no strings', [1, { a: 1 }, null, 'T', []], /'headers'/],
  ['an id that is no string', [1, {}, 1, 'T', []], /'invocationId'/],
  ['an unknown kind of result', [3, {}, '1', 4, 1], /kind of result/],
  ['an error that is no string', [3, {}, '1', 1, 1], /'error'/],
  ['no item', [2, {}, '1'], /'item'/],
] as const) {
  test(`refuses a message with ${title}`, (t) => {
    t.throws(() => parsed(...elements), { instanceOf: ProtocolError, message: wrong });
  });
}

const ARRAY_32 = [0xdd, 0xff, 0xff, 0xff, 0xff];
const repeat = (octets: readonly number[], times: number) => Array.from({ length: times }, () => octets).flat();
for (const [title, octets, wrong] of [
  ['nothing', [], /ends too early/],
  ['a value that is no array', [0x01], /not an array/],
  ['octets after the array', [0x91, 0x06, 0x06], /goes on/],
  ['an octet without a meaning', [0x91, 0xc1], /not MessagePack/],
  ['an array that announces more than it has', [0x92, 0x06], /ends too early/],
  ['a string that announces more than it has', [0x91, 0xdb, 0xff, 0xff, 0xff, 0xff], /ends too early/],
  ['a length that is cut off', [0x91, 0xdb, 0xff], /ends too early/],
  ['an array of four thousand million elements', ARRAY_32, /too many values/],
  ['a map of as many', [0xdf, 0xff, 0xff, 0xff, 0xff], /too many values/],
  ['thousands of large arrays within each other', repeat([0xdc, 0x03, 0xe8], 5_000), /too many values|nested/],
  ['ten thousand arrays within each other', repeat([0x91], 10_000), /nested/],
  ['a map whose name is an array', [0x91, 0x81, 0x90, 0x01], /cannot be decoded/],
  [
    'a member called __proto__',
    [...encode([6]).slice(0, 0), 0x91, 0x81, 0xa9, ...Buffer.from('__proto__'), 0x01],
    /decoded/,
  ],
] as const) {
  test(`refuses ${title}`, (t) => {
    t.throws(() => PROTOCOL.parse(Uint8Array.from(octets)), { instanceOf: ProtocolError, message: wrong });
  });
}

test('refuses a frame that is cut off', (t) => {
  const frame = Buffer.concat([PROTOCOL.ping, PROTOCOL.encode({ type: 1, target: 'T', arguments: ['x'.repeat(200)] })]);
  for (let length = 0; length < frame.length; length++) {
    if (length === PROTOCOL.ping.length) continue;
    t.throws(() => PROTOCOL.split(frame.subarray(0, length)), { instanceOf: ProtocolError });
  }
  t.throws(() => PROTOCOL.split(Uint8Array.from([0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x00])), {
    instanceOf: ProtocolError,
  });
});

test('any octets, and any octets that were nearly a message, parse, are passed over, or are a protocol error', (t) => {
  const nearly = fc
    .tuple(hubMessage, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }), fc.nat(8))
    .map(([message, changes, cut]) => {
      const octets = Uint8Array.from(PROTOCOL.encode(message));
      for (const [at, octet] of changes) octets[at % octets.length] = octet;
      return octets.subarray(0, Math.max(0, octets.length - (cut > 4 ? cut - 4 : 0)));
    });
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 100 }), nearly), (octets) => {
      for (const read of [() => parse(octets), () => PROTOCOL.parse(octets)]) {
        try {
          read();
          t.pass();
        } catch (err) {
          t.true(err instanceof ProtocolError, String(err));
        }
      }
    }),
    { numRuns: runs(5_000) },
  );
});

function bufferOf(octets: Uint8Array): ArrayBuffer {
  return Uint8Array.from(octets).buffer;
}
