// Tests which language the page of a link is in.
import { linkTextsFor } from '../../../../src/gateways/http/page/link-texts.js';
import test from '../../../support/test.js';

test('the language that is wanted most, of those that the page has', (t) => {
  for (const [accepted, language] of [
    ['', 'en'],
    ['*', 'en'],
    ['de', 'de'],
    ['de-CH, fr;q=0.9', 'de'],
    ['fr, ar;q=0.8, en;q=0.7', 'ar'],
    ['en;q=0.1, de;q=0.9', 'de'],
    ['en, de', 'en'],
    ['de;q=0', 'en'],
    ['DE', 'de'],
    ['de;q=x', 'en'],
    ['constructor, __proto__', 'en'],
    [`${'x,'.repeat(100_000)}de`, 'en'],
  ] as const)
    t.is(linkTextsFor(accepted).language, language, accepted.slice(0, 40));
});

test('names in an Arabic sentence do not turn it around', (t) => {
  t.regex(linkTextsFor('ar').invitation('Zoë (zoe@example.test)'), /\u2068Zoë \(zoe@example\.test\)\u2069/);
});
