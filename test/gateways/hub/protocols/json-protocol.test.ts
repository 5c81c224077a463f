// Tests the JSON hub protocol: encoded messages parse to the same, and hostile text is a ProtocolError, never a crash.
import { JsonHubProtocol, NullLogger } from '@microsoft/signalr';
import fc from 'fast-check';
import type { HubMessage } from '../../../../src/gateways/hub/protocols/hub-messages.js';
import { JSON_PROTOCOL } from '../../../../src/gateways/hub/protocols/json-protocol.js';
import { ProtocolError } from '../../../../src/gateways/hub/protocols/protocol-error.js';
import { runs } from '../../../support/amounts.js';
import { hubMessage as message } from '../../../support/hub-message-arbitrary.js';
import test from '../../../support/test.js';

const encodeMessage = (sent: HubMessage) => Buffer.from(JSON_PROTOCOL.encode(sent)).toString();
const parseMessage = (text: string) => JSON_PROTOCOL.parse(Buffer.from(text));

/** Values that JSON cannot distinguish, such as 0 and -0, count as the same message. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test('a message survives encoding and parsing', (t) => {
  fc.assert(
    fc.property(message, (sent) => {
      const text = encodeMessage(sent);
      t.is(text.indexOf('\u001e'), text.length - 1);
      t.deepEqual(plain(parseMessage(text.slice(0, -1))), plain(sent));
    }),
  );
});

test('the stock client reads what is encoded', (t) => {
  const client = new JsonHubProtocol();
  fc.assert(
    // Only servers receive invocations of streams and their cancellation.
    fc.property(
      message.filter(({ type }) => type !== 4 && type !== 5),
      (sent) => {
        t.deepEqual(plain(client.parseMessages(encodeMessage(sent), NullLogger.instance)), [plain(sent)]);
      },
    ),
  );
});

test('any text and any JSON parses, is passed over, or is a protocol error', (t) => {
  const json = fc.jsonValue();
  const field = fc.oneof(fc.string(), fc.integer(), fc.constant(null), json);
  const almost = fc
    .record(
      {
        type: fc.oneof(fc.integer({ min: 0, max: 12 }), field),
        headers: field,
        invocationId: field,
        target: field,
        arguments: fc.oneof(fc.array(json), field),
        streamIds: field,
        item: field,
        result: field,
        error: field,
        allowReconnect: field,
        sequenceId: field,
      },
      { requiredKeys: [] },
    )
    .map((fields) => JSON.stringify(fields));
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json(), almost), (text) => {
      try {
        parseMessage(text);
        t.pass();
      } catch (err) {
        t.true(err instanceof ProtocolError, String(err));
      }
    }),
    { numRuns: runs(2000) },
  );
});

test('deeply nested arguments are refused before they are parsed', (t) => {
  const depth = 10_000;
  const text = `{"type":1,"target":"x","arguments":[${'['.repeat(depth)}${']'.repeat(depth)}]}`;
  t.throws(() => parseMessage(text), { instanceOf: ProtocolError, message: /nested/ });
});

test('null stands for an absent optional field, and unknown types are passed over', (t) => {
  t.deepEqual(
    parseMessage('{"type":1,"invocationId":null,"headers":null,"target":"x","arguments":[],"streamIds":null}'),
    {
      type: 1,
      target: 'x',
      arguments: [],
    },
  );
  t.deepEqual(parseMessage('{"type":7,"error":null,"allowReconnect":null}'), { type: 7 });
  t.is(parseMessage('{"type":10}'), undefined);
});

for (const [text, wrong] of [
  ['[]', /not a JSON object/],
  ['null', /not a JSON object/],
  ['{', /not JSON/],
  ['', /not JSON/],
  ['{}', /'type'/],
  ['{"type":"1"}', /'type'/],
  ['{"type":1,"arguments":[]}', /'target'/],
  ['{"type":1,"target":"","arguments":[]}', /'target'/],
  ['{"type":1,"target":"x"}', /'arguments'/],
  ['{"type":1,"target":"x","arguments":{}}', /'arguments'/],
  ['{"type":1,"target":"x","arguments":[],"invocationId":1}', /'invocationId'/],
  ['{"type":1,"target":"x","arguments":[],"headers":{"a":1}}', /'headers'/],
  ['{"type":1,"target":"x","arguments":[],"streamIds":[1]}', /'streamIds'/],
  ['{"type":2,"invocationId":"1"}', /'item'/],
  ['{"type":3}', /'invocationId'/],
  ['{"type":3,"invocationId":"1","result":1,"error":"no"}', /both a result and an error/],
  ['{"type":5,"invocationId":""}', /'invocationId'/],
  ['{"type":7,"allowReconnect":"yes"}', /'allowReconnect'/],
  ['{"type":8,"sequenceId":1.5}', /'sequenceId'/],
] as const) {
  test(`refuses ${text === '' ? 'an empty message' : text}`, (t) => {
    t.throws(() => parseMessage(text), { instanceOf: ProtocolError, message: wrong });
  });
}
