import fc from 'fast-check';
import { isUuid, uuidOctets, uuidText, uuidTime, uuidV7, uuidV8, uuidWords } from '../../src/mail-format/ids.js';
import { newId } from '../../src/store/ids/new-id.js';
import test from '../support/test.js';

test('a version 7 UUID has the time at which it was made', (t) => {
  for (const ms of [0, 1, 1_763_000_000_123, 2 ** 48 - 1]) t.is(uuidTime(uuidV7(ms, 4095, new Uint8Array(8))), ms);
  const before = Date.now();
  const made = uuidTime(newId());
  t.true(made >= before && made <= Date.now() + 1000);
});

test('a version 8 UUID is the same for the same digest, and says its version', (t) => {
  const digest = Uint8Array.from({ length: 32 }, (_, i) => 255 - i);
  t.is(uuidV8(digest), 'fffefdfc-fbfa-89f8-b7f6-f5f4f3f2f1f0');
  t.true(isUuid(uuidV8(new Uint8Array(20))));
});

test('ids: octets and text are the same id, later ids sort later', (t) => {
  const eight = fc.uint8Array({ minLength: 8, maxLength: 8 });
  fc.assert(
    fc.property(fc.nat(2 ** 31), fc.nat(4095), eight, (ms, sequence, random) => {
      const id = uuidV7(ms, sequence, random);
      t.regex(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      const octets = uuidOctets(id);
      t.deepEqual([uuidText(octets), uuidText(Buffer.concat([random, octets]), 8)], [id, id]);
      const words = [0, 4, 8, 12].map((at) => octets.readUInt32BE(at));
      t.deepEqual([uuidWords(id), uuidWords(id.toUpperCase())], [words, words]);
      t.true(uuidV7(ms + 1, 0, random) > id);
      if (sequence < 4095) t.true(uuidV7(ms, sequence + 1, random) > id);
    }),
  );
});
