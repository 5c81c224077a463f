// Tests the messages that the routes of outbound mail compose, and what the routes ask of the mailbox.
import { rmSync, writeFileSync } from 'node:fs';
import { simpleParser } from 'mailparser';
import type { MailboxProtocol } from '../../../../../src/actors/mailbox/protocol.js';
import { ActorFault } from '../../../../../src/actors/runtime/errors.js';
import type { Payload } from '../../../../../src/actors/runtime/protocol.js';
import { deferred } from '../../../../support/deferred.js';
import test from '../../../../support/test.js';
import { ALICE, BOB as BOB_ID } from '../../fakes.js';
import { startGateway } from '../../gateway.js';
import { BOB, ID, MAIL, post, receive, text } from './composed-mail.js';

const handleOf = (payload: unknown) => ('inlineId' in (payload as object) ? 'inline' : 'stored');

test('what is sent names the account, its recipients but for those of Bcc, and is what the mailbox is asked to queue', async (t) => {
  const gateway = await startGateway(t);
  const { asked, octets, mail } = await post(t, gateway, 'send', {
    ...MAIL,
    subject: 'Grüße',
    htmlBody: '<p>Hello',
    recipients: [
      BOB,
      { address: 'carol@bücher.test', displayName: 'Carol, C.', type: 'Cc' },
      { address: 'secret@remote.test', displayName: 'Secret', type: 'Bcc' },
      { address: 'Bob@remote.test', type: 'Bcc' },
    ],
  });
  t.deepEqual(asked.recipients, [
    { ...BOB, type: 'To', domain: 'remote.test' },
    { address: 'carol@bücher.test', displayName: 'Carol, C.', type: 'Cc', domain: 'xn--bcher-kva.test' },
    { address: 'secret@remote.test', displayName: 'Secret', type: 'Bcc', domain: 'remote.test' },
  ]);
  t.like(asked, {
    draft: null,
    sender: 'alice@example.test',
    content: { textBody: 'Hello', htmlBody: '<p>Hello' },
    summary: { subject: 'Grüße', fromName: 'Alice', fromAddress: 'alice@example.test', messageId: mail.messageId! },
  });
  t.notRegex(octets.toString('latin1'), /secret/i);
  t.is(mail.subject, 'Grüße');
  t.is(mail.from?.text, '"Alice" <alice@example.test>');
  t.is(text(mail), 'Hello');
  t.is((mail.html || '').trim(), '<p>Hello');
  t.true(Math.abs(mail.date!.getTime() - Date.now()) < 60_000);
});

test('what is held is dated when it is to be sent, and dated now when it is sent before', async (t) => {
  const gateway = await startGateway(t);
  const raw = (blob: string) => Buffer.from(gateway.blobs.blobs.get(blob)!.bytes);
  const dayAhead = Math.ceil(Date.now() / 1_000) * 1_000 + 86_400_000;
  const recipients = [BOB, { address: 'carol@remote.test', type: 'Bcc' }];
  const json = { ...MAIL, recipients, sendAt: new Date(dayAhead).toISOString() };
  const response = await gateway.fetch('/api/outbound/send', { method: 'POST', json });
  const { id, sendAt } = (await response.json()) as { id: string; sendAt: string };
  t.is(sendAt, json.sendAt);
  const held = gateway.mailboxes.asked.findLast(({ name }) => name === 'holdOutbound')!;
  const { blob, heldUntil } = held.payload as Payload<MailboxProtocol, 'holdOutbound'>;
  t.is(heldUntil, dayAhead);
  const before = await simpleParser(raw(blob));
  t.is(before.date?.getTime(), dayAhead);
  t.is((await gateway.fetch(`/api/outbound/${id}/retry`, { method: 'POST' })).status, 200);
  const detail = await (await gateway.fetch(`/api/outbound/${id}`)).json();
  t.like(detail, { status: 'Queued', sendAt: null, messageId: before.messageId! });
  const { email } = (await gateway.mailboxes.refs.of(ALICE).ask('outbound', { outboundId: id })).reply!;
  t.not(email.blob, blob);
  t.is(email.recipients.length, 2);
  const after = raw(email.blob!);
  const now = await simpleParser(after);
  t.true(Math.abs(now.date!.getTime() - Date.now()) < 3_600_000);
  t.deepEqual(
    [now.messageId, now.subject, text(now), now.bcc],
    [before.messageId, before.subject, text(before), undefined],
  );
  t.is(email.size, after.length);
  // There is one copy, which is the sent message.
  const page = { folder: 'sent', page: 1, pageSize: 10 };
  const copies = (await gateway.mailboxes.refs.of(ALICE).ask('list', page)).reply!.items;
  t.deepEqual(
    copies.map((copy) => [copy.id, copy.isRead]),
    [[email.sentEmailId, true]],
  );
  const copy = await gateway.mailboxes.refs.of(ALICE).ask('detail', { emailId: email.sentEmailId! });
  t.is(copy.reply!.blob, email.blob!);
  t.is(gateway.spool.memory.used, 0);
});

test('the sender of an email sees whom its message does not name', async (t) => {
  const gateway = await startGateway(t);
  const recipients = [BOB, { address: 'Carol@remote.test', displayName: 'Carol', type: 'Bcc' }];
  const sent = await gateway.fetch('/api/outbound/send', { method: 'POST', json: { ...MAIL, recipients } });
  const { id } = (await sent.json()) as { id: string };
  const mailbox = gateway.mailboxes.refs.of(ALICE);
  const { sentEmailId } = (await mailbox.ask('outbound', { outboundId: id })).reply!.email;
  interface Detail {
    readonly threadId: string;
    readonly recipients: readonly { readonly address: string; readonly type: string }[];
  }
  const read = async <T>(path: string) => (await (await gateway.fetch(path)).json()) as T;
  const names = (detail: Detail) => detail.recipients.map(({ address, type }) => `${type} ${address}`);
  for (let i = 0; i < 2; i++) {
    const detail = await read<Detail>(`/api/emails/${sentEmailId}`);
    t.deepEqual(names(detail).slice(-1), ['Bcc Carol@remote.test']);
    const [first] = await read<Detail[]>(`/api/emails/threads/${detail.threadId}`);
    t.deepEqual(names(first!), names(detail));
  }
  const move = { emailIds: [sentEmailId], folderId: 'archive' };
  t.is((await gateway.fetch('/api/emails/bulk/move', { method: 'POST', json: move })).status, 200);
  const moved = await read<Detail>(`/api/emails/${sentEmailId}`);
  t.deepEqual(names(moved), ['To bob@remote.test', 'Bcc Carol@remote.test']);
  // COPY of a mail program creates another email.
  const selection = { folderId: 'archive', uids: [[1, 1]] as [number, number][] };
  t.is((await mailbox.ask('copy', { selection, toFolderId: 'archive' })).reply?.count, 1);
  const { items } = await read<{ items: { id: string }[] }>('/api/folders/archive/emails');
  t.is(items.length, 2);
  for (const item of items) t.deepEqual(names(await read<Detail>(`/api/emails/${item.id}`)), names(moved));
});

test('an email in the queue is shown though its position is not known', async (t) => {
  const gateway = await startGateway(t);
  const response = await gateway.fetch('/api/outbound/send', { method: 'POST', json: MAIL });
  const { id } = (await response.json()) as { id: string };
  let isAsked = false;
  gateway.mailboxes.hook('queuePositions', () => {
    isAsked = true;
    throw new ActorFault('unreachable', 'the owner is gone');
  });
  const detail = await gateway.fetch(`/api/outbound/${id}`);
  t.is(detail.status, 200);
  t.like(await detail.json(), { id, status: 'Queued', queuePosition: null });
  t.true(isAsked);
});

test('an email is held for the seconds of the preference, unless sendAt says otherwise', async (t) => {
  const gateway = await startGateway(t);
  const put = { method: 'PUT', json: { undoSendSeconds: 30 } };
  t.is((await gateway.fetch('/api/preferences', put)).status, 204);
  const asked = async (path: string, json: object) => {
    const before = Date.now();
    const response = await gateway.fetch(`/api/outbound/${path}`, { method: 'POST', json });
    t.is(response.status, 200, await response.text());
    const { name, payload } = gateway.mailboxes.asked.findLast((one) => /^(enqueue|holdOutbound)$/.test(one.name))!;
    const { heldUntil } = payload as Partial<Payload<MailboxProtocol, 'holdOutbound'>>;
    return [name, heldUntil === undefined ? undefined : Math.floor((heldUntil - before) / 10_000)];
  };
  receive(gateway, 'From: bob@remote.test\r\nTo: alice@example.test\r\nMessage-ID: <1@remote.test>\r\n\r\nx');
  const past = { sendAt: '2020-01-01T00:00:00+01:00' };
  t.deepEqual(await asked('send', MAIL), ['holdOutbound', 3]);
  t.deepEqual(await asked('send', { ...MAIL, ...past }), ['enqueue', undefined]);
  t.deepEqual(await asked(`reply/${ID}`, { textBody: 'yes' }), ['holdOutbound', 3]);
  t.deepEqual(await asked(`reply/${ID}`, { textBody: 'yes', ...past }), ['enqueue', undefined]);
  t.deepEqual(await asked(`forward/${ID}`, { recipients: [BOB] }), ['holdOutbound', 3]);
  t.deepEqual(await asked(`forward/${ID}`, { recipients: [BOB], ...past }), ['enqueue', undefined]);
  const drafts = ['/api/outbound/drafts', { method: 'POST', json: MAIL }] as const;
  for (const [body, expected] of [
    [{}, 'holdOutbound'],
    [past, 'enqueue'],
  ] as const) {
    const { id } = (await (await gateway.fetch(...drafts)).json()) as { id: string };
    t.is((await asked(`drafts/${id}/send`, body))[0], expected);
  }
});

test('a message is stored by the commit that queues it; a mailbox that leaves the message gets it stored', async (t) => {
  const gateway = await startGateway(t);
  const names = async () => {
    const before = gateway.mailboxes.asked.length;
    await post(t, gateway, 'send', MAIL);
    return gateway.mailboxes.asked
      .slice(before)
      .flatMap(({ name, payload }) => (name === 'enqueue' ? [handleOf(payload)] : []));
  };
  t.deepEqual(await names(), ['inline']);
  // The owner on another node does not have the inline message.
  const gone = new ActorFault('unreachable', 'the owner is gone');
  const unlessInline = (otherwise: () => Promise<unknown>) =>
    gateway.mailboxes.hook('enqueue', (payload, proceed) => (handleOf(payload) === 'inline' ? otherwise() : proceed()));
  unlessInline(async () => ({ refusal: 'unstored' }));
  t.deepEqual(await names(), ['inline', 'stored']);
  unlessInline(() => Promise.reject(gone));
  t.deepEqual(await names(), ['inline', 'stored']);
  t.is(gateway.mailboxes.account(ALICE).outbound.size, 3);
});

test('the message of a draft that changed while it was composed is not stored', async (t) => {
  const gateway = await startGateway(t);
  const made = await gateway.fetch('/api/outbound/drafts', { method: 'POST', json: MAIL });
  const { id } = (await made.json()) as { id: string };
  const before = gateway.blobs.blobs.size;
  let refused = 0;
  gateway.mailboxes.hook('enqueue', async (_payload, proceed) => {
    return refused++ === 0 ? { refusal: 'draftChanged' } : proceed();
  });
  await post(t, gateway, `drafts/${id}/send`, undefined);
  t.is(refused, 2);
  t.is(gateway.blobs.blobs.size, before + 1);
  t.false(gateway.mailboxes.asked.some(({ name, payload }) => name === 'enqueue' && handleOf(payload) === 'stored'));
});

test('bodies that are long are kept in the message alone, and read from it', async (t) => {
  const gateway = await startGateway(t);
  const textBody = 'word '.repeat(40_000);
  const { asked } = await post(t, gateway, 'send', { ...MAIL, textBody });
  t.is(asked.content, null);
  const page = (await (await gateway.fetch('/api/outbound/outbox')).json()) as { items: { id: string }[] };
  const shown = await gateway.fetch(`/api/outbound/${page.items[0]!.id}`);
  const { textBody: read, htmlBody } = (await shown.json()) as { textBody: string; htmlBody: string | null };
  // The decoder of the fakes does not decode the transfer encoding.
  t.is(read.replace(/=20/g, ' ').replace(/=\r\n/g, '').trim(), textBody.trim());
  t.is(htmlBody, null);
});

test('a draft is sent as it is when it is sent', async (t) => {
  const gateway = await startGateway(t);
  const made = await gateway.fetch('/api/outbound/drafts', {
    method: 'POST',
    json: { ...MAIL, recipients: [BOB, BOB] },
  });
  const { id } = (await made.json()) as { id: string };
  const { asked, mail } = await post(t, gateway, `drafts/${id}/send`, undefined);
  t.is(asked.draft?.id, id);
  t.deepEqual(asked.recipients, [{ ...BOB, type: 'To', domain: 'remote.test' }]);
  t.is(mail.subject, 'Hi');
});

test('mail from a further address has the name of that address, and from any other one that of the account', async (t) => {
  const gateway = await startGateway(t);
  const identities = [{ address: 'sales@Example.test', displayName: 'The shop' }];
  t.is((await gateway.fetch('/api/preferences', { method: 'PUT', json: { identities } })).status, 204);
  const from = async (fromAddress?: string) => {
    const { mail } = await post(t, gateway, 'send', { ...MAIL, ...(fromAddress && { fromAddress }) });
    return mail.from?.text;
  };
  t.is(await from('sales@example.test'), '"The shop" <sales@example.test>');
  t.is(await from(), '"Alice" <alice@example.test>');
});

test('an address that is given up between writing and sending a draft sends nothing', async (t) => {
  const gateway = await startGateway(t);
  const json = { ...MAIL, fromAddress: 'sales@example.test' };
  const made = await gateway.fetch('/api/outbound/drafts', { method: 'POST', json });
  const { id } = (await made.json()) as { id: string };
  const profile = await gateway.fetch('/api/profile');
  const { additionalAddresses } = (await profile.json()) as { additionalAddresses: { id: string }[] };
  await gateway.fetch(`/api/profile/addresses/${additionalAddresses[0]!.id}`, { method: 'DELETE' });
  const refused = await gateway.fetch(`/api/outbound/drafts/${id}/send`, { method: 'POST' });
  t.is(refused.status, 400);
  t.deepEqual(Object.keys(((await refused.json()) as { errors: object }).errors), ['fromAddress']);
});

test('an address that is not verified sends nothing', async (t) => {
  const gateway = await startGateway(t);
  await gateway.fetch('/api/profile/addresses', { method: 'POST', json: { address: 'new@example.test' } });
  const json = { ...MAIL, fromAddress: 'new@example.test' };
  const refused = await gateway.fetch('/api/outbound/send', { method: 'POST', json });
  t.is(refused.status, 400);
});

test('large bodies have room for so many at once, and for so many of one account', async (t) => {
  const gateway = await startGateway(t);
  const bobsKey = gateway.directory.key(BOB_ID, 'app');
  const open = deferred();
  const arrivals = Array.from({ length: 4 }, deferred);
  let arrived = 0;
  const put = gateway.blobs.put.bind(gateway.blobs);
  gateway.blobs.put = async (content) => {
    arrivals[arrived++]?.resolve();
    await open.promise;
    return put(content);
  };
  const json = { ...MAIL, textBody: 'word\n'.repeat(300_000) };
  const send = (key: string, body: unknown = json) =>
    gateway.fetch('/api/outbound/send', { method: 'POST', key, json: body });
  const underWay = [send(gateway.key), send(gateway.key)];
  await Promise.all([arrivals[0]!.promise, arrivals[1]!.promise]);
  t.is((await send(gateway.key)).status, 503);
  underWay.push(send(bobsKey), send(gateway.key, MAIL));
  await Promise.all(arrivals.map(({ promise }) => promise));
  open.resolve();
  t.deepEqual(
    (await Promise.all(underWay)).map(({ status }) => status),
    [200, 200, 200, 200],
  );
  t.is((await send(gateway.key)).status, 200);
});

test('when others have used the memory of the spool up, mail is written to disk; a disk that fails is 503', async (t) => {
  const gateway = await startGateway(t);
  for (let i = 0; i < 8; i++) t.truthy(gateway.spool.memory.reserve(`other ${i}`, 8 * 1024 * 1024));
  const send = () => gateway.fetch('/api/outbound/send', { method: 'POST', json: MAIL });
  t.is((await send()).status, 200);
  rmSync(gateway.spool.directory, { recursive: true });
  writeFileSync(gateway.spool.directory, '');
  t.is((await send()).status, 503);
});
