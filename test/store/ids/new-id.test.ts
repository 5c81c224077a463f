import fc from 'fast-check';
import { isUuid } from '../../../src/mail-format/ids.js';
import { idSource, newId } from '../../../src/store/ids/new-id.js';
import { randomOctets } from '../../../src/store/ids/random-octets.js';
import test from '../../support/test.js';

test('ids of one source rise, whatever its clock does', (t) => {
  const clocks = fc.array(fc.integer({ min: 0, max: 2 ** 47 }), { minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(clocks, (times) => {
      let asked = 0;
      const next = idSource(() => times[asked++ % times.length]!);
      let last = '';
      for (let i = 0; i < 200; i++) {
        const id = next();
        if (!isUuid(id) || id <= last) return false;
        last = id;
      }
      return true;
    }),
  );
  t.pass();
});

test('more ids than a millisecond has places rise too', (t) => {
  const next = idSource(() => 1_000);
  const ids = Array.from({ length: 10_000 }, next);
  t.deepEqual(ids, ids.toSorted());
  t.is(new Set(ids).size, ids.length);
});

test('ids are version 7 of now, and sources differ in random octets', (t) => {
  const before = Date.now();
  const id = newId();
  t.is(id[14], '7');
  t.true(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) >= before);
  const [one, other] = [idSource(() => 1), idSource(() => 1)];
  t.not(one(), other());
});

test('random octets are given once each', (t) => {
  const random = randomOctets();
  const first = random(4_000);
  const kept = Buffer.from(first);
  random(4_000);
  t.deepEqual(Buffer.from(first), kept);
  t.is(random(8).length, 8);
});
