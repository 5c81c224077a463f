// Tests which sudden changes suspend an account.
import { isRuleApplied, suddenChange } from '../../../src/actors/sending/sudden-change.js';
import test from '../../support/test.js';

const RULE = { strangers: 10, refused: 5 };

test('more strangers than the rule allows suspend', (t) => {
  t.is(suddenChange({ recipients: 10, strangers: 10, refused: 0 }, RULE), undefined);
  t.regex(suddenChange({ recipients: 11, strangers: 11, refused: 0 }, RULE) ?? '', /more than 10 .* never written/);
  t.is(suddenChange({ recipients: 99, strangers: 99, refused: 0 }, { ...RULE, strangers: 0 }), undefined);
});

test('refusals suspend when they are many, and more than a quarter of all', (t) => {
  t.is(suddenChange({ recipients: 8, strangers: 0, refused: 5 }, RULE), undefined);
  t.is(suddenChange({ recipients: 24, strangers: 0, refused: 6 }, RULE), undefined);
  t.regex(suddenChange({ recipients: 23, strangers: 0, refused: 6 }, RULE) ?? '', /more than 5 .* refuse/);
  // The mail was sent in an earlier hour.
  t.regex(suddenChange({ recipients: 0, strangers: 0, refused: 6 }, RULE) ?? '', /refuse/);
  t.is(suddenChange({ recipients: 0, strangers: 0, refused: 99 }, { ...RULE, refused: 0 }), undefined);
});

test('the rule rests for a day after a suspension', (t) => {
  const day = 86_400_000;
  t.true(isRuleApplied(null, 5));
  t.false(isRuleApplied(1_000, 999 + day));
  t.true(isRuleApplied(1_000, 1_000 + day));
});
