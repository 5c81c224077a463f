import { periodText } from '../../../../web/src/message/invitation/event-period.js';
import test from '../../../support/test.js';

const at = (time: string) => ({ at: new Date(time), isDay: false });
const day = (date: number) => ({ at: new Date(2026, 11, date), isDay: true });

test('the period of an event is in the zone of the reader', (t) => {
  const meeting = { start: at('2026-12-03T23:30:00Z'), end: at('2026-12-04T00:30:00Z') };
  t.regex(periodText(meeting, 'Europe/Berlin'), /^Fri, Dec 4, 2026, 12:30.*1:30.*AM.*GMT\+1$/);
  t.regex(periodText(meeting, 'America/New_York'), /^Thu, Dec 3, 2026, 0?6:30.*0?7:30.*PM.*EST$/);
});

test('days have no time', (t) => {
  t.is(periodText({ start: day(3), end: day(3) }), 'Thu, Dec 3, 2026');
  t.regex(periodText({ start: day(3), end: day(4) }), /^Thu, Dec 3\D+4, 2026$/);
  t.is(periodText({ start: undefined, end: undefined }), '');
});
