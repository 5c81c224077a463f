// Tests mail that leaves a whole node, to real servers found by a real DNS server: what each remote does, the outcome for each
// recipient, and what the sender sees of it over REST and on the hub.
import { HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { simpleParser } from 'mailparser';
import { port } from '../../../dev/node-accounts.js';
import { type BareServer, type RemoteSmtp, scripted } from '../../../dev/servers/remote-smtp.js';
import { startHub } from '../../support/clients/hub-start.js';
import { type EmailList, MailboxClient } from '../../support/clients/mailbox-client.js';
import { placed } from '../../support/clients/placed.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';
import { type Shown, statuses, world } from './outbound-remotes.js';

test('an email goes to other servers and to a neighbour; all of it is told, live and afterwards', async (t) => {
  const { node, sender, neighbour, client, messagesAt, send, ended, timeline } = await world(t, {
    'one.test': [{}],
    'two.test': [{}],
  });
  const hub = new HubConnectionBuilder()
    .withUrl(`http://127.0.0.1:${port(node, 'http')}/hubs/email?timeline=true`, {
      accessTokenFactory: () => sender.key,
    })
    .configureLogging(LogLevel.None)
    .build();
  const told: { id: string; status: string }[] = [];
  const attempted: unknown[] = [];
  const over = new Promise<void>((resolve) => {
    hub.on('DeliveryStatusChanged', (change: { id: string; status: string }) => {
      told.push(change);
      if (change.status === 'Sent') resolve();
    });
  });
  hub.on('DeliveryAttempted', (attempt) => attempted.push(attempt));
  hub.on('NewEmail', () => t.fail('a sent copy is no new email'));
  await startHub(hub);

  const id = await send(['x@one.test', 'y@one.test', 'z@two.test', neighbour.email]);
  await over;
  await hub.stop();
  t.deepEqual(told, [
    { id, status: 'Queued' },
    { id, status: 'Sending' },
    { id, status: 'Sent' },
  ]);
  t.true(attempted.length >= 2);
  const email = await ended(id);
  t.is(email.status, 'Sent');
  t.true(email.recipients.every(({ status, deliveredAt }) => status === 'Delivered' && deliveredAt !== null));
  t.truthy(email.sentAt);

  // Both recipients of a host share one transaction; no recipient sees a Bcc.
  const [message] = messagesAt('one.test');
  t.is(messagesAt('one.test').length, 1);
  t.deepEqual([...message!.recipients].sort(), ['x@one.test', 'y@one.test']);
  t.is(message!.sender, sender.email);
  t.is(message!.ehlo, 'mail.example.test');
  const parsed = await simpleParser(message!.text);
  t.is(parsed.subject, 'Hello');
  t.is(parsed.text?.trim(), 'It leaves.');
  t.regex(parsed.messageId ?? '', /^<[^<>@\s]+@mail\.example\.test>$/);
  t.is(messagesAt('two.test').length, 1);
  await placed(node);
  const inbox = await new MailboxClient(node, neighbour.key).inbox();
  t.deepEqual(
    inbox.map(({ subject }) => subject),
    ['Hello'],
  );
  const sentList = await client.get<EmailList>('/api/emails/sent');
  t.deepEqual(
    sentList.items.map(({ subject, isRead }) => ({ subject, isRead })),
    [{ subject: 'Hello', isRead: true }],
  );
  const [copy] = sentList.items as unknown as { id: string; outboundId: string }[];
  const detail = await client.get<{ sentEmailId: string }>(`/api/outbound/${id}`);
  t.deepEqual([copy?.outboundId, detail.sentEmailId], [id, copy?.id]);
  const found = await client.get<EmailList>('/api/emails/search?folder=sent');
  t.is((found.items[0] as unknown as { outboundId: string }).outboundId, id);
  t.is((await client.get<EmailList>('/api/outbound/sent')).totalCount, 1);
  t.is((await client.get<EmailList>('/api/outbound/outbox')).totalCount, 0);
  const attempts = await timeline(id);
  t.true(
    attempts.some(({ domain, host, reply }) => domain === 'one.test' && host === 'mx0.one.test' && /^250/.test(reply)),
  );
});

test('greylisting is waited for, a refused recipient fails, and who has it gets it once', async (t) => {
  const seen = new Set<string>();
  const { client, messagesAt, send, ended, timeline } = await world(t, {
    'grey.test': [
      {
        behaviour: {
          rcpt(address) {
            if (address.startsWith('nobody')) return '550 5.1.1 no such user';
            if (address.startsWith('first')) return undefined;
            if (seen.has(address)) return undefined;
            seen.add(address);
            return '451 4.7.1 greylisted, come back';
          },
        },
      },
    ],
    'dead.test': ['dead'],
  });
  const id = await send(['first@grey.test', 'later@grey.test', 'nobody@grey.test']);
  const email = await ended(id);
  t.is(email.status, 'Failed');
  t.deepEqual(statuses(email), {
    'first@grey.test': 'Delivered',
    'later@grey.test': 'Delivered',
    'nobody@grey.test': 'Failed',
  });
  t.is(email.retryCount, 1);
  t.regex(email.lastError ?? '', /no such user/);
  t.is(email.recipients[2]?.statusCode, '5.1.1');
  t.deepEqual(
    messagesAt('grey.test').map(({ recipients }) => recipients),
    [['first@grey.test'], ['later@grey.test']],
  );
  t.true((await timeline(id)).length >= 2);

  // The DSN is in the sender's inbox once, in the thread of the sent email, in the form of RFC 3464.
  const inbox = await arrived(client, 1);
  t.is(inbox.length, 1);
  const raw = await (await client.request('GET', `/api/emails/${inbox[0]!.id}/export/eml`)).text();
  t.regex(raw, /^Return-Path: <>\r\n/m);
  t.regex(raw, /multipart\/report;[\s\S]*report-type="?delivery-status/i);
  t.regex(raw, /Final-Recipient: rfc822; ?nobody@grey\.test\r\nAction: failed\r\nStatus: 5\.1\.1/i);
  t.notRegex(raw, /later@grey\.test\r\nAction/);
  const sentCopy = (await client.get<EmailList>('/api/emails/sent')).items[0] as unknown as { threadId: string };
  t.is((inbox[0] as unknown as { threadId: string }).threadId, sentCopy.threadId);
});

test('a dropped connection after DATA, a refused handshake and a silent server are survived', async (t) => {
  let drops = 1;
  const behaviour = {
    get dropsAfterData() {
      return drops-- > 0;
    },
  };
  const { remotes, messagesAt, send, ended, shown, timeline } = await world(t, {
    'drop.test': [{ behaviour }],
    'spare.test': [{ behaviour: { dropsAfterData: true } }, {}],
    'tls.test': [scripted({ EHLO: '250-tls.test\r\n250 STARTTLS', STAR: '454 4.7.0 not now', DATA: '354 go on' })],
    'silent.test': [() => {}],
    'well.test': [{}],
  });
  const dropped = await send(['a@drop.test']);
  t.is((await ended(dropped)).status, 'Sent');
  t.is(messagesAt('drop.test').length, 1);
  t.is((await shown(dropped)).retryCount, 1);

  const spare = await send(['a@spare.test']);
  t.is((await ended(spare)).status, 'Sent');
  t.is(messagesAt('spare.test', 1).length, 1);
  const attempts = await timeline(spare);
  t.deepEqual(
    attempts.map(({ host }) => host),
    ['mx0.spare.test', 'mx1.spare.test'],
  );
  t.regex(attempts[0]!.reply, /may have taken the message/);

  const clear = await send(['a@tls.test']);
  t.is((await ended(clear)).status, 'Sent');

  // The silent server delays no other recipient.
  const silent = await send(['a@silent.test', 'b@well.test']);
  for (;;) {
    const now = await shown(silent);
    if (now.recipients[1]?.status === 'Delivered') break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  // The recipients of two domains have no order.
  await until(() => (remotes.get('silent.test')![0] as BareServer).connections >= 1);
  t.is((await shown(silent)).status, 'Sending');
  t.is((await ended(await send(['c@well.test']))).status, 'Sent');
});

test('a submission is told what it asked to be told: of who has it, of who was relayed, of failures unless never', async (t) => {
  const { node, sender, client, messagesAt } = await world(
    t,
    {
      'knows.test': [{ dsn: true }],
      'old.test': [{}],
      'no.test': [{ behaviour: { rcpt: () => '550 5.1.1 nobody' } }],
    },
    { MANSIO_ALLOW_PLAINTEXT_AUTH: 'true' },
  );
  const smtp = await SmtpClient.greeted(node.ready.listeners['submission']!);
  const login = Buffer.from(`\0${sender.email}\0${sender.key}`).toString('base64');
  t.is((await smtp.command(`AUTH PLAIN ${login}`)).code, 235);
  t.is((await smtp.command(`MAIL FROM:<${sender.email}> RET=FULL ENVID=note-1`)).code, 250);
  for (const rcpt of [
    '<bob@example.test> NOTIFY=SUCCESS ORCPT=rfc822;robert@example.test',
    '<a@knows.test> NOTIFY=SUCCESS,FAILURE',
    '<b@old.test> NOTIFY=SUCCESS',
    '<c@no.test> NOTIFY=NEVER',
    '<d@no.test> NOTIFY=FAILURE',
  ])
    t.is((await smtp.command(`RCPT TO:${rcpt}`)).code, 250, rcpt);
  await smtp.command('DATA');
  smtp.write(`From: ${sender.email}\r\nTo: all@example.test\r\nSubject: Hello\r\n\r\nthe whole of it\r\n.\r\n`);
  t.is((await smtp.reply()).code, 250);
  smtp.end();
  const subjects = async () => (await client.inbox()).map(({ subject }) => subject).sort();
  while ((await subjects()).length < 3) await new Promise((resolve) => setTimeout(resolve, 50));
  t.deepEqual(await subjects(), ['Delivered: Hello', 'Relayed: Hello', 'Undelivered: Hello']);
  await until(() => messagesAt('knows.test').length > 0);
  t.deepEqual(messagesAt('knows.test')[0]!.asked, [{ NOTIFY: 'SUCCESS,FAILURE' }]);
  t.like(messagesAt('knows.test')[0]!.parameters, { RET: 'FULL', ENVID: 'note-1' });
  const texts = new Map<string, string>();
  for (const { id, subject } of await client.inbox()) {
    const { textBody, attachments } = await client.get<{ textBody: string; attachments: { id: string }[] }>(
      `/api/emails/${id}`,
    );
    const parts = attachments.map((each) => client.request('GET', `/api/emails/${id}/attachments/${each.id}`));
    const contents = await Promise.all(parts.map(async (part) => (await part).text()));
    texts.set(subject.split(':')[0]!, [textBody, ...contents].join('\n'));
  }
  t.regex(texts.get('Delivered')!, /Original-Recipient: rfc822;\s*robert@example\.test/);
  t.regex(texts.get('Delivered')!, /Original-Envelope-Id: note-1/);
  t.regex(texts.get('Relayed')!, /b@old\.test/);
  t.notRegex(texts.get('Relayed')!, /Final-Recipient: rfc822;\s*a@knows/);
  t.regex(texts.get('Undelivered')!, /d@no\.test/);
  t.notRegex(texts.get('Undelivered')!, /c@no\.test/);
  t.regex(texts.get('Undelivered')!, /the whole of it/);
});

test('a bounce that comes later makes the email Failed when its host sends it, and not when anybody else does', async (t) => {
  const { node, sender, client, remotes, messagesAt, send, ended, shown, timeline } = await world(t, {
    'far.test': [{}],
  });
  const id = await send(['gone@far.test']);
  t.is((await ended(id)).status, 'Sent');
  const [, messageId] = /^Message-ID:\s*(\S+)/im.exec(messagesAt('far.test')[0]!.text) ?? [];
  const bounce = (number: number) =>
    [
      'From: MAILER-DAEMON@far.test',
      `To: ${sender.email}`,
      `Subject: Returned ${number}`,
      `Message-ID: <bounce-${number}@far.test>`,
      'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
      '',
      '--b',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; far.test',
      '',
      'Final-Recipient: rfc822; gone@far.test',
      'Action: failed',
      'Status: 5.1.1',
      'Diagnostic-Code: smtp; 550 5.1.1 there is nobody',
      '',
      '--b',
      'Content-Type: text/rfc822-headers',
      '',
      `Message-ID: ${messageId}`,
      '',
      '--b--',
    ].join('\r\n');
  const mx = node.ready.listeners['mx']!;
  const receive = async (number: number, from?: string) => {
    const smtp = await SmtpClient.greeted(mx, from);
    t.is((await smtp.send('', [sender.email], bounce(number))).code, 250);
    smtp.end();
    while ((await client.inbox()).length < number) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await receive(1);
  t.is((await shown(id)).status, 'Sent', 'a forged one changes nothing');
  await receive(2, (remotes.get('far.test')![0] as RemoteSmtp).address);
  const email = await shown(id);
  t.is(email.status, 'Failed');
  t.regex(email.recipients[0]!.lastError!, /there is nobody/);
  t.regex((await timeline(id)).at(-1)!.reply, /later bounce.*there is nobody/);
  const emails = await client.get<{ items: readonly { id: string; threadId?: string }[] }>('/api/emails/sent');
  const sentId = emails.items[0]!.id;
  const thread = async (of: string) => (await client.get<{ threadId: string }>(`/api/emails/${of}`)).threadId;
  const [first, second] = await client.inbox();
  t.is(await thread(first!.id), await thread(sentId), 'bounces are in the thread of the message');
  t.is(await thread(second!.id), await thread(sentId), 'forged ones too');
  t.is((await client.inbox()).length, 2, 'no report follows');
});

test('drafts become mail; replies and forwards keep the conversation', async (t) => {
  const { node, sender, neighbour, client, messagesAt, ended } = await world(t, { 'far.test': [{}] });
  const made = await client.request('POST', '/api/outbound/drafts', { subject: 'Plan' });
  t.is(made.status, 201);
  const { id } = (await made.json()) as Shown;
  t.is((await client.request('POST', `/api/outbound/drafts/${id}/send`)).status, 400);
  const whole = {
    fromAddress: sender.email,
    subject: 'Plan',
    htmlBody: '<p>How about <b>noon</b>?</p>',
    recipients: [
      { address: neighbour.email, type: 'To' },
      { address: 'far@far.test', type: 'Cc' },
    ],
  };
  t.is((await client.request('PUT', `/api/outbound/drafts/${id}`, whole)).status, 204);
  const sent = await client.request('POST', `/api/outbound/drafts/${id}/send`);
  t.like((await sent.json()) as Shown, { id, status: 'Queued' });
  t.is((await client.request('GET', `/api/outbound/drafts/${id}`)).status, 404);
  t.is((await ended(id)).status, 'Sent');

  const bob = new MailboxClient(node, neighbour.key);
  const [original] = await arrived(bob, 1);
  const reply = await bob.request('POST', `/api/outbound/reply/${original!.id}`, { textBody: 'Fine.', replyAll: true });
  const { id: replyId } = (await reply.json()) as Shown;
  await new Promise<void>((resolve) => {
    const look = async () =>
      (await bob.get<Shown>(`/api/outbound/${replyId}`)).status === 'Sent' ? resolve() : setTimeout(look, 50);
    void look();
  });
  const [answer] = await arrived(client, 1);
  t.is(answer!.subject, 'Re: Plan');
  const [first, second] = messagesAt('far.test');
  const [planned, answered] = [await simpleParser(first!.text), await simpleParser(second!.text)];
  t.is(answered.inReplyTo, planned.messageId);
  t.is(answered.references, planned.messageId);
  const copy = (await client.get<EmailList>('/api/emails/sent')).items[0] as unknown as { threadId: string };
  t.is((answer as unknown as { threadId: string }).threadId, copy.threadId);

  const forward = await bob.request('POST', `/api/outbound/forward/${original!.id}`, {
    textBody: 'See below.',
    recipients: [{ address: 'far@far.test', type: 'To' }],
  });
  t.is(forward.status, 200);
  while (messagesAt('far.test').length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
  const forwarded = await simpleParser(messagesAt('far.test')[2]!.text);
  t.is(forwarded.subject, 'Fwd: Plan');
  t.regex(forwarded.text ?? '', /^See below\.[\s\S]*noon/);
});

/** Waits until the inbox has `count` emails, and returns it. */
async function arrived(client: MailboxClient, count: number) {
  for (;;) {
    const emails = await client.inbox();
    if (emails.length >= count) return emails;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
