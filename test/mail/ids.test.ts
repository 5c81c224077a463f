import { newId } from '../../src/ids/new-id.js';
import { isUuid, uuidTime, uuidV7, uuidV8 } from '../../src/mail/ids.js';
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
