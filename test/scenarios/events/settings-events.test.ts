// Tests that each setting of an account is told as it changes: over the hub to `mansio/client`, as an event stream, and to a webhook.
import type { ExecutionContext } from 'ava';
import { filter, firstValueFrom, map, shareReplay } from 'rxjs';
import { port } from '../../../dev/node-accounts.js';
import { createClient } from '../../../src/client/client.js';
import { openEventStream } from '../../support/clients/event-stream-client.js';
import { mansio } from '../../support/command.js';
import { startWebhookReceiver } from '../../support/peers/webhook-receiver.js';
import test from '../../support/test.js';
import { world } from '../mail/outbound-remotes.js';

const SETTINGS = { MANSIO_WEBHOOK_ALLOW_PRIVATE: 'true' };
const OF_THE_LOG = [
  'SendersChanged',
  'ForwardingChanged',
  'VacationChanged',
  'FiltersChanged',
  'ScriptsChanged',
  'SuppressionsChanged',
];
const NOTICES = ['QuotaChanged', 'SendingChanged'];

type Told = readonly (readonly [type: string, payload: unknown])[];

/** A client that is connected to the hub, and what it is told. */
async function openPage(t: ExecutionContext, baseUrl: string, apiKey: string) {
  const client = createClient({ baseUrl, credential: { apiKey } });
  t.teardown(() => client.close());
  const told: (readonly [string, unknown])[] = [];
  const told$ = client.events$.pipe(
    map(({ type, payload }) => {
      told.push([type, payload]);
      return told;
    }),
    shareReplay(1),
  );
  told$.subscribe();
  await firstValueFrom(client.connection$.pipe(filter((state) => state === 'live')));
  return { told, until: (holds: (all: Told) => boolean) => firstValueFrom(told$.pipe(filter(holds))) };
}

test('settings are told over the hub, as an event stream and to a webhook; quota and suspension to those who listen', async (t) => {
  const rcpt = () => '550 5.1.1 no such user';
  const { node, sender, client, send, ended } = await world(t, { 'one.test': [{ behaviour: { rcpt } }] }, SETTINGS);
  const base = `http://127.0.0.1:${port(node, 'http')}`;
  const { receiver, ...hook } = await startWebhookReceiver(t);
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await client.request(method, path, body);
    t.true(response.ok, `${method} ${path}: ${response.status}`);
    return response;
  };
  const made = await call('POST', '/api/webhooks', { url: hook.url(), eventTypes: OF_THE_LOG });
  const { url, secret } = (await made.json()) as { readonly url: string; readonly secret: string };
  const page = await openPage(t, base, sender.key);
  const types = [...OF_THE_LOG, ...NOTICES].join(',');
  const stream = await openEventStream(`${base}/api/events?types=${types}`, { key: sender.key });
  t.teardown(() => stream.close());
  await stream.until(() => stream.events.length > 0);

  const senders = { allowed: [], blocked: ['spam.test'] };
  await call('PUT', '/api/senders', senders);
  const forwarding = { isEnabled: false, address: null, keepCopy: false };
  await call('PUT', '/api/forwarding', forwarding);
  await call('PUT', '/api/vacation', { isEnabled: true, endsAt: '2099-01-01T00:00:00.000Z', textBody: 'Away' });
  const filter = { name: 'Bills', isEnabled: true, priority: 1, subjectContains: 'bill', markAsRead: true };
  const { id } = (await (await call('POST', '/api/filters', filter)).json()) as { readonly id: string };
  await call('DELETE', `/api/filters/${id}`);
  await call('PUT', '/api/sieve/main', { content: 'keep;', isActive: true });
  await ended(await send(['gone@one.test']));
  await call('DELETE', '/api/suppressions/gone%40one.test');
  const command = async (...args: string[]) => t.is((await mansio(node.dataDir, args)).code, 0);
  await command('quota', 'set', sender.email, '--bytes', '1000000000');
  await command('account', 'suspend', sender.email);

  const logged: Told = [
    ['SendersChanged', senders],
    ['ForwardingChanged', forwarding],
    ['VacationChanged', { isEnabled: true, startsAt: null, endsAt: '2099-01-01T00:00:00.000Z', intervalDays: 7 }],
    ['FiltersChanged', { id }],
    ['FiltersChanged', { id }],
    ['ScriptsChanged', { name: 'main' }],
    ['ScriptsChanged', { name: 'main' }],
    ['SuppressionsChanged', { address: 'gone@one.test', isSuppressed: true }],
    ['SuppressionsChanged', { address: 'gone@one.test', isSuppressed: false }],
  ];
  const notices: Told = NOTICES.map((type) => [type, {}]);
  const chosen = (told: Told, names: readonly string[]) => told.filter(([type]) => names.includes(type));
  const all = [...OF_THE_LOG, ...NOTICES];
  await page.until((told) => chosen(told, all).length === logged.length + notices.length);
  t.deepEqual(chosen(page.told, OF_THE_LOG), logged);
  t.deepEqual(chosen(page.told, NOTICES), notices);
  const inStream = (): Told => stream.events.map(({ type, data }) => [type, data]);
  await stream.until(() => chosen(inStream(), NOTICES).length === notices.length);
  await stream.until(() => chosen(inStream(), OF_THE_LOG).length === logged.length);
  t.deepEqual(chosen(inStream(), OF_THE_LOG), logged);
  t.deepEqual(chosen(inStream(), NOTICES), notices);
  await receiver.until(() => receiver.requests.length === logged.length);
  t.deepEqual(
    hook.accepted(url, secret).map(({ type, data }) => [type, data]),
    logged,
  );
});
