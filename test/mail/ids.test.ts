import test from 'ava';
import { newId } from '../../src/ids/new-id.js';
import { uuidTime, uuidV7 } from '../../src/mail/ids.js';

test('a version 7 UUID has the time at which it was made', (t) => {
  for (const ms of [0, 1, 1_763_000_000_123, 2 ** 48 - 1]) t.is(uuidTime(uuidV7(ms, 4095, new Uint8Array(8))), ms);
  const before = Date.now();
  const made = uuidTime(newId());
  t.true(made >= before && made <= Date.now() + 1000);
});
