// Tests the memory of bodies: only octets that have arrived count, and no holder takes what the next one needs.

import { BodyBudget } from '../../../../src/gateways/http/pipeline/body-budget.js';
import test from '../../../support/test.js';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Returns how many octets the holder gets when it asks piece by piece. */
function fill(room: BodyBudget, holder: string): number {
  let octets = 0;
  while (room.enter(holder).add(MIB)) octets += MIB - 64 * KIB;
  return octets;
}

test('a holder alone has half, and every next one as much as is left then', (t) => {
  const room = new BodyBudget(64 * MIB);
  const had = ['a', 'b', 'c', 'd', 'e'].map((holder) => fill(room, holder) / MIB);
  t.true(
    had.every((octets, i) => Math.abs(octets - 64 / 2 ** (i + 1)) <= 1),
    String(had),
  );
});

test('the first octets of a body need no room, and all is given back', (t) => {
  const room = new BodyBudget(MIB);
  const shares = Array.from({ length: 100 }, () => room.enter('a'));
  for (const share of shares) t.true(share.add(64 * KIB));
  t.true(shares[0]!.add(512 * KIB));
  t.false(shares[1]!.add(1));
  t.true(room.enter('a').add(10));
  for (const share of shares) {
    share.leave();
    share.leave();
  }
  t.true(room.enter('a').add(576 * KIB));
});
