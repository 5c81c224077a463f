// The handshake: JSON of version 1, everything else refused with a reason.
import test from 'ava';
import { checkHandshake, handshakeRefused } from '../../../src/gateways/hub/handshake.js';
import { ProtocolError } from '../../../src/gateways/hub/protocol-error.js';

test('accepts the JSON protocol of version 1', (t) => {
  t.notThrows(() => checkHandshake('{"protocol":"json","version":1}'));
  t.notThrows(() => checkHandshake('{"version":1,"protocol":"json","later":true}'));
});

for (const [text, reason] of [
  ['{"protocol":"messagepack","version":1}', /'messagepack' is not supported/],
  ['{"protocol":"json","version":2}', /does not support version 2/],
  ['{"protocol":"json","version":0}', /does not support version 0/],
  ['{"protocol":"json"}', /needs 'protocol'/],
  ['{"type":6}', /needs 'protocol'/],
  ['hello', /not JSON/],
  ['[]', /not a JSON object/],
] as const) {
  test(`refuses ${text}`, (t) => {
    t.throws(() => checkHandshake(text), { instanceOf: ProtocolError, message: reason });
  });
}

test('a refusal is one message with the error', (t) => {
  t.is(handshakeRefused('no "x"'), '{"error":"no \\"x\\""}\u001e');
});
