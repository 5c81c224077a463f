// Tests trace fields: text of a peer stays in its place.

import fc from 'fast-check';
import { receivedLine, returnPathLine } from '../../../src/mail-format/header/trace.js';
import test from '../../support/test.js';

const base = {
  from: { helo: 'mail.example.org', remoteAddress: '192.0.2.1' },
  hostName: 'mx.example.test',
  protocol: 'ESMTPS',
  id: '0192-abcd',
  date: new Date(Date.UTC(2026, 10, 21, 13, 10, 19)),
};

test('Received of one recipient', (t) => {
  t.is(
    receivedLine({ ...base, recipient: 'bob@example.test' }),
    'Received: from mail.example.org ([192.0.2.1]) by mx.example.test with ESMTPS\r\n' +
      '\tid 0192-abcd for <bob@example.test>; Sat, 21 Nov 2026 13:10:19 +0000\r\n',
  );
});

test('Received of many recipients names none; IPv6', (t) => {
  const line = receivedLine({ ...base, from: { ...base.from, remoteAddress: '2001:db8::1' } });
  t.false(line.includes(' for '));
  t.true(line.includes('([IPv6:2001:db8::1])'));
  t.true(
    receivedLine({ ...base, from: { ...base.from, remoteAddress: '::ffff:192.0.2.1' } }).includes('([192.0.2.1])'),
  );
});

test('Received of a submission does not tell from where', (t) => {
  const { from: _, ...rest } = base;
  t.is(
    receivedLine(rest),
    'Received: by mx.example.test with ESMTPS id 0192-abcd;\r\n\tSat, 21 Nov 2026 13:10:19 +0000\r\n',
  );
});

test('Return-Path', (t) => {
  t.is(returnPathLine('a@b.c'), 'Return-Path: <a@b.c>\r\n');
  t.is(returnPathLine(''), 'Return-Path: <>\r\n');
  t.is(returnPathLine('a>\r\nX: y'), 'Return-Path: <aX: y>\r\n');
});

test('whatever a peer says, it is one field with one comment, folded', (t) => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.string(),
      fc.string({ unit: 'binary' }),
      (helo, remoteAddress, recipient) => {
        const line = receivedLine({ ...base, from: { helo: `a\r\nb (x) ;${helo}`, remoteAddress }, recipient });
        t.regex(line, /^Received: from \S+\s+\(\[[^()]*\]\)\s+by mx\.example\.test\s/u);
        t.true(line.endsWith('2026 13:10:19 +0000\r\n'));
        for (const part of line.slice(0, -2).split('\r\n')) t.notRegex(part, /[\r\n\0]/);
        for (const part of line.slice(0, -2).split('\r\n').slice(1)) t.regex(part, /^\t/);
      },
    ),
  );
});
