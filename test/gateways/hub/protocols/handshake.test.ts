// Tests the handshake: it names a protocol of version 1, and anything else is refused with a reason.

import { handshakeRefused, protocolNamedIn } from '../../../../src/gateways/hub/protocols/handshake.js';
import { ProtocolError } from '../../../../src/gateways/hub/protocols/protocol-error.js';
import test from '../../../support/test.js';

const named = (text: string) => protocolNamedIn(Buffer.from(text)).name;

test('accepts either protocol of version 1', (t) => {
  t.is(named('{"protocol":"messagepack","version":1}'), 'messagepack');
  t.is(named('{"protocol":"json","version":1}'), 'json');
  t.is(named('{"version":1,"protocol":"json","later":true}'), 'json');
});

for (const [text, reason] of [
  ['{"protocol":"blazorpack","version":1}', /'blazorpack' is not supported; 'json' and 'messagepack' are/],
  ['{"protocol":"messagepack","version":2}', /does not support version 2 of the 'messagepack'/],
  ['{"protocol":"json","version":2}', /does not support version 2/],
  ['{"protocol":"json","version":0}', /does not support version 0/],
  ['{"protocol":"json"}', /needs 'protocol'/],
  ['{"type":6}', /needs 'protocol'/],
  ['hello', /not JSON/],
  ['[]', /not a JSON object/],
] as const) {
  test(`refuses ${text}`, (t) => {
    t.throws(() => named(text), { instanceOf: ProtocolError, message: reason });
  });
}

test('a refusal is one message with the error', (t) => {
  t.is(Buffer.from(handshakeRefused('no "x"')).toString(), '{"error":"no \\"x\\""}\u001e');
});
