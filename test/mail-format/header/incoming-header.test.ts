// Tests which fields are removed from the header of an incoming message, and which one is added; all others stay.

import { incomingHeader } from '../../../src/mail-format/header/incoming-header.js';
import test from '../../support/test.js';

const stripped = (lines: readonly string[]) => incoming(lines, undefined);

const incoming = (lines: readonly string[], messageId: string | undefined) =>
  incomingHeader(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), {
    hostname: 'mx.example.test',
    messageId,
  }).toString('latin1');

test('fields that claim to be ours go, those of others and every other octet stay', (t) => {
  const kept = [
    'From: a@nowhere.test',
    'Authentication-Results: mx.other.test; spf=pass',
    'Subject: \xe4  x',
    'no field',
  ];
  const [from, results, ...rest] = kept;
  const header = stripped([
    'Authentication-Results: mx.example.test; spf=pass',
    from!,
    'authentication-results : (hi)',
    ' "MX.EXAMPLE.TEST"; dmarc=pass',
    results!,
    ...rest,
  ]);
  t.is(header, `${kept.join('\r\n')}\r\n\r\n`);
  t.is(stripped(kept), header);
});

test('Return-Path, Bcc and Resent-Bcc that came with a message go', (t) => {
  const header = stripped([
    'Return-Path: <forged@bank.test>',
    'From: a@nowhere.test',
    'BCC : secret@example.test,',
    '\tmore@example.test',
    'X-Bcc: stays',
    'Resent-Bcc: secret@example.test',
    'return-path:<>',
  ]);
  t.is(header, 'From: a@nowhere.test\r\nX-Bcc: stays\r\n\r\n');
});

test('verdicts of spam filters that came with a message go', (t) => {
  const header = stripped([
    'X-Spam-Status: No, score=-5',
    'x-spam-flag : NO',
    'X-Spammer: stays',
    'X-SPAM-Score:',
    ' 0',
  ]);
  t.is(header, 'X-Spammer: stays\r\n\r\n');
});

test('a message without a Message-ID gets one, in front; one that has it keeps it', (t) => {
  const id = '<1@mx.example.test>';
  t.is(incoming(['From: a@nowhere.test'], id), `Message-ID: ${id}\r\nFrom: a@nowhere.test\r\n\r\n`);
  t.is(incoming(['Bcc: b@here.test', 'X: y'], id), `Message-ID: ${id}\r\nX: y\r\n\r\n`);
  t.is(
    incoming(['X: y', 'message-id :', ' <2@nowhere.test>'], id),
    'X: y\r\nmessage-id :\r\n <2@nowhere.test>\r\n\r\n',
  );
  for (const name of ['DKIM-Signature', 'ARC-Message-Signature'])
    t.is(incoming([`${name}: v=1`], id), `${name}: v=1\r\n\r\n`);
  // What is there is the sender's, whatever it is worth: two ids would be worse.
  t.is(incoming(['Message-ID: none'], id), 'Message-ID: none\r\n\r\n');
});
