// Tests which messages may be reports, by their MIME index.

import { indexMessage } from '../../../../src/mail-format/mime-index/indexer.js';
import { reportPart } from '../../../../src/message-checks/feedback/reading/report-part.js';
import test from '../../../support/test.js';
import { google, gzipped, reportMail } from '../samples.js';

const NAME = 'google.com!example.test!1795824000!1795910399.xml.gz';
const mail = (change: Partial<Parameters<typeof reportMail>[0]> = {}) =>
  reportMail(
    { from: 'a@google.com', to: 'b@example.test', subject: 'Hello', type: 'application/gzip', name: NAME, ...change },
    gzipped(google()),
  );
const part = (text: string, isPostmaster = false) => reportPart(indexMessage(Buffer.from(text)), isPostmaster)?.section;

test('the name of the file, the type of TLS reports, the subject or the postmaster tell a report', (t) => {
  t.is(part(mail()), '2');
  t.is(part(mail({ name: 'outlook.com!example.test!1!2.xml.gz', type: 'application/octet-stream' })), '2');
  t.is(part(mail({ name: 'a!b!1!2!id.zip', type: 'application/x-zip-compressed' })), '2');
  t.is(part(mail({ name: 'x', type: 'application/tlsrpt+gzip' })), '2');
  t.is(part(mail({ name: 'x', subject: 'Report Domain: example.test Submitter: google.com Report-ID: <1>' })), '2');
  t.is(part(mail({ name: 'x.gz' }), true), '2');
  t.is(part(`Subject: Report domain: x\r\nContent-Type: application/zip\r\n\r\nPK`), '1');
});

test('other mail is none', (t) => {
  t.is(part(mail({ name: 'photos.zip', type: 'application/zip' })), undefined);
  t.is(part(mail({ name: NAME, type: 'image/png' })), undefined);
  t.is(part('Subject: Report Domain: example.test\r\n\r\nhello'), undefined);
  t.is(part('Subject: hi\r\n\r\nhello', true), undefined);
  const many = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(50)}`;
  t.is(part(`${many}--b\r\nContent-Type: application/tlsrpt+gzip\r\n\r\nx\r\n--b--\r\n`), undefined);
});
