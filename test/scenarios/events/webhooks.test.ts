// Tests webhooks of a whole node: they are signed and in order, although receivers are away or refuse, and are
// repeated from the log.
import { setTimeout as pause } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { createTransport } from 'nodemailer';
import { Webhook } from 'standardwebhooks';
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { startDnsServer } from '../../../dev/servers/dns-server.js';
import { type EmailView, type ListedEmail, MailboxClient } from '../../support/clients/mailbox-client.js';
import { loggedEvents } from '../../support/logged-events.js';
import { startTestNode } from '../../support/node.js';
import { startWebhookReceiver } from '../../support/peers/webhook-receiver.js';
import test from '../../support/test.js';

const SETTINGS = { MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_WEBHOOK_ALLOW_PRIVATE: 'true' };

interface ShownWebhook {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
  readonly isEnabled: boolean;
  readonly disabledReason: string | null;
  readonly failures: number;
  readonly nextAttemptAt: string | null;
}

interface Deliveries {
  readonly items: readonly { readonly id: string; readonly eventId: string; readonly isDelivered: boolean }[];
  readonly totalCount: number;
}

/** Repeats the question until the answer is true. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(50);
}

async function world(t: ExecutionContext, settings: Readonly<Record<string, string>> = SETTINGS) {
  let node = await startTestNode(settings);
  t.teardown(() => node.stop());
  let sql = await storeOf(node);
  t.teardown(() => sql.end({ timeout: 1 }));
  const account = await createAccount(sql, 'ann@example.test');
  const { receiver, ...hook } = await startWebhookReceiver(t);
  const api = () => new MailboxClient(node, account.key);
  const request = async (method: string, path: string, body?: unknown) => {
    const response = await api().request(method, `/api/webhooks${path}`, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  return {
    receiver,
    hook,
    request,
    async make(body: Readonly<Record<string, unknown>> = {}): Promise<ShownWebhook> {
      return request('POST', '', { url: hook.url(), ...body });
    },
    shown: (id: string): Promise<ShownWebhook> => request('GET', `/${id}`),
    deliveries: (id: string): Promise<Deliveries> => request('GET', `/${id}/deliveries?pageSize=100`),
    /** Resolves when the email is in the inbox, which may be later than its acceptance. */
    async mail(subject: string): Promise<void> {
      const mx = createTransport({ host: '127.0.0.1', port: port(node, 'mx'), tls: { rejectUnauthorized: false } });
      await mx.sendMail({ from: 'bob@remote.test', to: account.email, subject, text: subject });
      await until(async () => (await api().inbox()).some((email) => email.subject === subject));
    },
    /** Returns the email once it is there. */
    async inboxWith(subject: string): Promise<EmailView> {
      let found: ListedEmail | undefined;
      await until(async () => {
        found = (await api().inbox()).find((email) => email.subject.startsWith(subject));
        return found !== undefined;
      });
      return api().get<EmailView>(`/api/emails/${found!.id}`);
    },
    logged: async () => (await loggedEvents(sql, account.id)).map(({ id }) => id),
    async killAndStart() {
      await sql.end({ timeout: 1 });
      await node.kill('SIGKILL');
      node = await startTestNode({ ...settings, MANSIO_DATA_DIR: node.dataDir });
      sql = await storeOf(node);
    },
  };
}

test('a webhook gets every event, signed and in order, and again from the log', async (t) => {
  const { receiver, hook, request, make, mail, deliveries, logged } = await world(t);
  const { id, url, secret } = await make();
  await mail('one');
  await mail('Zoë 💌');
  const ids = (key = secret) => hook.accepted(url, key).map((message) => message.id);
  const all = await logged();
  t.true(all.length >= 4);
  await receiver.until(() => receiver.requests.length === all.length);
  t.deepEqual(ids(), all);
  const subjects = hook
    .accepted(url, secret)
    .flatMap(({ type, data }) => (type === 'NewEmail' ? [data['subject']] : []));
  t.deepEqual(subjects, ['one', 'Zoë 💌']);
  t.is(receiver.mostAtOnce, 1);
  // Attempts are recorded after the answer.
  await until(async () => (await deliveries(id)).totalCount >= all.length);
  const listed = await deliveries(id);
  t.deepEqual(listed.items.map(({ eventId }) => eventId).toReversed(), all);
  t.true(listed.items.every(({ isDelivered }) => isDelivered));

  const { secret: newer } = await request('POST', `/${id}/rotate-secret`);
  await request('POST', `/${id}/replay`, { after: all[1] });
  await receiver.until(() => receiver.requests.length === 2 * all.length - 2);
  const expected = [...all, ...all.slice(2)];
  t.deepEqual(ids(), expected, 'with the old secret');
  const again = receiver.requests.at(-1)!;
  const fields = again.headers as Record<string, string>;
  t.is(fields['webhook-signature']!.split(' ').length, 2);
  t.notThrows(() => new Webhook(newer).verify(again.body, fields));
  const first = Number(all[0]!.split('_')[0]);
  await request('POST', `/${id}/replay`, { after: first - 1 });
  await receiver.until(() => receiver.requests.length === expected.length + all.length);
  t.deepEqual(ids(), [...expected, ...all]);
  await request('POST', `/${id}/replay`, { after: 0 });
  await receiver.until(() => receiver.requests.length === expected.length + 2 * all.length);
  t.deepEqual(ids(), [...expected, ...all, ...all], 'the log of an account is whole from 0 on');
});

test('what a receiver does not take waits for it, in order; 410 disables, and PUT goes on', async (t) => {
  const { receiver, hook, request, make, mail, shown, deliveries, inboxWith } = await world(t);
  const { id, url, secret } = await make({ eventTypes: ['NewEmail'] });
  const subjects = () => hook.accepted(url, secret).map(({ data }) => data['subject']);
  receiver.answerNext({ status: 503, headers: { 'retry-after': '3600' } });
  await mail('one');
  await receiver.until(() => receiver.requests.length === 1);
  await mail('two');
  // The failure is stored after the answer.
  await until(async () => (await shown(id)).failures === 1);
  const failing = await shown(id);
  t.true(Date.parse(failing.nextAttemptAt!) > Date.now() + 3_000_000);
  t.is(receiver.requests.length, 1);
  // A PUT causes an attempt at once.
  receiver.answerNext({ status: 410 });
  await request('PUT', `/${id}`, { url, eventTypes: ['NewEmail'] });
  await receiver.until(() => receiver.requests.length === 2);
  await until(async () => !(await shown(id)).isEnabled);
  t.regex((await shown(id)).disabledReason!, /410/);
  const notice = await inboxWith('Webhook disabled: 127.0.0.1');
  t.regex(notice.textBody, new RegExp(`Webhook: ${id}\r?\nURL: ${url}\r?\nReason: The receiver .* \\(410 Gone\\)`));
  await mail('three');
  await request('PUT', `/${id}`, { url, eventTypes: ['NewEmail'] });
  await receiver.until(() => subjects().length === 4);
  const [one, two, notified, three] = subjects();
  t.deepEqual([one, two, three], ['one', 'two', 'three']);
  t.regex(String(notified), /^Webhook disabled/);
  await until(async () => (await deliveries(id)).totalCount >= 6);
  t.like(await shown(id), { isEnabled: true, disabledReason: null, failures: 0 });
  t.deepEqual(
    (await deliveries(id)).items.map(({ isDelivered }) => isDelivered),
    [true, true, true, true, false, false],
  );
  const tested = await request('POST', `/${id}/test`);
  t.like(tested, { isDelivered: true, responseStatus: 200, error: null });
  t.like(hook.accepted(url, secret).at(-1), { type: 'Test', data: {} });
  await request('DELETE', `/${id}`);
  await mail('four');
  t.is(receiver.requests.length, 7);
});

test('a name that leads into the network of the server is refused, whatever else it leads to', async (t) => {
  const dns = await startDnsServer({
    'inner.test': { A: ['127.0.0.1'] },
    'both.test': { A: ['8.8.8.8', '127.0.0.1'] },
    'six.test': { AAAA: ['::1'] },
  });
  t.teardown(() => dns.close());
  const { receiver, request, mail, deliveries } = await world(t, {
    ...{ MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_OUTBOUND_DNS: dns.address },
  });
  await t.throwsAsync(request('POST', '', { url: receiver.url }), { message: /400 .*https/ });
  await t.throwsAsync(request('POST', '', { url: `https://127.0.0.1:${receiver.port}` }), {
    message: /private address/,
  });
  for (const name of ['inner.test', 'both.test', 'six.test']) {
    const { id } = await request('POST', '', { url: `https://${name}:${receiver.port}/`, eventTypes: ['NewEmail'] });
    const { isDelivered, responseStatus, error } = await request('POST', `/${id}/test`);
    t.deepEqual([isDelivered, responseStatus], [false, null]);
    t.regex(error, new RegExp(`${name} has a private address$`));
  }
  await mail('one');
  const [{ id }] = await request('GET', '');
  await until(async () => (await deliveries(id)).totalCount > 0);
  t.false((await deliveries(id)).items[0]!.isDelivered);
  t.is(receiver.connections, 0);
  t.is(receiver.requests.length, 0);
});
