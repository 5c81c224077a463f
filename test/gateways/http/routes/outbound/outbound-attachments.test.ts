// Tests attachments of outgoing mail through every route that sends: files in base64 and attachments of stored mail.
import net from 'node:net';
import type { ExecutionContext } from 'ava';
import { type ParsedMail, simpleParser } from 'mailparser';
import type { MailboxProtocol } from '../../../../../src/actors/mailbox/protocol.js';
import type { Payload } from '../../../../../src/actors/runtime/protocol.js';
import test from '../../../../support/test.js';
import { ALICE, BOB as BOBS_ACCOUNT } from '../../fakes.js';
import { deferred, type Gateway, MAX_MESSAGE_SIZE, startGateway } from '../../gateway.js';
import { addMail } from '../../mail-fixture.js';
import { lastQueued } from '../../queued-message.js';

const ID = '018f0000-0000-7000-8000-000000000001';
const BOBS = '018f0000-0000-7000-8000-000000000002';
const BOB = { address: 'bob@remote.test', displayName: 'Bob', type: 'To' };
const MAIL = { fromAddress: 'alice@example.test', subject: 'Hi', textBody: 'Hello', recipients: [BOB] };

const OCTETS = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * i + (i >> 8)) & 0xff));
const PDF = { fileName: 'Zoë 💌.pdf', contentType: 'application/pdf', content: OCTETS.toString('base64') };
const LOGO = {
  fileName: 'logo.png',
  contentType: 'image/png',
  content: Buffer.from('PNG').toString('base64'),
  contentId: '<logo@example.test>',
};

interface Attachment {
  readonly id: string;
  readonly fileName: string;
  readonly contentType: string;
  readonly size: number;
  readonly sizeBytes: number;
  readonly contentId?: string;
}
interface Shown {
  readonly id: string;
  readonly attachments: readonly Attachment[];
  readonly textBody: string | null;
}

/** Starts a gateway that counts open spool files. */
async function start(t: ExecutionContext, options: Parameters<typeof startGateway>[1] = {}) {
  const gateway = await startGateway(t, options);
  const files = { made: 0, open: 0 };
  const file = gateway.spool.file.bind(gateway.spool);
  gateway.spool.file = async () => {
    const made = await file();
    const close = made.close.bind(made);
    files.made++;
    files.open++;
    made.close = () => {
      files.open--;
      return close();
    };
    return made;
  };
  return { ...gateway, files };
}

async function post<T = Shown>(t: ExecutionContext, gateway: Gateway, path: string, json: unknown, status = 200) {
  const response = await gateway.fetch(`/api/outbound/${path}`, { method: 'POST', json });
  t.is(response.status, status, await response.clone().text());
  return (await response.json()) as T;
}

async function parsed(gateway: Gateway, blob: string): Promise<ParsedMail & { readonly raw: string }> {
  const octets = Buffer.from(gateway.blobs.blobs.get(blob)!.bytes);
  return { ...(await simpleParser(octets)), raw: octets.toString('latin1') };
}

const payloadOf = <N extends 'createDraft' | 'updateDraft'>(gateway: Gateway, name: N) =>
  gateway.mailboxes.asked.findLast((one) => one.name === name)!.payload as Payload<MailboxProtocol, N>;

const sentMail = (gateway: Gateway) => parsed(gateway, lastQueued(gateway).blob);

async function download(t: ExecutionContext, gateway: Gateway, id: string, attachment: Attachment): Promise<Buffer> {
  const response = await gateway.fetch(`/api/outbound/${id}/attachments/${attachment.id}`);
  t.is(response.status, 200);
  t.is(response.headers.get('content-type'), attachment.contentType);
  t.is(response.headers.get('content-length'), String(attachment.size));
  t.is(response.headers.get('x-content-type-options'), 'nosniff');
  t.regex(response.headers.get('content-security-policy')!, /sandbox/);
  t.regex(response.headers.get('content-disposition')!, /^attachment; filename=/);
  return Buffer.from(await response.arrayBuffer());
}

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

const FAULTS: readonly (readonly [attachments: unknown, ...fields: readonly string[]])[] = [
  ['x', 'attachments'],
  [Array(101).fill(LOGO), 'attachments'],
  [['x'], 'attachments[0]'],
  [[PDF, { ...PDF, content: 'AAAA*' }], 'attachments[1].content'],
  [
    [
      { ...PDF, content: 'AAA' },
      { ...PDF, content: 'A' },
    ],
    'attachments[1].content',
  ],
  [[{ ...PDF, content: 5 }], 'attachments[0].content'],
  [[{ ...PDF, content: { size: 5, isBase64: true } }], 'attachments[0].content'],
  [[{ ...PDF, content: undefined }], 'attachments[0].content'],
  [[{ ...PDF, content: null }, {}], 'attachments[0].content', 'attachments[1].content'],
  [[{ ...PDF, fileName: undefined }], 'attachments[0].fileName'],
  [[{ ...PDF, fileName: ' ' }], 'attachments[0].fileName'],
  [[{ ...PDF, fileName: 'a\r\nb' }], 'attachments[0].fileName'],
  [[{ ...PDF, fileName: 'x'.repeat(201) }], 'attachments[0].fileName'],
  [[{ ...PDF, contentType: 'pdf' }], 'attachments[0].contentType'],
  [[{ ...PDF, contentType: 'multipart/mixed; boundary=x' }], 'attachments[0].contentType'],
  [[{ ...PDF, contentType: 'text/plain\r\nBcc: x@y.test' }], 'attachments[0].contentType'],
  [[{ ...PDF, contentId: 'a b' }], 'attachments[0].contentId'],
  [[{ ...PDF, contentId: 'a>\r\nBcc: x@y.test' }], 'attachments[0].contentId'],
  [[{ ...PDF, emailId: ID }], 'attachments[0].content'],
  [[{ emailId: ID }], 'attachments[0].attachmentId'],
  [[{ attachmentId: ID }], 'attachments[0].emailId'],
  [[{ emailId: 'x', attachmentId: ID }], 'attachments[0].emailId'],
  [[{ emailId: ID, attachmentId: ID }], 'attachments[0].emailId'],
];

test('faults are told by their fields, and leave nothing behind', async (t) => {
  const gateway = await start(t);
  for (const [attachments, ...fields] of FAULTS) {
    for (const path of ['send', 'drafts']) {
      const response = await gateway.fetch(`/api/outbound/${path}`, { method: 'POST', json: { ...MAIL, attachments } });
      const text = await response.text();
      t.is(response.status, 400, text);
      t.deepEqual(
        Object.keys((JSON.parse(text) as { errors: object }).errors),
        fields,
        JSON.stringify(attachments).slice(0, 200),
      );
    }
  }
  t.is(gateway.files.open, 0);
  t.is(gateway.blobs.blobs.size, 0);
});

test('attachments that make the message larger than a message may be are 413', async (t) => {
  const gateway = await start(t);
  const large = { ...PDF, content: Buffer.alloc((MAX_MESSAGE_SIZE * 3) / 4 - 10_000).toString('base64') };
  const refused = await gateway.fetch('/api/outbound/send', {
    method: 'POST',
    json: { ...MAIL, attachments: [large] },
  });
  t.is(refused.status, 413);
  const { id, attachments } = await post(
    t,
    gateway,
    'drafts',
    { attachments: [{ ...PDF, content: Buffer.alloc(MAX_MESSAGE_SIZE / 2).toString('base64') }] },
    201,
  );
  const twice = Array(2).fill({ emailId: id, attachmentId: attachments[0]!.id });
  for (const path of ['send', 'drafts']) {
    const response = await gateway.fetch(`/api/outbound/${path}`, {
      method: 'POST',
      json: { ...MAIL, attachments: twice },
    });
    t.is(response.status, 413);
    t.regex(((await response.json()) as { detail: string }).detail, /larger than 2097152 octets/);
  }
  t.is(gateway.files.open, 0);
  t.is(gateway.spool.memory.used, 0);
});

test('a client that leaves in the middle of a file leaves nothing behind', async (t) => {
  const gateway = await start(t);
  const file = gateway.spool.file;
  const closed = deferred();
  gateway.spool.file = async () => {
    const made = await file();
    const close = made.close;
    made.close = () => close().finally(closed.resolve);
    socket.destroy();
    return made;
  };
  const socket = net.connect(gateway.port, '127.0.0.1');
  socket.write(
    `POST /api/outbound/send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\nContent-Type: application/json\r\n` +
      `Content-Length: 1000000\r\n\r\n{"attachments":[{"content":"${PDF.content}`,
  );
  await closed.promise;
  t.is(gateway.files.open, 0);
});

test('a spool that cannot be written is 503, and leaves nothing behind', async (t) => {
  const gateway = await startGateway(t);
  const file = gateway.spool.file.bind(gateway.spool);
  let closed = 0;
  gateway.spool.file = async () => {
    const made = await file();
    await made.close();
    made.close = async () => void closed++;
    return made;
  };
  const response = await gateway.fetch('/api/outbound/send', { method: 'POST', json: { ...MAIL, attachments: [PDF] } });
  t.is(response.status, 503);
  t.is(closed, 1);
});
