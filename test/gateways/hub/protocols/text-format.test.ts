// Tests framing: only whole and bounded messages pass, and input of a client causes no error but ProtocolError.

import fc from 'fast-check';
import { ProtocolError } from '../../../../src/gateways/hub/protocols/protocol-error.js';
import { RECORD_SEPARATOR, splitText, textOf } from '../../../../src/gateways/hub/protocols/text-format.js';
import test from '../../../support/test.js';

const octets = (text: string) => Buffer.from(text);

test('gives back the messages of a frame', (t) => {
  const message = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes(RECORD_SEPARATOR));
  fc.assert(
    fc.property(fc.array(message, { minLength: 1 }), (messages) => {
      // The decoder drops a byte order mark at the very start.
      fc.pre(messages.every((text) => !text.startsWith('\ufeff')));
      const frame = messages.map((text) => text + RECORD_SEPARATOR).join('');
      t.deepEqual(splitText(octets(frame)).map(textOf), messages);
    }),
  );
});

test('refuses a frame that ends inside a message', (t) => {
  for (const text of ['', '{}', `{}${RECORD_SEPARATOR}{`]) {
    t.throws(() => splitText(octets(text)), { instanceOf: ProtocolError, message: /record separator/ });
  }
});

test('any octets either split or are a protocol error', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.boolean(), (data, terminated) => {
      const frame = terminated ? Uint8Array.of(...data, 0x1e) : data;
      try {
        t.true(splitText(frame).map(textOf).length >= 1);
      } catch (err) {
        t.true(err instanceof ProtocolError);
      }
    }),
  );
});
