// Tests sessions over real sockets: the cookie of each scheme, requests by cookie, and who may not sign in.
import type { ExecutionContext } from 'ava';
import { Rates } from '../../../../../src/auth/rates.js';
import { rawRequest } from '../../../../support/clients/raw-request.js';
import test from '../../../../support/test.js';
import { BOBS_LINK, SESSION_ID } from '../../fake-account-api.js';
import { ALICE, BOB } from '../../fakes.js';
import { type Gateway, startGateway } from '../../gateway.js';

const PROXIED = { trusted: ['127.0.0.1/32'] };
const HTTPS = { Host: 'mail.example.test', 'X-Forwarded-Proto': 'https' };

const signIn = (gateway: Gateway, fields: Readonly<Record<string, string>> = {}, body = '') =>
  rawRequest(
    gateway.port,
    'POST /api/sessions',
    {
      ...(body === '' ? { Authorization: `Bearer ${gateway.key}` } : { 'Content-Type': 'application/json' }),
      ...fields,
    },
    body,
  );

test('each scheme and host gets its cookie, or 403 and none', async (t) => {
  const gateway = await startGateway(t, PROXIED);
  for (const [fields, cookie] of [
    [HTTPS, '__Host-mansio'],
    [{ ...HTTPS, Host: 'localhost:8080' }, '__Host-mansio'],
    [{ ...HTTPS, 'X-Forwarded-Proto': 'https, http' }, '__Host-mansio'],
    [{ Host: 'localhost:8080' }, 'mansio'],
    [{ Host: '127.0.0.1' }, 'mansio'],
    [{ Host: '[::1]:8080' }, 'mansio'],
    [{ Host: 'localhost', 'X-Forwarded-Proto': 'http' }, 'mansio'],
    [{ Host: 'mail.example.test' }, undefined],
    [{ Host: 'mail.example.test', 'X-Forwarded-Proto': 'http' }, undefined],
    [{ Host: '192.168.1.5:8080' }, undefined],
  ] as const) {
    const { status, headers } = await signIn(gateway, fields);
    t.is(status, cookie === undefined ? 403 : 201, JSON.stringify(fields));
    t.is(headers.get('set-cookie')?.split('=')[0], cookie, JSON.stringify(fields));
  }
});

test('nobody but a trusted proxy says that the client came over https', async (t) => {
  const gateway = await startGateway(t);
  t.is((await signIn(gateway, HTTPS)).status, 403);
  const local = await signIn(gateway, { 'X-Forwarded-Proto': 'https' });
  t.is(local.headers.get('set-cookie')?.split('=')[0], 'mansio');
});

test('a request for one account does nothing with the cookie of another', async (t) => {
  const gateway = await startGateway(t, PROXIED);
  const cookie = `__Host-mansio=${gateway.directory.session(BOB)}`;
  const ask = (line: string, fields: Readonly<Record<string, string>>) =>
    rawRequest(gateway.port, line, {
      ...{ ...HTTPS, Cookie: cookie, Origin: 'https://mail.example.test', 'Content-Length': '0' },
      ...fields,
    });
  for (const line of ['GET /api/emails', 'DELETE /api/push-subscriptions']) {
    t.is((await ask(line, { 'Mansio-Account': ALICE })).status, 401, line);
    t.not((await ask(line, { 'Mansio-Account': BOB })).status, 401, line);
  }
  const key = { 'Mansio-Account': BOB, Authorization: `Bearer ${gateway.key}` };
  t.is((await ask('GET /api/emails', key)).status, 200, 'a key says itself whose it is');
});

test('a cookie signs requests of its own page, and those alone', async (t) => {
  const gateway = await startGateway(t, { ...PROXIED, origins: ['https://app.example.test'] });
  const cookie = `__Host-mansio=${gateway.directory.session(ALICE)}`;
  const own = 'https://mail.example.test';
  const ask = (line: string, fields: Readonly<Record<string, string>>) =>
    rawRequest(gateway.port, line, { ...HTTPS, Cookie: cookie, 'Content-Length': '0', ...fields });
  const write = 'DELETE /api/push-subscriptions';
  for (const [line, fields, status] of [
    ['GET /api/emails', {}, 200],
    ['GET /api/emails', { Origin: own }, 200],
    ['GET /api/emails', { Origin: 'https://app.example.test' }, 403],
    ['GET /api/emails', { Origin: 'https://evil.example' }, 403],
    ['GET /api/emails', { 'Sec-Fetch-Site': 'same-site' }, 403],
    ['HEAD /api/emails', {}, 200],
    [write, { Origin: own }, 204],
    [write, {}, 403],
    [write, { Origin: 'null' }, 403],
    [write, { Origin: 'http://mail.example.test' }, 403],
    [write, { Origin: 'https://app.example.test' }, 403],
    // A token counts whatever the cookie is, and from listed pages too.
    [write, { Origin: 'https://app.example.test', Authorization: `Bearer ${gateway.key}` }, 204],
    [write, { Origin: own, Authorization: 'Bearer wrong' }, 401],
    ['GET /api/emails', { 'X-Forwarded-Proto': 'http' }, 403],
    ['GET /api/emails', { 'X-Forwarded-Proto': 'http', Host: 'localhost' }, 401],
    ['GET /api/emails', { Cookie: cookie.replace('__Host-', '') }, 401],
    ['GET /api/emails', { Cookie: `__Host-mansio=${gateway.key}` }, 401],
    ['GET /api/emails', { Cookie: '__Host-mansio=unknown' }, 401],
    ['POST /api/internal-notifications', { Origin: own }, 403],
  ] as const)
    t.is((await ask(line, fields)).status, status, `${line} ${JSON.stringify(fields)}`);
});

test('an ended session is as no session, also for the anonymous account', async (t) => {
  const gateway = await startGateway(t);
  const session = gateway.directory.session(ALICE);
  const read = async () => (await rawRequest(gateway.port, 'GET /api/emails', { Cookie: `mansio=${session}` })).status;
  t.is(await read(), 200);
  gateway.directory.keys.delete(session);
  gateway.directory.revokedKeys$.next(`session of ${ALICE}`);
  t.is(await read(), 401);
  gateway.directory.guest = { accountId: BOB, email: 'b@x.test', scopes: ['app'], keyId: null, serviceWide: false };
  t.is(await read(), 200);
});

test('the event stream takes the cookie', async (t) => {
  const gateway = await startGateway(t);
  const Cookie = `mansio=${gateway.directory.session(ALICE)}`;
  t.is((await rawRequest(gateway.port, 'HEAD /api/events', { Cookie })).status, 200);
  t.is((await rawRequest(gateway.port, 'HEAD /api/events', { Cookie, Origin: 'http://localhost:3000' })).status, 403);
});

test('other pages, sessions and nobody cannot make a session', async (t) => {
  const gateway = await startGateway(t, { origins: ['http://localhost:3000'] });
  const status = async (fields: Readonly<Record<string, string>>, body = '') =>
    (await signIn(gateway, fields, body)).status;
  t.is(await status({ Origin: 'http://localhost:3000' }), 403);
  t.is(await status({ Origin: 'null', 'Sec-Fetch-Site': 'cross-site' }), 403);
  t.is(await status({ 'Sec-Fetch-Site': 'cross-site' }), 403);
  const session = gateway.directory.session(ALICE);
  t.is(await status({ Authorization: `Bearer ${session}` }), 403);
  t.is(await status({ Cookie: `mansio=${session}`, Origin: 'http://localhost' }, '{}'), 401);
  t.is(await status({}, '{}'), 401);
  t.is(await status({ Authorization: 'Bearer wrong' }), 401);
  t.is(await status({ Authorization: `Bearer ${gateway.directory.key(ALICE, 'api:read', 'imap')}` }), 403);
  t.is(await status({ Origin: 'http://localhost' }), 201);
});

test('a link makes a session once, as a token or as a URL', async (t) => {
  const gateway = await startGateway(t);
  const body = JSON.stringify({ link: ` http://localhost/link/${BOBS_LINK}\n` });
  const made = await signIn(gateway, {}, body);
  t.is(made.status, 201);
  t.is(made.headers.get('cache-control'), 'no-store');
  const again = await signIn(gateway, {}, body);
  t.is(again.status, 410);
  t.regex(JSON.parse(again.body.toString()).detail, /mansio account link/);
});

test('signing out ends the session and deletes the cookie', async (t) => {
  const gateway = await startGateway(t);
  const Cookie = `mansio=${gateway.directory.session(ALICE, SESSION_ID)}`;
  const list = await rawRequest(gateway.port, 'GET /api/sessions', { Cookie });
  t.like(JSON.parse(list.body.toString())[0], { id: SESSION_ID, isCurrent: true });
  const path = `DELETE /api/sessions/${SESSION_ID.toUpperCase()}`;
  t.is((await rawRequest(gateway.port, path, { Cookie })).status, 403, 'without an origin');
  const { status, headers } = await rawRequest(gateway.port, path, { Cookie, Origin: 'http://localhost' });
  t.is(status, 204);
  t.is(headers.get('set-cookie'), 'mansio=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict');
});

test('a browser that signs in again loses the session that it had', async (t) => {
  const gateway = await startGateway(t);
  const Cookie = `mansio=${gateway.directory.session(ALICE, SESSION_ID)}`;
  const ids = async () => {
    const response = await gateway.fetch('/api/sessions');
    return ((await response.json()) as readonly { readonly id: string }[]).map(({ id }) => id);
  };
  t.deepEqual(await ids(), [SESSION_ID]);
  const { body } = await signIn(gateway, { Cookie });
  t.deepEqual(await ids(), [JSON.parse(body.toString()).id]);
});

async function limited(t: ExecutionContext) {
  const gateway = await startGateway(t, { rates: new Rates({ global: 3, authentication: 3, write: 3, session: 8 }) });
  const wrong = JSON.stringify({ link: 'A'.repeat(43) });
  const statuses = [];
  for (let i = 0; i < 5; i++) statuses.push((await signIn(gateway, {}, wrong)).status);
  return { gateway, statuses };
}

test('wrong links are limited by address; right links and sessions from there are not', async (t) => {
  const { gateway, statuses } = await limited(t);
  t.deepEqual(statuses, [410, 410, 410, 429, 429]);
  const Cookie = `mansio=${gateway.directory.session(ALICE)}`;
  t.is((await rawRequest(gateway.port, 'GET /api/emails', { Cookie })).status, 200);
  t.is((await signIn(gateway, {}, JSON.stringify({ link: BOBS_LINK }))).status, 201);
});

test('a session gets public endpoints when its address has used up its rate', async (t) => {
  const { gateway } = await limited(t);
  const status = async (fields: Readonly<Record<string, string>> = {}) =>
    (await rawRequest(gateway.port, 'GET /api/config', fields)).status;
  t.deepEqual([await status(), await status(), await status(), await status()], [200, 200, 200, 429]);
  const Cookie = `mansio=${gateway.directory.session(ALICE)}`;
  t.is(await status({ Cookie }), 200);
  t.is(await status({ Cookie, Origin: 'http://localhost:3000' }), 429, 'of another page');
  t.is(await status({ Cookie: 'mansio=unknown' }), 429);
});

test('a session has its own rate, which the keys of the account do not use', async (t) => {
  const { gateway } = await limited(t);
  const Cookie = `mansio=${gateway.directory.session(ALICE)}`;
  const reply = await rawRequest(gateway.port, 'GET /api/emails', { Cookie });
  t.is(reply.headers.get('ratelimit-policy'), '"session";q=8;w=60, "sessions";q=32;w=60');
  const write = async () =>
    (await rawRequest(gateway.port, 'DELETE /api/push-subscriptions', { Cookie, Origin: 'http://localhost' })).status;
  t.deepEqual([await write(), await write(), await write()], [204, 204, 429]);
  t.is((await gateway.fetch('/api/emails')).status, 200);
});
