// Tests drafts over HTTP: their entity tags, and drafts that a mail program has written.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { type ParsedMail, simpleParser } from 'mailparser';
import type { MailboxProtocol } from '../../../../../src/actors/mailbox/protocol.js';
import type { Payload } from '../../../../../src/actors/runtime/protocol.js';
import { indexMessage } from '../../../../../src/mail-format/mime-index/indexer.js';
import { summarize } from '../../../../../src/mail-format/summary.js';
import test from '../../../../support/test.js';
import { ALICE } from '../../fakes.js';
import { type Gateway, startGateway } from '../../gateway.js';
import { lastQueued } from '../../queued-message.js';

const DRAFT = { subject: 'Zoë 💌', textBody: 'Hello', recipients: [{ address: 'zoe@remote.test', type: 'To' }] };

/** Stores a draft as a mail program does. */
async function written(gateway: Gateway, lines: readonly string[]): Promise<string> {
  const octets = Buffer.from(lines.join('\r\n'));
  const blob = gateway.blobs.add(octets, indexMessage(octets));
  const mailbox = gateway.mailboxes.refs.of(ALICE);
  const summary = summarize(gateway.blobs.blobs.get(blob)!.index);
  const message = { blob, summary, receivedAt: Date.now(), flags: ['\\Draft'] };
  await mailbox.ask('append', { folderId: 'drafts', messages: [message] });
  const page = { statuses: ['Draft' as const], page: 1, pageSize: 1 };
  return (await mailbox.ask('outboundPage', page)).reply!.items[0]!.id;
}

async function sent(t: ExecutionContext, gateway: Gateway, id: string) {
  const response = await gateway.fetch(`/api/outbound/drafts/${id}/send`, { method: 'POST' });
  t.is(response.status, 200, await response.text());
  const payload = lastQueued(gateway);
  const octets = Buffer.from(gateway.blobs.blobs.get(payload.blob)!.bytes);
  const mail: ParsedMail = await simpleParser(octets, { skipTextToHtml: true });
  t.is(gateway.spool.memory.used, 0);
  return { payload, mail, raw: octets.toString('latin1') };
}

test('a change of another version than If-Match names is refused, and changes nothing', async (t) => {
  const gateway = await startGateway(t);
  const made = await gateway.fetch('/api/outbound/drafts', { method: 'POST', json: DRAFT });
  const { id } = (await made.json()) as { id: string };
  const path = `/api/outbound/drafts/${id}`;
  const tag = made.headers.get('etag')!;
  t.regex(tag, /^"\d+"$/);
  t.is((await gateway.fetch(path)).headers.get('etag'), tag);
  t.is((await gateway.fetch(path, { headers: { 'if-none-match': tag } })).status, 304);

  const put = (condition: string, subject: string) =>
    gateway.fetch(path, { method: 'PUT', json: { ...DRAFT, subject }, headers: { 'if-match': condition } });
  for (const condition of ['"1"', `W/${tag}`, tag.slice(1, -1), `"x${tag.slice(1)}`, '', '"1", W/"2"']) {
    const refused = await put(condition, 'lost');
    t.is(refused.status, 412, condition);
    t.is(refused.headers.get('content-type'), 'application/problem+json');
    t.like(await refused.json(), { status: 412, title: 'Precondition Failed' });
    for (const [method, rest] of [
      ['DELETE', ''],
      ['POST', '/send'],
    ] as const) {
      const other = await gateway.fetch(path + rest, { method, headers: { 'if-match': condition } });
      t.is(other.status, 412, `${method} ${condition}`);
    }
  }
  const shown = await gateway.fetch(path);
  t.is(shown.headers.get('etag'), tag);
  t.like(await shown.json(), { subject: 'Zoë 💌' });

  const changed = await put(`"1", ${tag}`, 'second');
  t.is(changed.status, 204);
  const second = changed.headers.get('etag')!;
  t.not(second, tag);
  t.is((await gateway.fetch(path)).headers.get('etag'), second);
  t.is((await put(tag, 'lost')).status, 412);
  t.is((await put('*', 'third')).status, 204);
  t.is((await gateway.fetch(path, { method: 'PUT', json: DRAFT })).status, 204);
  const { headers } = await gateway.fetch(path);
  const last = headers.get('etag')!;
  const send = (condition: string) =>
    gateway.fetch(`${path}/send`, { method: 'POST', headers: { 'if-match': condition } });
  t.is((await send(second)).status, 412);
  t.is((await send(last)).status, 200);
  // RFC 9110 §13.2.1: the condition of a request that fails anyway is not evaluated.
  t.is((await send(last)).status, 404);
  t.is((await put('"1"', 'gone')).status, 404);
});

test('a draft that a mail program wrote shows whom its message names, and its bodies and files', async (t) => {
  const gateway = await startGateway(t);
  const id = await written(gateway, [
    'From: Alice <alice@example.test>',
    'To: =?utf-8?Q?Zo=C3=AB_=F0=9F=92=8C?= <zoe@remote.test>, Friends: bob@remote.test;, half',
    'Cc: "Carol, C." <carol@remote.test>',
    'Bcc: =?utf-8?Q?a=0Ab?= <secret@remote.test>',
    'Subject: =?utf-8?Q?Zo=C3=AB_=F0=9F=92=8C?=',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'Written elsewhere.',
    '--b',
    'Content-Type: application/pdf; name=a.pdf',
    'Content-Disposition: attachment; filename=a.pdf',
    '',
    '%PDF',
    '--b--',
    '',
  ]);
  for (const path of [`drafts/${id}`, id]) {
    const response = await gateway.fetch(`/api/outbound/${path}`);
    t.is(response.status, 200);
    const shown = (await response.json()) as {
      recipients: { id: string; address: string; type: string; displayName?: string }[];
      attachments: { id: string; fileName: string }[];
      textBody: string;
    };
    t.deepEqual(
      shown.recipients.map(({ type, address, displayName }) => [type, address, displayName]),
      [
        ['To', 'zoe@remote.test', 'Zoë 💌'],
        ['To', 'bob@remote.test', undefined],
        ['To', 'half', undefined],
        ['Cc', 'carol@remote.test', 'Carol, C.'],
        ['Bcc', 'secret@remote.test', 'a b'],
      ],
    );
    t.is(new Set(shown.recipients.map((recipient) => recipient.id)).size, 5);
    t.is(shown.textBody.trim(), 'Written elsewhere.');
    t.deepEqual(
      shown.attachments.map(({ fileName }) => fileName),
      ['a.pdf'],
    );
    const file = await gateway.fetch(`/api/outbound/${id}/attachments/${shown.attachments[0]!.id}`);
    t.is(await file.text(), '%PDF');
  }
});

test('a draft that a mail program wrote is sent as it was composed, in its thread, without its own ids', async (t) => {
  const gateway = await startGateway(t);
  const id = await written(gateway, [
    'Return-Path: <x@example.test>',
    'From: Alice <alice@example.test>',
    'Reply-To: <team@example.test>',
    'To: Zoe <zoe@remote.test>, ZOE@remote.test',
    'Bcc: <secret@remote.test>',
    'Subject: draft of it',
    'Message-ID: <draft@program.test>',
    'In-Reply-To: <parent@x>',
    'References: <root@x> <parent@x>',
    'X-Program-State: private',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
    '',
    `Zoë 💌 ${'long '.repeat(400)}`,
    '',
  ]);
  const { email, content } = (await gateway.mailboxes.refs.of(ALICE).ask('outbound', { outboundId: id })).reply!;
  t.is(content, null);
  const { payload, mail, raw } = await sent(t, gateway, id);
  t.deepEqual(
    payload.recipients.map(({ address, displayName, type }) => [address, displayName, type]),
    [
      ['zoe@remote.test', 'Zoe', 'To'],
      ['secret@remote.test', null, 'Bcc'],
    ],
  );
  t.is(payload.draft?.id, email.id);
  t.deepEqual([mail.inReplyTo, mail.references], ['<parent@x>', ['<root@x>', '<parent@x>']]);
  t.deepEqual(payload.summary.references, ['<root@x>', '<parent@x>']);
  t.is(mail.replyTo?.text, 'team@example.test');
  t.is((mail.text ?? '').trim(), `Zoë 💌 ${'long '.repeat(400)}`.trim());
  t.notRegex(raw, /secret|X-Program|Return-Path|draft@program/);
  t.true(raw.split('\r\n').every((line) => line.length <= 998));
});

test('a draft that a mail program wrote is sent only with a sender, a subject and recipients that are addresses', async (t) => {
  const gateway = await startGateway(t);
  const fieldsOf = async (to: readonly string[], subject: string) => {
    const id = await written(gateway, ['From: Alice <alice@example.test>', `Subject: ${subject}`, ...to, '', 'x']);
    const response = await gateway.fetch(`/api/outbound/drafts/${id}/send`, { method: 'POST' });
    t.is(response.status, 400);
    return ((await response.json()) as { errors: Record<string, string[]> }).errors;
  };
  const many = Array.from({ length: 101 }, (_, i) => `r${i}@remote.test`).join(',\r\n ');
  t.deepEqual(await fieldsOf([], ''), { subject: ['must not be empty'], recipients: ['must hold at least 1'] });
  t.deepEqual(await fieldsOf(['To: a@remote.test, half'], 'x'), {
    'recipients[1].address': ['must be an email address'],
  });
  t.deepEqual(await fieldsOf([`To: ${many}`], 'x'), { recipients: ['must hold at most 100'] });
});

test('the versions of a draft have one Message-ID, and the message that is sent has another', async (t) => {
  const gateway = await startGateway(t);
  const made = await gateway.fetch('/api/outbound/drafts', { method: 'POST', json: DRAFT });
  const { id } = (await made.json()) as { id: string };
  const idOf = async (subject: string) => {
    const json = { ...DRAFT, subject };
    t.is((await gateway.fetch(`/api/outbound/drafts/${id}`, { method: 'PUT', json })).status, 204);
    const { payload } = gateway.mailboxes.asked.findLast(({ name }) => name === 'updateDraft')!;
    const { message } = (payload as Payload<MailboxProtocol, 'updateDraft'>).draft;
    t.is(message?.summary?.subject, subject);
    return message?.summary?.messageId;
  };
  const first = await idOf('one');
  t.is(await idOf('two'), first);
  const { payload } = await sent(t, gateway, id);
  t.truthy(payload.summary.messageId);
  t.not(payload.summary.messageId, first);
});

test('a draft that is sent marks the email that it answers or forwards', async (t) => {
  const gateway = await startGateway(t);
  for (const [member, flag] of [
    ['repliesTo', '\\Answered'],
    ['forwards', '$Forwarded'],
  ] as const) {
    const made = await gateway.fetch('/api/outbound/drafts', { method: 'POST', json: DRAFT });
    const { id } = (await made.json()) as { id: string };
    const emailId = randomUUID();
    const path = `/api/outbound/drafts/${id}/send`;
    t.is((await gateway.fetch(path, { method: 'POST', json: { [member]: 'x' } })).status, 400);
    t.is((await gateway.fetch(path, { method: 'POST', json: { [member]: emailId } })).status, 200);
    t.deepEqual(lastQueued(gateway).original, { emailId, flag });
  }
});
