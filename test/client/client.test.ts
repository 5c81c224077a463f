// Tests the client against a node: requests and refusals, what it streams while an account is busy, and that every event has the form that
// the AsyncAPI document tells.
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { ExecutionContext } from 'ava';
import { createTransport } from 'nodemailer';
import { filter, firstValueFrom, lastValueFrom, type Observable } from 'rxjs';
import { accountOn, port } from '../../dev/node-accounts.js';
import { createClient } from '../../src/client/client.js';
import type { ListView, MansioClient } from '../../src/client/client-types.js';
import type { Folder } from '../../src/client/generated/rest.js';
import type { ClientEvent } from '../../src/client/hub/hub-link.js';
import { Conflict, NetworkFault, NotFound, Refusal } from '../../src/client/refusal.js';
import { keepBusy } from '../support/clients/busy-account.js';
import { placed } from '../support/clients/placed.js';
import { startTestNode, type TestNode } from '../support/node.js';
import { SoftAuthenticator } from '../support/peers/soft-authenticator.js';
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

test('a passkey is registered, signs in, and is removed', async (t) => {
  const { key } = await accountOn(node, 'passkeys');
  const baseUrl = `http://localhost:${port(node, 'http')}`;
  const client = createClient({ baseUrl, credential: { apiKey: key } });
  t.teardown(() => client.close());
  const authenticator = new SoftAuthenticator(baseUrl);
  const made = authenticator.create((await client.passkeys.registrationOptions()) as never) as never;
  const { id } = await client.passkeys.register({ ...(made as object), name: 'Phone' } as never);
  t.like(await client.passkeys.list(), [{ id, name: 'Phone', lastUsedAt: null }]);
  const signIn = async () =>
    client.signIn({ passkey: authenticator.get((await client.passkeys.signInOptions()) as never) as never });
  t.true((await signIn()).isCurrent);
  await client.passkeys.remove(id);
  t.deepEqual(await client.passkeys.list(), []);
  t.like(await t.throwsAsync(signIn, { instanceOf: Refusal }), { status: 401 });
  const elsewhere = createClient({ baseUrl: baseOf(), credential: { apiKey: key } });
  t.like(await t.throwsAsync(elsewhere.passkeys.registrationOptions(), { instanceOf: Refusal }), { status: 400 });
});

async function receive(to: string, subjects: readonly string[]): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: port(node, 'mx'), tls: { rejectUnauthorized: false } });
  for (const subject of subjects) {
    await transport.sendMail({ from: 'zoe@remote.test', to, subject, text: subject });
    // So their order is certain.
    await placed(node);
  }
}

const subjectsOf = ({ items }: ListView): string[] => items.map(({ subject }) => subject);

/** Resolves with the first value that fits. */
function when<T>(stream$: Observable<T>, fits: (value: T) => boolean): Promise<T> {
  return firstValueFrom(stream$.pipe(filter(fits)));
}

test('lists, counts and emails follow what happens; actions show at once and are taken back', async (t) => {
  const client = await clientOf(t, 'lists');
  const list$ = client.list({ folder: 'inbox' });
  const unread = (folders: readonly Folder[], role: string) => folders.find((folder) => folder.role === role)!;
  t.like(await when(list$, ({ isLoading }) => !isLoading), { total: 0, unread: 0, items: [] });
  await receive('lists@example.test', ['one', 'two', 'three']);
  const { items } = await when(list$, ({ total }) => total === 3);
  t.deepEqual(
    items.map(({ subject }) => subject),
    ['three', 'two', 'one'],
  );
  await when(client.folders$, (folders) => unread(folders, 'inbox').unread === 3);

  const [three, two, one] = items.map(({ id }) => id) as [string, string, string];
  const views: ListView[] = [];
  const watched = list$.subscribe((view) => views.push(view));
  const marked = client.act.markRead([three, two], true);
  t.is(views.at(-1)!.unread, 1, 'shown before the server knows');
  await marked.done;
  t.like(await client.request('GET', '/api/emails'), { unreadCount: 1 });
  await marked.undo();
  t.like(await client.request('GET', '/api/emails'), { unreadCount: 3 });

  const moved = client.act.move([one], { to: 'archive', from: 'inbox' });
  t.deepEqual(subjectsOf(views.at(-1)!), ['three', 'two']);
  await moved.done;
  await when(client.list({ folder: 'archive' }), ({ total }) => total === 1);
  await moved.undo();
  await when(list$, ({ total }) => total === 3);
  await when(client.list({ folder: 'archive' }), ({ total, isLoading }) => total === 0 && !isLoading);
  t.true(
    views.every(({ total, items: shown }) => total === shown.length),
    'a count always equals its rows',
  );
  watched.unsubscribe();

  const email$ = client.email(two);
  t.like(await firstValueFrom(email$), { subject: 'two', isRead: false });
  const flagged = when(email$, ({ isFlagged }) => isFlagged);
  await client.act.flag([two], true).done;
  await flagged;
  const { threadId } = await firstValueFrom(email$);
  t.is((await firstValueFrom(client.thread(threadId))).length, 1);
  const gone = t.throwsAsync(lastValueFrom(email$), { instanceOf: NotFound });
  await client.act.delete([two]).done;
  await gone;
  t.deepEqual(subjectsOf(await when(client.list({ q: 'th' }), ({ isLoading }) => !isLoading)), ['three']);
  const nowhere = await when(client.list({ folder: two }), ({ error }) => error !== undefined);
  t.true(nowhere.error instanceof NotFound);
});

test('a search of fields follows mail that arrives and flags that change', async (t) => {
  const client = await clientOf(t, 'searcher');
  await receive('searcher@example.test', ['report of zoe', 'other']);
  const unread$ = client.list({ from: 'zoe@remote', to: 'searcher', subject: 'report', isRead: false });
  const views: string[][] = [];
  const watched = unread$.subscribe((view) => views.push(subjectsOf(view)));
  t.teardown(() => watched.unsubscribe());
  const first = await when(unread$, ({ items }) => items.length === 1);
  await receive('searcher@example.test', ['other report', 'nothing']);
  await when(unread$, ({ total }) => total === 2);
  const { done } = client.act.markRead([first.items[0]!.id], true);
  await done;
  const last = await when(unread$, ({ items }) => items.length === 1);
  t.deepEqual(subjectsOf(last), ['other report']);
  t.false(views.flat().includes('nothing'));
  t.is((await when(client.list({ from: 'searcher' }), ({ isLoading }) => !isLoading)).total, 0);
  t.is((await when(client.list({ subject: 'zoe' }), ({ isLoading }) => !isLoading)).total, 1);
  await client.act.move([last.items[0]!.id], { to: 'trash' }).done;
  await when(unread$, ({ total }) => total === 0);
  t.is((await when(client.list({ subject: 'report', anywhere: true }), ({ total }) => total === 2)).unread, 1);
});

test('an email that was sent is followed to its end, and the client ends all streams', async (t) => {
  const client = await clientOf(t, 'sender');
  await accountOn(node, 'recipient');
  const recipients = [{ address: 'recipient@example.test', type: 'To' as const }];
  const { id } = await client.send({ fromAddress: 'sender@example.test', subject: 'Hello', textBody: 'x', recipients });
  const { email, timeline } = await when(client.outbound(id), (state) => state.email.status === 'Sent');
  t.is(email.subject, 'Hello');
  t.deepEqual(
    timeline.map(({ recipient, steps }) => [recipient.address, ...steps.map(({ kind }) => kind)]),
    [['recipient@example.test', 'queued', 'delivered']],
  );
  await t.throwsAsync(firstValueFrom(client.outbound(t.title.length.toString())), { instanceOf: NotFound });
  const ends = [client.list({}), client.folders$, client.preferences$, client.events$, client.connection$].map(
    (stream$) => lastValueFrom(stream$ as Observable<unknown>, { defaultValue: undefined }),
  );
  client.close();
  await Promise.all(ends);
  t.pass();
});

test('after another sign-in streams go on with the other account, and nobody is shown the account before', async (t) => {
  let user = 'ann';
  const reply = (body: unknown) =>
    new Response(JSON.stringify(body), { headers: { 'Content-Type': 'application/json' } });
  const client = createClient({
    baseUrl: 'http://127.0.0.1:1',
    async fetch(url, init) {
      if (!String(url).endsWith('/api/sessions')) return reply([{ id: user, role: 'inbox', name: user }]);
      t.deepEqual(Object.fromEntries(init?.headers as [string, string][]), { Authorization: 'Bearer key of bob' });
      user = 'bob';
      return reply({ id: 'session' });
    },
  });
  t.teardown(() => client.close());
  const shown: string[] = [];
  client.folders$.subscribe((folders) => shown.push(folders[0]!.name));
  await when(client.folders$, ([inbox]) => inbox?.name === 'ann');
  t.is((await client.signIn({ apiKey: 'key of bob' })).id, 'session');
  t.is((await firstValueFrom(client.folders$))[0]!.name, 'bob');
  t.deepEqual(shown, ['ann', 'bob']);
});

test('preferences follow what other windows choose', async (t) => {
  const client = await clientOf(t, 'chooser');
  t.is((await firstValueFrom(client.preferences$)).theme, 'system');
  const dark = when(client.preferences$, ({ theme }) => theme === 'dark');
  await client.request('PUT', '/api/preferences', { body: { theme: 'dark' } });
  t.is((await dark).displayDensity, 'comfortable');
  const label$ = when(client.labels$, (labels) => labels.length === 1);
  await client.request('POST', '/api/labels', { body: { name: 'Work', color: '#aabbcc', sortOrder: 0 } });
  t.is((await label$)[0]!.name, 'Work');
});

test('more lists than a connection may follow are shown all the same', async (t) => {
  const client = await clientOf(t, 'many');
  await receive('many@example.test', ['only']);
  const views = await Promise.all(
    Array.from({ length: 22 }, (_, i) =>
      when(client.list({ q: 'only', fromDate: `2020-01-${i + 10}` }), ({ total }) => total === 1),
    ),
  );
  t.is(views.length, 22);
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
  // Events come in the order of the log: once the last one is here, all are.
  const last = when(client.events$, ({ type }) => type === 'FolderDeleted');
  const { id } = await client.request('POST', '/api/folders', { body: { name: 'Work' } });
  await client.request('DELETE', '/api/folders/{id}', { params: { id } });
  await busy.stop();
  await last;
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
