// Tests that the Received fields that this server writes are read, and those of others are not.
import { fieldValue, headerLines } from '../../../src/mail-format/header/header-lines.js';
import { receivedClauses } from '../../../src/mail-format/header/received-field.js';
import { type Received, receivedLine } from '../../../src/mail-format/header/trace.js';
import test from '../../support/test.js';

const read = (received: Received) => receivedClauses(fieldValue(headerLines(Buffer.from(receivedLine(received)))[0]!));
const base = { hostName: 'mx.here.test', id: '0190-af', date: new Date(0) };

test('what was written is read', (t) => {
  const from = { helo: 'client.test', remoteAddress: '::ffff:192.0.2.7' };
  t.deepEqual(read({ ...base, from, protocol: 'ESMTPS', recipient: 'ann@here.test' }), {
    helo: 'client.test',
    peer: '192.0.2.7',
    by: 'mx.here.test',
    protocol: 'ESMTPS',
    id: '0190-af',
    recipient: 'ann@here.test',
  });
  const long = { helo: `${'x'.repeat(80)}.test`, remoteAddress: '2001:db8::1' };
  t.like(read({ ...base, from: long, protocol: 'SMTP' }), { helo: long.helo, peer: '2001:db8::1', protocol: 'SMTP' });
  t.deepEqual(read({ ...base, protocol: 'UTF8SMTPSA' }), { by: 'mx.here.test', protocol: 'UTF8SMTPSA', id: '0190-af' });
});

test('fields of other servers are not', (t) => {
  for (const value of [
    '',
    ' from a.test (a.test [192.0.2.1]) by mx.test (Postfix) with ESMTP id 4F for <b@c.test>; Thu, 1 Jan 1970',
    ' by 2002:a17:90a:1 with SMTP id ab; (nothing)x'.replace(';', ''),
  ])
    t.is(receivedClauses(value), undefined, value);
});
