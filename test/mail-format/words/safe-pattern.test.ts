// Tests the bounds of regular expressions of users: what is refused, and that no text makes a search long.
import { compilePattern, MOST_SEARCHED } from '../../../src/mail-format/words/safe-pattern.js';
import test from '../../support/test.js';

function compiled(expression: string) {
  const result = compilePattern(expression);
  if ('fault' in result) throw new Error(result.fault);
  return result.pattern;
}

const faultOf = (expression: string) => {
  const result = compilePattern(expression);
  return 'fault' in result ? result.fault : undefined;
};

test('an expression of RE2 finds a part of a text, without regard to case', (t) => {
  t.true(compiled('invoice \\d+').isFoundIn('Your INVOICE 4711'));
  t.false(compiled('^invoice').isFoundIn('Your invoice'));
  t.true(compiled('(?-i)Invoice').isFoundIn('Invoice'));
  t.false(compiled('(?-i)Invoice').isFoundIn('invoice'));
  t.true(compiled('stra\u00dfe').isFoundIn('Hauptstra\u00dfe'));
});

test('what is no expression, or what RE2 does not have, is refused with the reason', (t) => {
  t.regex(faultOf('(')!, /is no regular expression: missing closing \)/);
  for (const expression of ['(?=a)', '(a)\\1', 'a**', '[z-a]', '\\8', 'a{1001}'])
    t.truthy(faultOf(expression), expression);
  t.regex(faultOf('a'.repeat(301))!, /at most 300 characters/);
});

test('an expression with too many steps or counted repetitions is refused before it costs anything', (t) => {
  for (const expression of [
    '(abcdefgh){1,200}',
    '(a{1,100}){1,250}',
    'a{1,1000}',
    '.{0,301}',
    `${'x{2,}'.repeat(51)}y{200}`,
  ])
    t.regex(faultOf(expression)!, /is too large/, expression);
});

test('a search looks at fewer characters the more steps its expression has', (t) => {
  t.is(compiled('^(a+)+$').most, MOST_SEARCHED);
  const large = compiled('[a-z]{1,150}@[a-z]{1,140}z');
  t.true(large.most > 1_000 && large.most < 5_000, String(large.most));
  const text = `${' '.repeat(large.most)}a@bz`;
  t.false(large.isFoundIn(text));
  t.true(large.isFoundIn(text.slice(10)));
});

test('expressions that other engines search for years are searched', (t) => {
  const letters = 'a'.repeat(100_000);
  for (const expression of ['^(a+)+$x', '(a|aa)+$b', '(a*)*b', '(x+x+)+y', '(.*a){20}b', '(\\pL{0,60})9'])
    t.false(compiled(expression).isFoundIn(letters), expression);
});
