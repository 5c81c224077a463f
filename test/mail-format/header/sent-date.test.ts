// Tests the date of a message: the moment, the day as written, and errors in dates of real mail.

import { sentDate } from '../../../src/mail-format/header/sent-date.js';
import test from '../../support/test.js';

const at = (text: string): string | undefined => {
  const date = sentDate(text);
  return date === undefined ? undefined : new Date(date.at).toISOString();
};
const day = (text: string): string | undefined => {
  const date = sentDate(text);
  return date === undefined ? undefined : new Date(date.day * 86_400_000).toISOString().slice(0, 10);
};

test('the moment is in UTC, the day is that of the field', (t) => {
  for (const [text, moment, written] of [
    ['Sun, 31 Dec 2000 16:01:33 -0800', '2001-01-01T00:01:33.000Z', '2000-12-31'],
    ['Mon, 01 Jan 2001 00:30:00 +0100', '2000-12-31T23:30:00.000Z', '2001-01-01'],
    ['21 Nov 97 09:55 GMT', '1997-11-21T09:55:00.000Z', '1997-11-21'],
    ['Fri, 21 Nov 1997 09(comment):   55  :  06 EST', '1997-11-21T14:55:06.000Z', '1997-11-21'],
    ['1-Feb-2003 10:00 PDT', '2003-02-01T17:00:00.000Z', '2003-02-01'],
    ['Thu, 13 Feb 1969 23:32:54 -0330 (Newfoundland Time)', '1969-02-14T03:02:54.000Z', '1969-02-13'],
    ['Sat, 25 Mar 2007 03:15:00 XYZ', '2007-03-25T03:15:00.000Z', '2007-03-25'],
    ['5 May 2010', '2010-05-05T00:00:00.000Z', '2010-05-05'],
    ['5 May 2010 99:99:99 +0200', '2010-05-05T00:00:00.000Z', '2010-05-05'],
    ['2010-05-05T10:11:12Z', '2010-05-05T10:11:12.000Z', '2010-05-05'],
    ['Wed May  5 10:11:12 2010', '2010-05-05T10:11:12.000Z', '2010-05-05'],
  ] as const) {
    t.is(at(text), moment, text);
    t.is(day(text), written, text);
  }
});

test('text without a day is no date', (t) => {
  for (const text of ['', 'yesterday', '31 Feb 2020 10:00 +0000', '10:00:00', 'Mon, 99 Foo 2020', '\0'.repeat(5000)])
    t.is(sentDate(text), undefined, text);
});
