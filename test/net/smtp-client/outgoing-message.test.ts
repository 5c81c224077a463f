// Tests what the client needs to know about a message before it sends it.

import fc from 'fast-check';
import { OutgoingMessages } from '../../../src/net/smtp-client/outgoing-message.js';
import test from '../../support/test.js';

async function* none(): AsyncGenerator<Uint8Array> {}

function messageOf(text: string) {
  const octets = new Uint8Array(Buffer.from(text));
  const messages = new OutgoingMessages({ read: async () => octets, stream: none });
  return messages.of('blob', octets.length);
}

test('a message is plain when its lines end in CRLF and none begins with a dot', async (t) => {
  const piece = fc.constantFrom('\r\n', '\r\n', '\r\n', '\r', '\n', '.', 'Zoë 💌', ' ');
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
      const text = pieces.join('');
      t.is((await messageOf(text)).isPlain, /^(?:(?!\.)[^\r\n]*\r\n)+$/.test(text), JSON.stringify(text));
    }),
  );
});
