// Tests the formats of values in responses.

import fc from 'fast-check';
import { dateTime } from '../../../../src/gateways/imap/grammar/dates.js';
import { sequenceSet } from '../../../../src/gateways/imap/grammar/sequence-set.js';
import { createReader } from '../../../../src/gateways/imap/wire/command-reader.js';
import {
  astring,
  internalDate,
  literal,
  mailboxName,
  nstring,
  quoted,
  uidSet,
} from '../../../../src/gateways/imap/wire/format.js';
import { octetsOf } from '../../../../src/gateways/sessions/output.js';
import test from '../../../support/test.js';

test('strings are in quotes when they may be, else literals', (t) => {
  t.is(quoted('a "b" \\'), '"a \\"b\\" \\\\"');
  t.is(quoted(''), '""');
  t.is(quoted('a\tb'), '"a\tb"');
  t.is(quoted('Zoë'), '{4}\r\nZo\xc3\xab');
  t.is(quoted('a\r\nb'), '{4}\r\na\r\nb');
  t.is(quoted(Buffer.from([0xe4, 0x62])), '{2}\r\n\xe4b');
  t.is(quoted('x'.repeat(4097)), `{4097}\r\n${'x'.repeat(4097)}`);
  t.is(quoted('a\0b'), '{5}\r\na\xef\xbf\xbdb');
  t.is(literal('ä'), '{2}\r\n\xc3\xa4');
  t.is(octetsOf('a💌'), 'a\xf0\x9f\x92\x8c');
});

test('an astring is an atom where that is possible, and never NIL', (t) => {
  t.is(astring('a]b'), 'a]b');
  t.is(astring(''), '""');
  t.is(astring('nil'), '"nil"');
  t.is(astring('a b'), '"a b"');
  t.is(astring('a*'), '"a*"');
  t.is(nstring(null), 'NIL');
  t.is(nstring(undefined), 'NIL');
  t.is(nstring(''), '""');
  t.is(nstring('NIL'), '"NIL"');
});

test('names of mailboxes are modified UTF-7, or UTF-8 in quotes', (t) => {
  t.is(mailboxName('Zoë 💌', false), '"Zo&AOs- &2D3cjA-"');
  t.is(mailboxName('Zoë 💌', true), '"Zo\xc3\xab \xf0\x9f\x92\x8c"');
  t.is(mailboxName('R&D', false), 'R&-D');
  t.is(mailboxName('R&D', true), 'R&D');
  t.is(mailboxName('INBOX', false), 'INBOX');
});

test('UIDs are written as ranges, in their order', (t) => {
  t.is(uidSet([]), '');
  t.is(uidSet([7]), '7');
  t.is(uidSet([1, 2, 3, 5, 7, 8]), '1:3,5,7:8');
  t.is(uidSet([3, 2, 1, 2]), '3,2,1:2');
  t.is(
    uidSet([
      [1, 3],
      [4, 4],
      [9, 10],
    ]),
    '1:4,9:10',
  );
  t.is(uidSet(new Set([4_294_967_294, 4_294_967_295])), '4294967294:4294967295');
});

test('sets of UIDs are read as they were', (t) => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 1 }), (uids) => {
      const read = sequenceSet(createReader(uidSet(uids)));
      if (read === '$') return t.fail();
      const all = read.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i));
      t.deepEqual(all, uids);
    }),
  );
});

test('dates are in UTC, and read as they were', (t) => {
  t.is(internalDate(Date.UTC(1996, 6, 17, 9, 44, 25)), '"17-Jul-1996 09:44:25 +0000"');
  t.is(internalDate(Date.UTC(2026, 0, 5)), '" 5-Jan-2026 00:00:00 +0000"');
  fc.assert(
    fc.property(fc.integer({ min: -60_000_000_000, max: 250_000_000_000 }), (seconds) => {
      t.is(dateTime(createReader(internalDate(seconds * 1000))), seconds * 1000);
    }),
  );
});
