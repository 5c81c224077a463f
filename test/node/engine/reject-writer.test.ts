// Tests what the sender of mail gets that a script refuses: a notification for each command, and none for senders that must get none.
import { simpleParser } from 'mailparser';
import { rejectWriter } from '../../../src/node/engine/reject-writer.js';
import { blobOf } from '../../../src/store/blobs.js';
import type { DueMail } from '../../../src/store/mailbox-rows.js';
import test from '../../support/test.js';

const ID = '0195d3a2-0000-7000-8000-000000000001';
const REASON = 'No mail\r\nat all: Zoë.';

async function rejected(command: 'reject' | 'ereject', changes: Partial<DueMail> = {}, fields: readonly string[] = []) {
  const header = [
    ...fields,
    'From: Ann <ann@far.test>',
    'To: me@example.test',
    'Subject: Lunch?',
    'Message-ID: <1@far>',
  ];
  const message = Buffer.from(`${header.join('\r\n')}\r\n\r\nHi`);
  const content = blobOf(message);
  const due: DueMail = {
    ...{ id: ID, kind: 'reject', blob: content.hash, receivedAt: 1, sender: 'ann@far.test' },
    ...{ recipient: 'me+tag@example.test', targets: [], copy: null, isChecked: false, isQueued: false },
    further: { reject: { command, reason: REASON } },
    ...changes,
  };
  const write = rejectWriter({
    blobs: { index: async () => content.index, read: async (_, start, end) => message.subarray(start, end) },
    account: async () => ({ email: 'me@example.test', displayName: 'Me' }),
    hostname: 'mail.example.test',
    newId: () => ID,
    now: () => 1_000,
  });
  return write('account', due);
}

test('reject is a disposition notification from the address that was written to', async (t) => {
  const written = await rejected('reject');
  if ('skip' in written) throw new Error(written.skip);
  t.like(written, { sender: '', to: ['ann@far.test'], reportTo: null });
  const text = Buffer.from(written.message).toString();
  t.regex(text, /^Content-Type: multipart\/report; report-type=disposition-notification;/m);
  t.regex(text, /^Final-Recipient: rfc822; me\+tag@example\.test\r$/m);
  t.regex(text, /^Original-Message-ID: <1@far>\r$/m);
  t.regex(text, /^Disposition: automatic-action\/MDN-sent-automatically; deleted\r$/m);
  const parsed = await simpleParser(text);
  t.is(parsed.from?.value[0]?.address, 'me+tag@example.test');
  t.is(parsed.subject, 'Rejected: Lunch?');
  t.is(parsed.inReplyTo, '<1@far>');
  t.is(parsed.headers.get('auto-submitted'), 'auto-replied');
  t.regex(parsed.text!, /refused by the mail filter[\s\S]*No mail\n?\r?\n?at all: Zoë\./);
});

test('ereject is a delivery status notification with 5.7.1', async (t) => {
  const written = await rejected('ereject');
  if ('skip' in written) throw new Error(written.skip);
  t.like(written, { sender: '', to: ['ann@far.test'], reportTo: null });
  const text = Buffer.from(written.message).toString();
  t.regex(text, /^Content-Type: multipart\/report; report-type=delivery-status;/m);
  t.regex(text, /^Status: 5\.7\.1\r$/m);
  t.regex(text, /^Action: failed\r$/m);
  t.regex(text, /No mail at all: Zoë\./);
  t.regex(text, /^Subject: Lunch\?\r$/m);
});

test('nobody is told who must not be', async (t) => {
  const skipped = async (changes: Partial<DueMail>, ...fields: string[]) =>
    'skip' in (await rejected('reject', changes, fields));
  t.true(await skipped({}, 'List-Id: <a.far.test>'));
  t.true(await skipped({}, 'Auto-Submitted: auto-generated'));
  t.true(await skipped({}, 'Precedence: bulk'));
  t.true(await skipped({ sender: 'mailer-daemon@far.test' }));
  t.true(await skipped({ sender: 'me@example.test' }));
  const results = 'Authentication-Results: mail.example.test; spf=fail smtp.mailfrom=far.test';
  t.true(await skipped({ isChecked: true }, results));
  t.false(await skipped({}, results), 'the field is of the sender when the MX has checked nothing');
  t.true(await skipped({ further: undefined }));
  t.false(await skipped({}));
});
