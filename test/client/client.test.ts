// Tests the client against a node: requests and refusals, what it streams while an account is busy, and that every event has the form that
// the AsyncAPI document tells.
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { ExecutionContext } from 'ava';
import { filter, firstValueFrom } from 'rxjs';
import { accountOn, port } from '../../dev/node-accounts.js';
import { createClient } from '../../src/client/client.js';
import type { MansioClient } from '../../src/client/client-types.js';
import type { ClientEvent } from '../../src/client/hub/hub-link.js';
import { Conflict, NetworkFault, NotFound, Refusal } from '../../src/client/refusal.js';
import { keepBusy } from '../support/clients/busy-account.js';
import { startTestNode, type TestNode } from '../support/node.js';
import test from '../support/test.js';

let node: TestNode;

test.before(async () => {
  node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test' });
});

test.after.always(async () => {
  await node?.stop();
});

const baseOf = (): string => `http://127.0.0.1:${port(node, 'http')}`;

async function clientOf(t: ExecutionContext, name: string): Promise<MansioClient> {
  const { key } = await accountOn(node, name);
  const client = createClient({ baseUrl: `${baseOf()}/`, credential: { apiKey: key } });
  t.teardown(() => client.close());
  return client;
}

test('requests are typed by their path; refusals and silence are errors', async (t) => {
  const client = await clientOf(t, 'requests');
  const label = await client.request('POST', '/api/labels', {
    body: { name: 'Work & more', color: '#aabbcc', sortOrder: 0 },
  });
  t.like(label, { name: 'Work & more', color: '#aabbcc', emailCount: 0 });
  t.is(await client.request('DELETE', '/api/labels/{id}', { params: { id: label.id } }), undefined);
  const page = await client.request('GET', '/api/emails/search', { query: { q: 'a b&c', isRead: undefined } });
  t.deepEqual(page.items, []);
  const gone = await t.throwsAsync(client.request('GET', '/api/emails/{id}', { params: { id: label.id } }), {
    instanceOf: NotFound,
  });
  t.is(gone instanceof Refusal && gone.code, 'notFound');
  const wrong = await t.throwsAsync(
    client.request('POST', '/api/labels', { body: { name: '', color: 'red', sortOrder: 0 } }),
    {
      instanceOf: Refusal,
    },
  );
  t.like(wrong, { status: 400, code: 'invalid' });
  t.deepEqual(Object.keys((wrong as Refusal).errors).sort(), ['color', 'name']);
  const nowhere = createClient({ baseUrl: 'http://127.0.0.1:1' });
  await t.throwsAsync(nowhere.request('GET', '/api/profile'), { instanceOf: NetworkFault });
  const stranger = createClient({ baseUrl: baseOf(), credential: { token: async () => 'nobody' } });
  await t.throwsAsync(stranger.request('GET', '/api/profile'), { instanceOf: Refusal, message: /./ });
  t.is(await firstValueFrom(stranger.connection$.pipe(filter((state) => state !== 'connecting'))), 'signedOut');
  stranger.close();
});

test('a draft that somebody else has changed is a conflict', async (t) => {
  const client = await clientOf(t, 'drafts');
  const { draft, etag } = await client.drafts.create({ subject: 'One' });
  const next = await client.drafts.update(draft.id, { subject: 'Two' }, etag);
  t.not(next, etag);
  await t.throwsAsync(client.drafts.update(draft.id, { subject: 'Three' }, etag), { instanceOf: Conflict });
  const read = await client.drafts.read(draft.id);
  t.deepEqual([read.draft.subject, read.etag], ['Two', next]);
  await client.drafts.delete(draft.id, next);
  await t.throwsAsync(client.drafts.read(draft.id), { instanceOf: NotFound });
});

test('every event has the form that the AsyncAPI document tells, and folders follow them', async (t) => {
  const account = await accountOn(node, 'busy');
  const client = createClient({ baseUrl: baseOf(), credential: { apiKey: account.key } });
  t.teardown(() => client.close());
  const events: ClientEvent[] = [];
  client.events$.subscribe((event) => events.push(event));
  await firstValueFrom(client.connection$.pipe(filter((state) => state === 'live')));
  const busy = keepBusy(t, account, { http: baseOf, mx: () => `127.0.0.1:${port(node, 'mx')}` });
  await busy.more(60);
  await client.request('PUT', '/api/preferences', { body: { theme: 'dark' } });
  const { id } = await client.request('POST', '/api/folders', { body: { name: 'Work' } });
  await client.request('DELETE', '/api/folders/{id}', { params: { id } });
  await busy.stop();
  await firstValueFrom(client.folders$.pipe(filter((folders) => folders.every((folder) => folder.id !== id))));
  const { total } = await client.request('GET', '/api/emails').then(({ totalCount }) => ({ total: totalCount }));
  const inbox = client.folders$.pipe(
    filter((folders) => folders.some((one) => one.role === 'inbox' && one.total === total)),
  );
  await firstValueFrom(inbox);

  const document = (await (await fetch(`${baseOf()}/api/docs/events`)).json()) as object;
  const ajv = new Ajv2020({ strict: false, allowUnionTypes: true });
  (addFormats as unknown as (to: Ajv2020) => void)(ajv);
  ajv.addSchema({ $id: 'events', ...document });
  const names = new Set(events.map(({ type }) => type));
  for (const type of [
    'NewEmail',
    'EmailPlaced',
    'EmailUpdated',
    'PreferencesChanged',
    'FolderCreated',
    'FolderDeleted',
  ])
    t.true(names.has(type as ClientEvent['type']), type);
  for (const { type, payload } of events) {
    const isValid = ajv.validate({ $ref: `events#/components/messages/${type}/payload` }, payload);
    t.true(isValid, `${type} ${JSON.stringify(payload)}: ${ajv.errorsText()}`);
  }
});
