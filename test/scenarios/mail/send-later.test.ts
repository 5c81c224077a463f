// Tests emails that are undone or sent later, on whole nodes: what their sender sees, when recipients get them, and that kills around
// their release neither lose one nor deliver a cancelled one.
import { HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import type { ExecutionContext } from 'ava';
import { simpleParser } from 'mailparser';
import { createAccount, port as httpPort, storeOf } from '../../../dev/node-accounts.js';
import { freePort } from '../../../dev/ports.js';
import { startDnsServer } from '../../../dev/servers/dns-server.js';
import { startRemoteSmtp } from '../../../dev/servers/remote-smtp.js';
import { KILLS } from '../../support/amounts.js';
import { startHub } from '../../support/clients/hub-start.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { nodeDirectory, startTestNode } from '../../support/node.js';
import test from '../../support/test.js';

/** In s. What is listed and cancelled meanwhile waits for the longest time; what is sent after its time waits for a short one. */
const [LONG_UNDO_S, UNDO_S] = [60, 3];
const EMAILS = 60;
/** In ms. The emails are due within this time. */
const SPREAD_MS = 12_000;
/** In ms. All emails are queued in this time, before the first is due. */
const LEAD_MS = 6_000;
const HOUR = 3_600_000;

interface Queued {
  readonly id: string;
  readonly sendAt?: string;
}

interface Shown {
  readonly status: string;
  readonly sendAt: string | null;
  readonly lastError: string | null;
  readonly sentEmailId: string | null;
  readonly recipients: readonly { readonly address: string; readonly status: string }[];
}

interface Cancelled {
  readonly cancelled: boolean;
  readonly status: string;
  readonly draftId: string | null;
}

async function world(t: ExecutionContext, host: number) {
  const port = await freePort();
  const address = `127.0.2.${host}`;
  const remote = await startRemoteSmtp(address, port);
  const dns = await startDnsServer({
    'there.test': { MX: [[10, 'mx.there.test']] },
    'mx.there.test': { A: [address] },
  });
  const settings = {
    MANSIO_DATA_DIR: await nodeDirectory('mansio-send-later-'),
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_LOG_LEVEL: 'warn',
    MANSIO_OUTBOUND_DNS: dns.address,
    MANSIO_OUTBOUND_PORT: String(port),
    MANSIO_OUTBOUND_ALLOW_PRIVATE: 'true',
    MANSIO_OUTBOUND_POLL_MS: '200',
  };
  let node = await startTestNode(settings);
  t.teardown(async () => {
    await node.stop();
    await remote.close();
    await dns.close();
  });
  const sql = await storeOf(node);
  const ann = await createAccount(sql, 'ann@example.test');
  const bob = await createAccount(sql, 'bob@example.test');
  await sql.end();
  const client = () => new MailboxClient(node, ann.key);
  return {
    remote,
    client,
    neighbour: () => new MailboxClient(node, bob.key),
    async kill() {
      await node.kill('SIGKILL');
      node = await startTestNode(settings);
    },
    send: async (subject: string, more: object = {}) =>
      posted<Queued>(await client().request('POST', '/api/outbound/send', { ...mail(subject), ...more })),
    shown: (id: string) => client().get<Shown>(`/api/outbound/${id}`),
    hub: () =>
      new HubConnectionBuilder()
        .withUrl(`http://127.0.0.1:${httpPort(node, 'http')}/hubs/email?timeline=true`, {
          accessTokenFactory: () => ann.key,
        })
        // A connection of a busy process may break off.
        .withAutomaticReconnect({ nextRetryDelayInMilliseconds: () => 50 })
        .configureLogging(LogLevel.None)
        .build(),
    cancel: async (id: string) => posted<Cancelled>(await client().request('POST', `/api/outbound/${id}/cancel`)),
    async ended(id: string): Promise<Shown> {
      for (;;) {
        const email = await client().get<Shown>(`/api/outbound/${id}`);
        if (['Sent', 'Failed', 'Draft'].includes(email.status)) return email;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
}

const mail = (subject: string) => ({
  fromAddress: 'ann@example.test',
  subject,
  textBody: 'Later.',
  recipients: [
    { address: 'carl@there.test', type: 'To' },
    { address: 'bob@example.test', type: 'Bcc' },
  ],
});

async function posted<T>(response: Response): Promise<T> {
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

const subjectOf = (text: string) => /^Subject: (.*)$/im.exec(text)![1]!.trim();

test('an email is undone within the seconds of the preference, and sent after them', async (t) => {
  const { client, neighbour, remote, send, shown, cancel, ended } = await world(t, 1);
  const prefer = async (undoSendSeconds: number) =>
    t.is((await client().request('PUT', '/api/preferences', { undoSendSeconds })).status, 204);
  await prefer(LONG_UNDO_S);
  const undone = await send('undone');
  const later = await send('next week', { sendAt: new Date(Date.now() + 7 * 24 * HOUR).toISOString() });
  t.like(await shown(undone.id), { status: 'Queued', sendAt: undone.sendAt!, sentAt: null });
  const outbox = await client().get<{ items: { id: string; sendAt: string }[] }>('/api/outbound/outbox');
  t.deepEqual(
    outbox.items.map(({ id, sendAt }) => [id, sendAt]),
    [later, undone].map(({ id, sendAt }) => [id, sendAt]),
  );
  const { draftId, ...rest } = await cancel(undone.id);
  t.deepEqual([rest, draftId], [{ cancelled: true, status: 'Draft' }, undone.id]);
  // Bodies and blind recipients are still there, and the draft is sent like any other.
  const draft = await client().get<{ textBody: string; recipients: { address: string }[] }>(
    `/api/outbound/drafts/${draftId}`,
  );
  t.is(draft.textBody.trim(), 'Later.');
  t.deepEqual(
    draft.recipients.map(({ address }) => address),
    ['carl@there.test', 'bob@example.test'],
  );
  await prefer(UNDO_S);
  const kept = await send('kept');
  t.is((await ended(kept.id)).status, 'Sent');
  const { date } = await simpleParser(remote.messages[0]!.text);
  t.is(date?.getTime(), Math.floor(Date.parse(kept.sendAt!) / 1_000) * 1_000, 'dated when it was sent');
  const sendNow = await client().request('POST', `/api/outbound/drafts/${draftId}/send`, {
    sendAt: new Date(0).toISOString(),
  });
  const again = await posted<Queued>(sendNow);
  t.is(again.id, undone.id);
  t.is(again.sendAt, undefined, 'sendAt wins over the preference');
  t.is((await ended(again.id)).status, 'Sent');
  t.deepEqual(
    remote.messages.map(({ text }) => subjectOf(text)),
    ['kept', 'undone'],
  );
  const inbox = async () => (await neighbour().inbox()).map(({ subject }) => subject).sort();
  while ((await inbox()).length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
  t.deepEqual(await inbox(), ['kept', 'undone']);
  const failed = await client().get<{ items: object[]; totalCount: number }>('/api/outbound/failed');
  t.is(failed.totalCount, 0);
  t.deepEqual(await client().inbox(), [], 'no notification of what the sender knows');
});

test('a sender sees how many emails are before one that waits', async (t) => {
  const { client, hub, remote, send, ended } = await world(t, 3);
  let letGo = () => {};
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  remote.behaviour.message = () => gate.then(() => undefined);
  // The remote server does not close while it holds messages.
  t.teardown(letGo);
  const positions: { id: string; position: number; domain?: string }[] = [];
  let heard = () => {};
  const connection = hub();
  connection.on('QueuePositionChanged', (position) => {
    positions.push(position);
    heard();
  });
  await startHub(connection);
  const ids: string[] = [];
  // There are more emails than connections to one host. Any of them may be one that waits, and the first of these has nobody before it.
  for (let i = 0; i < 12; i++) ids.push((await send(`email ${i}`)).id);
  const waits = () => positions.find(({ domain, position }) => domain !== undefined && position > 0);
  while (waits() === undefined) await new Promise<void>((resolve) => (heard = resolve));
  const { id, position, domain } = waits()!;
  t.true(position < ids.length, `${position}`);
  t.is(domain, 'there.test');
  const shown = await client().get<{ queuePosition: number }>(`/api/outbound/${id}`);
  t.true(shown.queuePosition > 0);
  letGo();
  for (const id of ids) t.is((await ended(id)).status, 'Sent');
  const over = await client().get<{ queuePosition: null }>(`/api/outbound/${id}`);
  t.is(over.queuePosition, null);
  await connection.stop();
});

test('kills around their release lose no held email, and deliver none that was cancelled', async (t) => {
  t.timeout(600_000);
  const { client, neighbour, remote, send, shown, cancel, kill, ended } = await world(t, 2);
  const first = Date.now() + LEAD_MS;
  const emails = await Promise.all(
    Array.from({ length: EMAILS }, async (_, i) => {
      const at = first + Math.round((i * SPREAD_MS) / EMAILS);
      const { id } = await send(`email ${i}`, { sendAt: new Date(at).toISOString() });
      return { id, subject: `email ${i}`, at };
    }),
  );
  /** The first complete answers, by id of the email. */
  const answers = new Map<string, Cancelled>();
  // Every other email is cancelled, around its time.
  const cancelling = emails
    .filter((_, i) => i % 2 === 0)
    .map(async ({ id, at }) => {
      await new Promise((resolve) => setTimeout(resolve, at - Date.now() + 50 - Math.random() * 1_500));
      while (!answers.has(id)) {
        await cancel(id).then(
          (answer) => answers.set(id, answer),
          () => new Promise((resolve) => setTimeout(resolve, 20)),
        );
      }
    });
  for (let i = 0; i < KILLS.sendLater; i++) {
    const at = first + ((i + Math.random()) * SPREAD_MS) / KILLS.sendLater;
    await new Promise((resolve) => setTimeout(resolve, at - Date.now()));
    await kill();
  }
  await Promise.all(cancelling);
  const states = new Map<string, Shown>();
  for (const { id } of emails) states.set(id, await ended(id));
  const sent = emails.filter(({ id }) => states.get(id)!.status === 'Sent');
  // An email may be released while no delivery can begin; then it is cancelled for recipients who have not got it.
  const isUndone = ({ recipients }: Shown) => recipients.every(({ status }) => status === 'Failed');
  const failed = emails.map(({ id }) => states.get(id)!).filter(({ status }) => status === 'Failed');
  const delivered = sent.length + failed.filter((each) => !isUndone(each)).length;
  // The next node places local mail.
  const inside = async () => (await neighbour().inbox()).map(({ subject }) => subject);
  while ((await inside()).length < delivered) await new Promise((resolve) => setTimeout(resolve, 50));
  const outside = remote.messages.map(({ text }) => subjectOf(text));
  const got = await inside();
  for (const { id, subject } of emails) {
    const { status } = states.get(id)!;
    const answer = answers.get(id);
    const copies = [outside, got].map((all) => all.filter((each) => each === subject).length);
    if (status === 'Sent') {
      t.not(answer?.cancelled, true, subject);
      t.true(copies[0]! >= 1, `${subject} is lost`);
      t.is(copies[1], 1, `${subject} inside`);
      continue;
    }
    if (status === 'Draft') {
      t.deepEqual(copies, [0, 0], subject);
      continue;
    }
    t.is((await shown(id)).lastError, 'Cancelled by the sender.', subject);
    t.is(copies[1], isUndone(states.get(id)!) ? 0 : 1, `${subject} inside`);
    t.is(answer?.draftId ?? null, null, subject);
  }
  const cancelled = [...answers.values()].filter((answer) => answer.cancelled).length;
  t.log(`${sent.length} sent, ${cancelled} cancelled, ${outside.length - sent.length} again`);
  const drafts = await client().get<{ totalCount: number }>('/api/outbound/drafts');
  t.is(drafts.totalCount, emails.filter(({ id }) => states.get(id)!.status === 'Draft').length);
});
