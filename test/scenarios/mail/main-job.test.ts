// Tests the main job with stock clients on a whole node: mail by nodemailer, Python's smtplib and curl; REST by fetch; events
// by @microsoft/signalr.
import { execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import { HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { createTransport } from 'nodemailer';
import { createAccount, createKey, port, storeOf } from '../../../dev/node-accounts.js';
import { startHub } from '../../support/clients/hub-start.js';
import { type EmailList, type EmailView, MailboxClient } from '../../support/clients/mailbox-client.js';
import { placed } from '../../support/clients/placed.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { testWith } from '../../support/test-with.js';

interface NewEmail {
  readonly id: string;
  readonly receivedAt: string;
}

const run = promisify(execFile);

let node: TestNode;
let close: () => Promise<void>;
let account: (name: string) => ReturnType<typeof createAccount>;
let key: typeof createKey extends (sql: never, ...rest: infer R) => infer P ? (...rest: R) => P : never;

test.before(async () => {
  node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_LOG_LEVEL: 'debug' });
  const sql = await storeOf(node);
  account = (name) => createAccount(sql, `${name}@example.test`);
  key = (...rest) => createKey(sql, ...rest);
  close = () => sql.end();
});

test.after.always(async (t) => {
  await close?.();
  const exit = await node?.stop();
  t.is(exit?.code, 0);
});

/** Collects the events of one hub connection. */
async function listen(apiKey: string, to: TestNode = node) {
  const hub = new HubConnectionBuilder()
    .withUrl(`http://127.0.0.1:${port(to, 'http')}/hubs/email`, { accessTokenFactory: () => apiKey })
    .withAutomaticReconnect()
    .configureLogging(LogLevel.None)
    .build();
  const events: [name: string, payload: unknown][] = [];
  let wake = () => {};
  for (const name of ['NewEmail', 'EmailUpdated', 'EmailDeleted', 'UnreadCountChanged']) {
    hub.on(name, (payload: unknown) => {
      events.push([name, payload]);
      wake();
    });
  }
  await startHub(hub);
  return {
    hub,
    /** Returns the next `count` events. */
    async next(count: number) {
      while (events.length < count) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return events.splice(0, count);
    },
  };
}

const mailer = (to: TestNode = node) =>
  createTransport({ host: '127.0.0.1', port: port(to, 'mx'), tls: { rejectUnauthorized: false } });

test('a message goes from SMTP to the list, the detail, the attachments and the hub; changes come back as events', async (t) => {
  const user = await account('anna');
  const client = new MailboxClient(node, user.key);
  const [first, second] = await Promise.all([listen(user.key), listen(user.key)]);
  const attachment = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 251));
  await mailer().sendMail({
    from: { name: 'Zoë Müller', address: 'zoe@remote.test' },
    to: user.email,
    cc: 'Bob <bob@remote.test>',
    subject: 'Grüße aus Köln 🎉',
    text: 'Hällo Wörld\n',
    html: '<p>Hällo <b>Wörld</b></p>',
    attachments: [
      { filename: 'Bericht für ’s Büro.bin', content: attachment, contentType: 'application/octet-stream' },
    ],
    messageId: '<one@remote.test>',
    inReplyTo: '<zero@remote.test>',
    references: ['<minus@remote.test>', '<zero@remote.test>'],
  });
  const [[name, event], [countName, count]] = (await first.next(2)) as [[string, NewEmail], [string, number]];
  t.deepEqual([name, countName, count], ['NewEmail', 'UnreadCountChanged', 1]);
  t.like(event, {
    from: 'zoe@remote.test',
    fromDisplay: 'Zoë Müller',
    subject: 'Grüße aus Köln 🎉',
    hasAttachments: true,
  });
  t.regex(event.receivedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  t.is((await second.next(2))[0]![0], 'NewEmail');

  const list = await client.get<EmailList>('/api/emails');
  t.like(list, { totalCount: 1, unreadCount: 1, page: 1, pageSize: 20 });
  const id = list.items[0]!.id;
  t.is(id, event.id);
  t.like(list.items[0]!, {
    fromDisplayName: 'Zoë Müller',
    previewText: 'Hällo Wörld',
    isRead: false,
    hasAttachments: true,
    messageId: '<one@remote.test>',
  });

  const detail = await client.get<EmailView>(`/api/emails/${id}`);
  t.like(detail, {
    toAddresses: [user.email],
    ccAddresses: ['bob@remote.test'],
    textBody: 'Hällo Wörld\n',
    htmlBody: '<p>Hällo <b>Wörld</b></p>',
    inReplyTo: '<zero@remote.test>',
    references: '<minus@remote.test> <zero@remote.test>',
  });
  t.like(detail.attachments[0]!, {
    fileName: 'Bericht für ’s Büro.bin',
    contentType: 'application/octet-stream',
    size: 100_000,
  });
  const download = await client.request('GET', `/api/emails/${id}/attachments/${detail.attachments[0]!.id}`);
  t.deepEqual(Buffer.from(await download.arrayBuffer()), attachment);
  t.regex(
    download.headers.get('content-disposition')!,
    /^attachment; filename="[^"]+"; filename\*=UTF-8''Bericht%20f%C3%BCr/,
  );
  const eml = await (await client.request('GET', `/api/emails/${id}/export/eml`)).text();
  t.regex(
    eml,
    /^Return-Path: <zoe@remote\.test>\r\nAuthentication-Results: [\s\S]*\r\nReceived: from [\s\S]*\r\nMessage-ID: <one@remote\.test>\r\n/,
  );

  t.is((await client.request('PATCH', `/api/emails/${id}`, { isRead: true })).status, 204);
  // A connection gets the last one of several counts that come together, so both have this one before the next change.
  for (const { next } of [first, second]) {
    t.deepEqual(await next(2), [
      ['EmailUpdated', { id, isRead: true }],
      ['UnreadCountChanged', 0],
    ]);
  }
  t.is((await client.request('DELETE', `/api/emails/${id}`)).status, 204);
  t.deepEqual(await second.next(2), [
    ['EmailDeleted', id],
    ['UnreadCountChanged', 0],
  ]);
  t.is((await client.request('GET', `/api/emails/${id}`)).status, 404);
  await Promise.all([first.hub.stop(), second.hub.stop()]);
});

test('one message for many accounts reaches each, and none sees the other', async (t) => {
  const users = await Promise.all(['bea', 'carl', 'dora'].map(account));
  const hubs = await Promise.all(users.map((user) => listen(user.key)));
  await mailer().sendMail({
    from: 'a@remote.test',
    to: users.map(({ email }) => email),
    subject: 'to three',
    text: 'x',
  });
  const ids = [];
  for (const [i, { next, hub }] of hubs.entries()) {
    const [[name, event]] = (await next(1)) as [[string, { id: string }]];
    t.is(name, 'NewEmail');
    t.is((await new MailboxClient(node, users[i]!.key).inbox()).length, 1);
    ids.push(event.id);
    await hub.stop();
  }
  t.is(new Set(ids).size, 3);
  t.is((await new MailboxClient(node, users[0]!.key).request('GET', `/api/emails/${ids[1]}`)).status, 404);
  t.is((await new MailboxClient(node, users[0]!.key).request('DELETE', `/api/emails/${ids[1]}`)).status, 404);
});

testWith('python3', 'curl')(
  "mail by Python's smtplib with STARTTLS, and by curl, arrives; a foreign domain is refused",
  async (t) => {
    const user = await account('emil');
    const script = `
import smtplib, ssl, sys
context = ssl.create_default_context(); context.check_hostname = False; context.verify_mode = ssl.CERT_NONE
with smtplib.SMTP('127.0.0.1', ${port(node, 'mx')}) as s:
    s.starttls(context=context)
    s.sendmail('py@remote.test', ['${user.email}'], 'From: py@remote.test\\r\\nSubject: by python\\r\\n\\r\\n.a line that begins with a dot\\r\\n')
    try:
        s.sendmail('py@remote.test', ['someone@elsewhere.test'], 'Subject: relay\\r\\n\\r\\nx')
    except smtplib.SMTPRecipientsRefused as e:
        print(list(e.recipients.values())[0][0])
`;
    t.is((await run('python3', ['-c', script])).stdout.trim(), '550');
    const curl = spawn('curl', [
      '-sS',
      `smtp://127.0.0.1:${port(node, 'mx')}`,
      '--mail-from',
      'c@remote.test',
      '--mail-rcpt',
      `EMIL+tag@Example.Test`,
      '-T',
      '-',
    ]);
    curl.stdin.end('From: c@remote.test\r\nSubject: by curl\r\n\r\nhello\r\n');
    t.is(await new Promise((resolve) => curl.on('close', resolve)), 0);
    await placed(node);
    const client = new MailboxClient(node, user.key);
    const emails = await client.inbox();
    t.deepEqual(emails.map(({ subject }) => subject).sort(), ['by curl', 'by python']);
    const python = emails.find(({ subject }) => subject === 'by python')!;
    const detail = await client.get<EmailView>(`/api/emails/${python.id}`);
    t.is(detail.textBody.trim(), '.a line that begins with a dot');
  },
);

test('scopes: what a key may not do is 403, what nobody may do without one is 401', async (t) => {
  const user = await account('fred');
  const [read, write, smtp] = await Promise.all(
    (['api:read', 'api:write', 'smtp'] as const).map((scope) => key(user.id, [scope])),
  );
  const status = async (apiKey: string, method: string, path: string, body?: unknown) =>
    (await new MailboxClient(node, apiKey).request(method, path, body)).status;
  for (const base of ['/api/emails', '/api/external/emails']) {
    t.is(await status(read!, 'GET', base), 200);
    t.is(await status(write!, 'GET', base), 403);
    t.is(await status(smtp!, 'GET', base), 403);
    t.is(await status(read!, 'POST', `${base}/bulk/delete`, { emailIds: [] }), 403);
    t.is(await status(write!, 'POST', `${base}/bulk/delete`, { emailIds: [] }), 200);
    t.is(await status(`${read}x`, 'GET', base), 401);
  }
});

test('mail for an unknown address of a hosted domain is kept, and is there once the account is made', async (t) => {
  await mailer().sendMail({ from: 'a@remote.test', to: 'later@example.test', subject: 'early', text: 'x' });
  await placed(node);
  const user = await account('later');
  t.deepEqual(
    (await new MailboxClient(node, user.key).inbox()).map(({ subject }) => subject),
    ['early'],
  );
  await mailer().sendMail({ from: 'a@remote.test', to: 'later@example.test', subject: 'after', text: 'x' });
  await placed(node);
  t.deepEqual(
    (await new MailboxClient(node, user.key).inbox()).map(({ subject }) => subject),
    ['after', 'early'],
  );
});

test('a revoked key is refused at once and its hub connections are closed', async (t) => {
  const user = await account('gina');
  const { hub } = await listen(user.key);
  const closed = new Promise<void>((resolve) => hub.onclose(() => resolve()));
  const { env } = node;
  const list = await run('bin/mansio', ['key', 'list', '--account', user.email, '--json'], { env });
  const [listed] = JSON.parse(list.stdout);
  await run('bin/mansio', ['key', 'revoke', '--id', listed.id], { env });
  await closed;
  t.is((await new MailboxClient(node, user.key).request('GET', '/api/emails')).status, 401);
});

test('one message can be followed by its ids from SMTP to the hub, and no key is in the log', async (t) => {
  const followed = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_LOG_LEVEL: 'debug' });
  const sql = await storeOf(followed);
  const user = await createAccount(sql, 'hans@example.test');
  await sql.end();
  const { hub, next } = await listen(user.key, followed);
  await mailer(followed).sendMail({ from: 'a@remote.test', to: user.email, subject: 'follow\u0007 me', text: 'x' });
  const [[, event]] = (await next(1)) as [[string, { id: string }]];
  await new MailboxClient(followed, user.key).inbox();
  await hub.stop();
  // A stop flushes the log.
  await followed.stop();
  const lines = followed.logs.filter((line) => line.includes(event.id)).map((line) => JSON.parse(line).msg);
  t.true(lines.includes('message accepted'));
  t.true(lines.includes('new email sent to hub connections'));
  t.false(followed.logs.some((line) => line.includes(user.key)));
});
