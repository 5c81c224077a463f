// Tests what a vacation lacks as it is written in the page, and the values of its fields.
import type { Vacation } from '../../../../src/client/index.js';
import {
  intervals,
  problemOf,
  readTime,
  shownTime,
  withText,
} from '../../../../web/src/settings/vacation/vacation-values.js';
import test from '../../../support/test.js';

const VACATION: Vacation = {
  isEnabled: true,
  startsAt: null,
  endsAt: null,
  subject: null,
  textBody: 'Away',
  htmlBody: null,
  intervalDays: 7,
};

test('a vacation that answers has a text, and its end is after its beginning', (t) => {
  t.is(problemOf(VACATION), undefined);
  t.is(problemOf({ ...VACATION, ...withText('') }), 'empty');
  t.is(problemOf({ ...VACATION, ...withText(' \n') }), 'empty');
  t.is(problemOf({ ...VACATION, textBody: null, htmlBody: '<p>Away</p>' }), undefined);
  t.is(problemOf({ ...VACATION, ...withText(''), isEnabled: false }), undefined);
  const [first, second] = ['2027-01-05T00:00:00.000Z', '2027-01-06T00:00:00.000Z'];
  t.is(problemOf({ ...VACATION, startsAt: first, endsAt: second }), undefined);
  t.is(problemOf({ ...VACATION, startsAt: first, endsAt: first }), 'endsFirst');
  t.is(problemOf({ ...VACATION, startsAt: second, endsAt: first, isEnabled: false }), 'endsFirst');
});

test('a text that is written replaces both bodies', (t) => {
  t.deepEqual(withText('Back soon'), { textBody: 'Back soon', htmlBody: null });
});

test('the interval of a program is offered among the others', (t) => {
  t.deepEqual(intervals(7), [1, 2, 3, 7, 14, 30]);
  t.deepEqual(intervals(10), [1, 2, 3, 7, 10, 14, 30]);
});

test('a field shows the time that it reads, and nothing without one', (t) => {
  t.is(shownTime(readTime('2027-01-05T08:30')), '2027-01-05T08:30');
  t.is(shownTime(null), '');
  t.is(readTime(''), null);
});
