// Tests attachments of outgoing mail through every route that sends: files in base64 and attachments of stored mail.
import test from '../../../../support/test.js';
import { ALICE, BOB as BOBS_ACCOUNT } from '../../fakes.js';
import { addMail } from '../../mail-fixture.js';
import { download, LOGO, OCTETS, PDF, parsed, payloadOf, post, type Shown, sentMail, start } from './attached-files.js';
import { BOB, ID, MAIL } from './composed-mail.js';

const BOBS = '018f0000-0000-7000-8000-000000000002';

test('files that are sent arrive octet for octet under their names, are listed and can be had again', async (t) => {
  const gateway = await start(t);
  const json = { ...MAIL, htmlBody: '<img src="cid:logo@example.test">', attachments: [PDF, LOGO] };
  const { id } = await post(t, gateway, 'send', json);
  const mail = await sentMail(gateway);
  t.deepEqual(
    mail.attachments.map(({ filename, contentType, contentDisposition, cid, related }) => ({
      filename,
      contentType,
      contentDisposition,
      cid,
      related: related === true,
    })),
    [
      {
        filename: 'logo.png',
        contentType: 'image/png',
        contentDisposition: 'inline',
        cid: 'logo@example.test',
        related: true,
      },
      {
        filename: PDF.fileName,
        contentType: PDF.contentType,
        contentDisposition: 'attachment',
        cid: undefined,
        related: false,
      },
    ],
  );
  t.true(mail.attachments[1]!.content.equals(OCTETS));
  t.regex(mail.raw, /^Content-Type: multipart\/mixed/m);
  t.regex(mail.raw, /^Content-Type: multipart\/related/m);
  const shown = (await (await gateway.fetch(`/api/outbound/${id}`)).json()) as Shown;
  t.is(shown.textBody, 'Hello');
  const [logo, pdf] = shown.attachments;
  t.like(logo, {
    fileName: 'logo.png',
    contentType: 'image/png',
    size: 3,
    sizeBytes: 3,
    contentId: 'logo@example.test',
  });
  t.like(pdf, { fileName: PDF.fileName, contentType: PDF.contentType, size: OCTETS.length, sizeBytes: OCTETS.length });
  t.false('contentId' in pdf!);
  t.true((await download(t, gateway, id, pdf!)).equals(OCTETS));
  t.is((await gateway.fetch(`/api/outbound/${id}/attachments/${ID}`)).status, 404);
  const bobsKey = gateway.directory.key(BOBS_ACCOUNT, 'app');
  t.is((await gateway.fetch(`/api/outbound/${id}/attachments/${pdf!.id}`, { key: bobsKey })).status, 404);
  t.deepEqual(gateway.files, { made: 1, open: 0 });
  t.is(gateway.spool.memory.used, 0);
});

test('what is empty, of any type, a message, or text in a charset travels too', async (t) => {
  const gateway = await start(t);
  const eml = 'Subject: inner\r\n\r\nhello\r\n';
  const attachments = [
    { fileName: 'empty', content: '' },
    { fileName: 'unknown', contentType: '', content: 'AA==' },
    {
      fileName: 'latin.txt',
      contentType: 'text/plain;charset=ISO-8859-1',
      content: Buffer.from('Zo\xeb', 'latin1').toString('base64'),
    },
    { fileName: 'inner.eml', contentType: 'message/rfc822', content: Buffer.from(eml).toString('base64') },
    {
      fileName: 'wide.eml',
      contentType: 'message/rfc822',
      content: Buffer.from('Subject: ë\r\n\r\n').toString('base64'),
    },
  ];
  const { id } = await post(t, gateway, 'send', { ...MAIL, attachments });
  const { attachments: shown } = (await (await gateway.fetch(`/api/outbound/${id}`)).json()) as Shown;
  t.deepEqual(
    shown.map(({ fileName, contentType, size }) => [fileName, contentType, size]),
    [
      ['empty', 'application/octet-stream', 0],
      ['unknown', 'application/octet-stream', 1],
      ['latin.txt', 'text/plain', 3],
      ['inner.eml', 'message/rfc822', eml.length],
      ['wide.eml', 'application/octet-stream', 15],
    ],
  );
  t.is((await download(t, gateway, id, shown[3]!)).toString(), eml);
  t.regex((await sentMail(gateway)).raw, /charset=ISO-8859-1/);
});

test('attachments of emails of the account, of drafts and of sent mail are named and not sent again', async (t) => {
  const gateway = await start(t);
  addMail(gateway.mailboxes, gateway.blobs, ALICE, {
    id: ID,
    attachments: [{ fileName: 'old.pdf', contentType: 'application/pdf', content: OCTETS }],
  });
  addMail(gateway.mailboxes, gateway.blobs, BOBS_ACCOUNT, {
    id: BOBS,
    attachments: [{ fileName: 'bobs.pdf', contentType: 'application/pdf', content: OCTETS }],
  });
  const email = (await (await gateway.fetch(`/api/emails/${ID}`)).json()) as Shown;
  const bobsKey = gateway.directory.key(BOBS_ACCOUNT, 'app');
  const bobs = (await (await gateway.fetch(`/api/emails/${BOBS}`, { key: bobsKey })).json()) as Shown;
  const [old] = email.attachments;
  const draft = await post(
    t,
    gateway,
    'drafts',
    { ...MAIL, attachments: [{ emailId: ID.toUpperCase(), attachmentId: old!.id, fileName: 'neu ë.pdf' }, LOGO] },
    201,
  );
  t.deepEqual(
    draft.attachments.map(({ fileName, size }) => [fileName, size]),
    [
      ['neu ë.pdf', OCTETS.length],
      ['logo.png', 3],
    ],
  );
  const again = draft.attachments.map(({ id: attachmentId }) => ({ emailId: draft.id, attachmentId }));
  const { id } = await post(t, gateway, 'send', { ...MAIL, attachments: again });
  const sent = await sentMail(gateway);
  t.deepEqual(
    sent.attachments.map(({ filename, content, cid }) => [filename, content.length, cid]),
    [
      ['neu ë.pdf', OCTETS.length, undefined],
      ['logo.png', 3, 'logo@example.test'],
    ],
  );
  t.true(sent.attachments[0]!.content.equals(OCTETS));
  const refused = await gateway.fetch('/api/outbound/send', {
    method: 'POST',
    json: {
      ...MAIL,
      attachments: [
        { emailId: BOBS, attachmentId: bobs.attachments[0]!.id },
        { emailId: id, attachmentId: old!.id },
      ],
    },
  });
  t.is(refused.status, 400);
  t.deepEqual(Object.keys(((await refused.json()) as { errors: object }).errors), [
    'attachments[0].emailId',
    'attachments[1].attachmentId',
  ]);
});

test('a reply has them, and a forward has them beside those of its original', async (t) => {
  const gateway = await start(t);
  addMail(gateway.mailboxes, gateway.blobs, ALICE, {
    id: ID,
    attachments: [{ fileName: 'old.pdf', contentType: 'application/pdf', content: OCTETS }],
  });
  await post(t, gateway, `reply/${ID}`, { textBody: 'See', attachments: [LOGO] });
  t.deepEqual(
    (await sentMail(gateway)).attachments.map(({ filename }) => filename),
    ['logo.png'],
  );
  await post(t, gateway, `forward/${ID}`, { recipients: [BOB], attachments: [LOGO] });
  t.deepEqual(
    (await sentMail(gateway)).attachments.map(({ filename }) => filename),
    ['logo.png', 'old.pdf'],
  );
  const faulty = await gateway.fetch(`/api/outbound/forward/${ID}`, {
    method: 'POST',
    json: { recipients: [BOB], attachments: [{ ...PDF, content: '*' }] },
  });
  t.is(faulty.status, 400);
  t.is(gateway.files.open, 0);
});

test('a draft keeps its attachments in the store alone, and is sent as it was composed, under a header of its own', async (t) => {
  const gateway = await start(t);
  const secret = { address: 'secret@remote.test', type: 'Bcc' };
  const textBody = 'Zoë\n'.repeat(50_000);
  const json = { ...MAIL, recipients: [BOB, secret], textBody, htmlBody: '<p>x', attachments: [PDF] };
  const made = await post(t, gateway, 'drafts', json, 201);
  const created = payloadOf(gateway, 'createDraft').draft;
  t.true(JSON.stringify(created).length < 2_000);
  t.like(await parsed(gateway, created.message!.blob), { subject: 'Hi', bcc: { text: 'secret@remote.test' } });
  t.true((await download(t, gateway, made.id, made.attachments[0]!)).equals(OCTETS));

  const put = (body: object) => gateway.fetch(`/api/outbound/drafts/${made.id}`, { method: 'PUT', json: body });
  const kept = { emailId: made.id, attachmentId: made.attachments[0]!.id };
  t.is((await put({ ...json, subject: 'New', attachments: [kept, LOGO] })).status, 204);
  const shown = (await (await gateway.fetch(`/api/outbound/drafts/${made.id}`)).json()) as Shown;
  t.deepEqual(
    shown.attachments.map(({ fileName }) => fileName),
    ['logo.png', PDF.fileName],
  );
  const before = await parsed(gateway, payloadOf(gateway, 'updateDraft').draft.message!.blob);
  await post(t, gateway, `drafts/${made.id}/send`, undefined);
  const mail = await sentMail(gateway);
  t.is(mail.subject, 'New');
  t.is(mail.text?.trim(), textBody.trim());
  t.deepEqual(
    mail.attachments.map(({ filename, content }) => [filename, content.length]),
    [
      ['logo.png', 3],
      [PDF.fileName, OCTETS.length],
    ],
  );
  t.true(mail.attachments[1]!.content.equals(OCTETS));
  t.notRegex(mail.raw, /secret/i);
  t.not(mail.messageId, before.messageId);
  for (const name of ['from', 'to', 'subject', 'message-id', 'date', 'mime-version', 'content-type']) {
    t.is(mail.raw.split('\r\n\r\n')[0]!.match(new RegExp(`^${name}:`, 'gim'))?.length, 1, name);
  }
  const bodyOf = (raw: string) => raw.slice(raw.indexOf('\r\n\r\n'));
  t.is(bodyOf(mail.raw), bodyOf(before.raw));
});

test('an id of an attachment of a draft never comes to name another file', async (t) => {
  const gateway = await start(t);
  const secret = { ...PDF, fileName: 'secret.pdf' };
  const made = await post(t, gateway, 'drafts', { ...MAIL, attachments: [PDF, secret] }, 201);
  const path = `/api/outbound/drafts/${made.id}`;
  const before = (await (await gateway.fetch(path)).json()) as Shown;
  const refs = before.attachments.map(({ id }) => ({ emailId: made.id, attachmentId: id }));
  // One window removes the first attachment; another, which still shows both, keeps only the first.
  const [first, second] = [
    { ...MAIL, attachments: [refs[1]] },
    { ...MAIL, attachments: [refs[0]] },
  ];
  t.is((await gateway.fetch(path, { method: 'PUT', json: first })).status, 204);
  const refused = await gateway.fetch(path, { method: 'PUT', json: second });
  t.is(refused.status, 400);
  const { errors } = (await refused.json()) as { errors: object };
  t.deepEqual(Object.keys(errors), ['attachments[0].attachmentId']);
  const old = await gateway.fetch(`/api/outbound/${made.id}/attachments/${refs[0]!.attachmentId}`);
  t.is(old.status, 404);
  const after = (await (await gateway.fetch(path)).json()) as Shown;
  t.deepEqual(
    after.attachments.map(({ fileName }) => fileName),
    ['secret.pdf'],
  );
});

test('a draft that is replaced has no attachments that the request does not name', async (t) => {
  const gateway = await start(t);
  const { id } = await post(t, gateway, 'drafts', { ...MAIL, attachments: [PDF] }, 201);
  t.is((await gateway.fetch(`/api/outbound/drafts/${id}`, { method: 'PUT', json: MAIL })).status, 204);
  const shown = (await (await gateway.fetch(`/api/outbound/drafts/${id}`)).json()) as Shown;
  t.deepEqual(shown.attachments, []);
});
