// Tests attachments that are refused, too large, cut off or cannot be written: the reply names the fault, and nothing remains.
import net from 'node:net';
import { deferred } from '../../../../support/deferred.js';
import test from '../../../../support/test.js';
import { MAX_MESSAGE_SIZE, startGateway } from '../../gateway.js';
import { LOGO, PDF, post, start } from './attached-files.js';
import { ID, MAIL } from './composed-mail.js';

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
