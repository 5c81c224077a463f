import { FixedShares } from '../../src/work/fixed-shares.js';
import { HeldShare } from '../../src/work/held-share.js';
import test from '../support/test.js';

test('what work holds grows within the share and the total, shrinks, and is given back once', (t) => {
  const shares = new FixedShares({ total: 10, share: 6 });
  const [first, second, other] = [new HeldShare(shares, 'a'), new HeldShare(shares, 'a'), new HeldShare(shares, 'b')];
  t.true(first.resize(4));
  t.true(second.resize(2));
  t.false(second.resize(3), 'the share of the holder');
  t.is(shares.heldBy('a'), 6, 'a refusal changes nothing');
  t.true(other.resize(4));
  t.true(first.resize(1));
  t.true(other.resize(6));
  t.true(first.resize(2));
  t.false(first.resize(3), 'the total');
  for (const held of [first, first, second, other]) held.give();
  t.is(shares.held, 0);
});
