import fc from 'fast-check';
import { answerText, readInvitation } from '../../../../web/src/message/invitation/invitation.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';

function calendar(event: readonly string[], before: readonly string[] = ['METHOD:REQUEST']): string {
  return ['BEGIN:VCALENDAR', ...before, 'BEGIN:VEVENT', 'UID:u1', ...event, 'END:VEVENT', 'END:VCALENDAR', ''].join(
    '\r\n',
  );
}

/** As Outlook names and defines a zone. */
const ZONE = [
  'METHOD:REQUEST',
  'BEGIN:VTIMEZONE',
  'TZID:W. Europe Standard Time',
  'BEGIN:STANDARD',
  'DTSTART:16010101T030000',
  'TZOFFSETFROM:+0200',
  'TZOFFSETTO:+0100',
  'RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10',
  'END:STANDARD',
  'BEGIN:DAYLIGHT',
  'DTSTART:16010101T020000',
  'TZOFFSETFROM:+0100',
  'TZOFFSETTO:+0200',
  'RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3',
  'END:DAYLIGHT',
  'END:VTIMEZONE',
];

const MEETING = calendar([
  'DTSTART:20261203T100000Z',
  'DTEND:20261203T113000Z',
  'SUMMARY:Site visit\\, aviary',
  'LOCATION:Gate 2',
  'SEQUENCE:3',
  'ORGANIZER;CN=Mirjam Köhler:mailto:mirjam@koehler.test',
  'ATTENDEE;CN=Zoë;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:zoe@example.test',
  'ATTENDEE;PARTSTAT=ACCEPTED:MAILTO:ann@example.test',
  'RRULE:FREQ=WEEKLY',
]);

test('an invitation has its event, organizer and attendees', (t) => {
  t.deepEqual(readInvitation(MEETING), {
    method: 'REQUEST',
    uid: 'u1',
    summary: 'Site visit, aviary',
    location: 'Gate 2',
    start: { at: new Date('2026-12-03T10:00:00Z'), isDay: false },
    end: { at: new Date('2026-12-03T11:30:00Z'), isDay: false },
    organizer: { address: 'mirjam@koehler.test', name: 'Mirjam Köhler' },
    attendees: [
      { address: 'zoe@example.test', name: 'Zoë', status: 'NEEDS-ACTION' },
      { address: 'ann@example.test', name: '', status: 'ACCEPTED' },
    ],
    isRecurring: true,
  });
});

const TIMES: readonly (readonly [name: string, event: readonly string[], start: string, end: string | undefined])[] = [
  [
    'a zone that the text defines, in winter',
    ['DTSTART;TZID=W. Europe Standard Time:20261203T100000', 'DURATION:PT1H'],
    '2026-12-03T09:00:00Z',
    '2026-12-03T10:00:00Z',
  ],
  [
    'a zone that the text defines, in summer',
    ['DTSTART;TZID=W. Europe Standard Time:20260703T100000'],
    '2026-07-03T08:00:00Z',
    undefined,
  ],
  [
    'a zone that the text only names',
    ['DTSTART;TZID=America/New_York:20261203T100000', 'DTEND;TZID=Asia/Kolkata:20261203T223000'],
    '2026-12-03T15:00:00Z',
    '2026-12-03T17:00:00Z',
  ],
  ['an hour that clocks show twice', ['DTSTART;TZID=Europe/Berlin:20261025T023000'], '2026-10-25T01:30:00Z', undefined],
];

for (const [name, event, start, end] of TIMES) {
  test(`the time of an event: ${name}`, (t) => {
    const read = readInvitation(calendar(event, ZONE))!;
    t.deepEqual(read.start, { at: new Date(start), isDay: false });
    t.deepEqual(read.end?.at, end === undefined ? undefined : new Date(end));
  });
}

test('days are those of the reader, and a time without a zone is too', (t) => {
  const days = readInvitation(calendar(['DTSTART;VALUE=DATE:20261203', 'DTEND;VALUE=DATE:20261205']))!;
  t.deepEqual(days.start, { at: new Date(2026, 11, 3), isDay: true });
  t.deepEqual(days.end, { at: new Date(2026, 11, 4), isDay: true });
  const floating = ['DTSTART:20261203T100000', 'DTSTART;TZID=Nowhere/City:20261203T100000'];
  for (const line of floating) t.deepEqual(readInvitation(calendar([line]))?.start?.at, new Date(2026, 11, 3, 10));
});

test('the answer names the event and the attendee, and is read as a reply', (t) => {
  const now = new Date('2026-11-29T08:00:00Z');
  const text = answerText(MEETING, { address: 'zoe@example.test', name: 'Zoë; "Ünal"' }, 'ACCEPTED', now)!;
  for (const line of ['METHOD:REPLY', 'UID:u1', 'SEQUENCE:3', 'DTSTAMP:20261129T080000Z', 'DTSTART:20261203T100000Z']) {
    t.true(text.split('\r\n').includes(line), line);
  }
  t.like(readInvitation(text), {
    method: 'REPLY',
    summary: 'Site visit, aviary',
    organizer: { address: 'mirjam@koehler.test', name: 'Mirjam Köhler' },
    isRecurring: false,
  });
  t.like(readInvitation(text)?.attendees, [{ address: 'zoe@example.test', status: 'ACCEPTED' }]);
  t.is(readInvitation(text)?.attendees.length, 1);
  const zoned = calendar(['DTSTART;TZID=W. Europe Standard Time:20261203T100000', 'ORGANIZER:mailto:a@b.test'], ZONE);
  const answer = answerText(zoned, { address: 'c@d.test', name: '' }, 'DECLINED', now)!;
  t.deepEqual(readInvitation(answer)?.start?.at, new Date('2026-12-03T09:00:00Z'));
  t.is(
    answerText(calendar(['DTSTART:20261203T100000Z']), { address: 'c@d.test', name: '' }, 'DECLINED', now),
    undefined,
  );
});

test('what is no invitation is none', (t) => {
  const none = [
    '',
    'x',
    'BEGIN:VCALENDAR',
    'BEGIN:VEVENT\r\nEND:VEVENT',
    `BEGIN:VCALENDAR\r\n${'BEGIN:X\r\n'.repeat(20_000)}`,
  ];
  for (const text of none) t.is(readInvitation(text), undefined);
  t.like(readInvitation(calendar(['ORGANIZER:javascript:x', 'ATTENDEE:http://a.test', 'DTSTART:20269999T999999Z'])), {
    organizer: undefined,
    attendees: [],
  });
});

test('no text makes it fail', (t) => {
  const piece = fc.constantFrom(
    'BEGIN:VCALENDAR\r\n',
    'BEGIN:VEVENT\r\n',
    'END:VEVENT\r\n',
    'DTSTART;TZID=',
    'DTSTART:',
    'RRULE:',
    ':',
    ';',
    '\r\n',
    'ORGANIZER',
    '=',
    '"',
    'mailto:a@b',
    '2026',
    'T',
    'END:VCALENDAR\r\n',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 6 })), { maxLength: 40 }), (pieces) => {
      const text = pieces.join('');
      t.notThrows(() => readInvitation(text));
      t.notThrows(() => readInvitation(MEETING.replace('SUMMARY', text)));
      t.notThrows(() =>
        answerText(MEETING.replace('SEQUENCE', text), { address: 'a@b.test', name: text }, 'TENTATIVE', new Date()),
      );
    }),
    { numRuns: runs(1000, 100) },
  );
});
