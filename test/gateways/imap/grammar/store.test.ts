// Tests STORE, flags and dates.

import fc from 'fast-check';
import { calendarDay, dateTime } from '../../../../src/gateways/imap/grammar/dates.js';
import { flagList } from '../../../../src/gateways/imap/grammar/flags.js';
import { type StoreArguments, storeArguments } from '../../../../src/gateways/imap/grammar/store.js';
import test from '../../../support/test.js';
import { flags, printedSet, sets } from './generators.js';
import { readWhole } from './reading.js';
import { reads, refuses } from './tables.js';

const store = { set: [[1, 1]], mode: 'replace', isSilent: false, flags: [], unchangedSince: undefined } as const;
reads<StoreArguments>('STORE', storeArguments, [
  ['1 FLAGS ()', store],
  ['1 flags.silent (\\Seen $Junk)', { ...store, isSilent: true, flags: ['\\Seen', '$Junk'] }],
  ['1 +FLAGS \\Seen', { ...store, mode: 'add', flags: ['\\Seen'] }],
  [
    '1 -Flags.Silent \\Seen \\Deleted x',
    { ...store, mode: 'remove', isSilent: true, flags: ['\\Seen', '\\Deleted', 'x'] },
  ],
  ['1 (UNCHANGEDSINCE 5) FLAGS x', { ...store, flags: ['x'], unchangedSince: 5 }],
  ['1 (unchangedsince 0) +FLAGS (x)', { ...store, mode: 'add', flags: ['x'], unchangedSince: 0 }],
]);
refuses('STORE', storeArguments, [
  '',
  '1',
  '1 FLAGS',
  '1 FLAGS ',
  '1 + FLAGS x',
  '1 FLAG x',
  '1 FLAGS.LOUD x',
  '1 FLAGS (x) y',
  '1 FLAGS \\',
  '1 FLAGS \\*',
  '1 FLAGS (a',
  '1 (UNCHANGEDSINCE 5)FLAGS x',
  '1 () FLAGS x',
  '1 (UNCHANGEDSINCE) FLAGS x',
  '1 (UNCHANGEDSINCE x) FLAGS x',
  '1 (CHANGEDSINCE 5) FLAGS x',
]);

test('every STORE is read as it was printed', (t) => {
  const commands: fc.Arbitrary<StoreArguments> = fc.record({
    set: sets,
    mode: fc.constantFrom('add', 'remove', 'replace'),
    isSilent: fc.boolean(),
    flags: fc.array(flags, { maxLength: 4 }),
    unchangedSince: fc.option(fc.maxSafeNat(), { nil: undefined }),
  });
  fc.assert(
    fc.property(commands, fc.boolean(), (command, isBare) => {
      const { set, mode, isSilent, unchangedSince } = command;
      const modifier = unchangedSince === undefined ? '' : `(UNCHANGEDSINCE ${unchangedSince}) `;
      const sign = { add: '+', remove: '-', replace: '' }[mode];
      const list = command.flags.join(' ');
      const shown = isBare && list !== '' ? list : `(${list})`;
      const text = `${printedSet(set)} ${modifier}${sign}FLAGS${isSilent ? '.SILENT' : ''} ${shown}`;
      t.deepEqual(readWhole(storeArguments, text), command);
    }),
  );
});

reads<readonly string[]>('a list of flags', flagList, [
  ['()', []],
  ['(\\Seen x)', ['\\Seen', 'x']],
]);
refuses('a list of flags', flagList, ['', '\\Seen', '(\\Seen', '(%)', '("x")']);

reads<number>('a date and time', dateTime, [
  ['"17-Jul-1996 02:44:25 -0700"', Date.UTC(1996, 6, 17, 9, 44, 25)],
  ['" 1-jan-2026 00:00:00 +0130"', Date.UTC(2025, 11, 31, 22, 30)],
  ['"1-JAN-2026 00:00:00 +0000"', Date.UTC(2026, 0, 1)],
  ['"29-Feb-2024 23:59:60 +0000"', Date.UTC(2024, 2, 1)],
  ['"01-Jan-0050 00:00:00 +0000"', new Date('0050-01-01T00:00:00Z').getTime()],
  // INTERNALDATE could not show this date in UTC.
  ['"31-Dec-9999 23:59:59 -1200"', Date.UTC(9999, 11, 31, 23, 59, 59)],
  ['"01-Jan-0000 00:00:00 +1200"', new Date('0000-01-01T00:00:00Z').getTime()],
]);
refuses('a date and time', dateTime, [
  '',
  '17-Jul-1996',
  '"17-Jul-1996"',
  '"32-Jul-1996 02:44:25 -0700"',
  '"31-Jun-1996 02:44:25 -0700"',
  '"29-Feb-2025 02:44:25 -0700"',
  '"00-Jul-1996 02:44:25 -0700"',
  '"17-Foo-1996 02:44:25 -0700"',
  '"17-Jul-96 02:44:25 -0700"',
  '"17-Jul-1996 24:00:00 -0700"',
  '"17-Jul-1996 02:60:25 -0700"',
  '"17-Jul-1996 02:44:61 -0700"',
  '"17-Jul-1996 02:44:25"',
  '"17-Jul-1996 02:44:25 GMT"',
  '"17-Jul-1996 02:44:25 +2400"',
  '"17-Jul-1996 02:44:25 +0060"',
  '"  7-Jul-1996 02:44:25 +0000"',
]);
reads('a date', calendarDay, [
  ['1-Feb-2026', { year: 2026, month: 2, day: 1 }],
  ['"29-Feb-2024"', { year: 2024, month: 2, day: 29 }],
]);
refuses('a date', calendarDay, ['', '29-Feb-2025', '1-Feb-2026 ', '" 1-Feb-2026"', '2026-02-01', '(1-Feb-2026)']);
