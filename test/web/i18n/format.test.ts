// Tests how dates and sizes are written.
import { daysBetween, formatSize, shortDate } from '../../../web/src/i18n/format.js';
import test from '../../support/test.js';

const NOW = new Date(2026, 10, 29, 14, 30);

test('a row tells the time today, the day within a week, else the date', (t) => {
  t.regex(shortDate(new Date(2026, 10, 29, 9, 12), NOW), /^9:12\sAM$/);
  t.is(shortDate(new Date(2026, 10, 27, 23, 59), NOW), 'Fri');
  t.is(shortDate(new Date(2026, 10, 22), NOW), 'Nov 22');
  t.is(shortDate(new Date(2025, 11, 24), NOW), '12/24/2025');
  t.is(shortDate(new Date(2026, 11, 1), NOW), 'Dec 1');
});

test('days are counted by midnights of the reader, also over the change of summer time', (t) => {
  t.is(daysBetween(new Date(2026, 10, 28, 23, 59), NOW), 1);
  t.is(daysBetween(new Date(2026, 10, 29), NOW), 0);
  t.is(daysBetween(new Date(2026, 2, 28, 23), new Date(2026, 2, 30, 1)), 2);
  t.is(daysBetween(new Date(2026, 10, 30), NOW), -1);
});

test('sizes have the unit that people read', (t) => {
  t.is(formatSize(1), '1 byte');
  t.is(formatSize(999), '999 bytes');
  t.is(formatSize(412_000), '412 kB');
  t.is(formatSize(1_250_000), '1.3 MB');
  t.is(formatSize(36_700_160), '37 MB');
});
