// Tests the groups of a list by date.
import { dateGroup, groupHeaders } from '../../../web/src/list/date-groups.js';
import test from '../../support/test.js';

/** A Wednesday. */
const NOW = new Date(2026, 10, 25, 14, 30);
const at = (month: number, day: number, year = 2026) => new Date(year, month - 1, day, 12);

test('a day belongs to today, yesterday, this week, last week or its month', (t) => {
  t.is(dateGroup(at(11, 25), NOW), 'Today');
  t.is(dateGroup(at(11, 24), NOW), 'Yesterday');
  t.is(dateGroup(at(11, 23), NOW), 'Earlier this week');
  t.is(dateGroup(at(11, 22), NOW), 'Last week');
  t.is(dateGroup(at(11, 16), NOW), 'Last week');
  t.is(dateGroup(at(11, 15), NOW), 'November 2026');
  t.is(dateGroup(at(12, 31, 2025), NOW), 'December 2025');
  // A clock that is ahead has sent it.
  t.is(dateGroup(at(11, 26), NOW), 'Today');
});

test('the first row of each group has its header', (t) => {
  const items = [at(11, 25), at(11, 25), at(11, 24), at(10, 1)].map((date) => ({ receivedAt: date.toISOString() }));
  t.deepEqual(groupHeaders({ start: 0, items }, NOW), [
    { index: 0, text: 'Today' },
    { index: 2, text: 'Yesterday' },
    { index: 3, text: 'October 2026' },
  ]);
  // What is above the loaded part may be of the same group.
  t.deepEqual(
    groupHeaders({ start: 100, items }, NOW).map(({ index }) => index),
    [102, 103],
  );
});
