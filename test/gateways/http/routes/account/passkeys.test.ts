// Tests passkeys over real sockets: registered, used once for each challenge, bounded, and bound to their host.
import type { ExecutionContext } from 'ava';
import { rawRequest } from '../../../../support/clients/raw-request.js';
import { type Lies, SoftAuthenticator } from '../../../../support/peers/soft-authenticator.js';
import test from '../../../../support/test.js';
import { ALICE, BOB } from '../../fakes.js';
import { type Gateway, startGateway } from '../../gateway.js';

const ORIGIN = 'http://localhost:8080';
const HOST = 'localhost:8080';

function client({ port, key }: Gateway, fields: Readonly<Record<string, string>> = {}) {
  const post = async (path: string, body?: unknown, more: Readonly<Record<string, string>> = {}) => {
    const json = body === undefined ? { 'Content-Length': '0' } : { 'Content-Type': 'application/json' };
    const text = body === undefined ? '' : JSON.stringify(body);
    const head = { Host: HOST, ...json, ...fields, ...more };
    const reply = await rawRequest(port, `POST /api/passkeys/${path}`, head, text);
    const content = reply.body.toString();
    return { ...reply, json: content === '' ? undefined : JSON.parse(content) };
  };
  const own = { Authorization: `Bearer ${key}` };
  return {
    begin: () => post('registration', undefined, own),
    register: (answer: unknown) => post('registration/verify', answer, own),
    /** Without the key. */
    beginHere: () => post('registration'),
    registerHere: (answer: unknown) => post('registration/verify', answer),
    offer: () => post('login'),
    signIn: (answer: unknown) => post('login/verify', answer),
  };
}

async function registered(t: ExecutionContext, counter = 0) {
  const gateway = await startGateway(t);
  const browser = client(gateway);
  const authenticator = new SoftAuthenticator(ORIGIN, counter);
  const { status, json } = await browser.begin();
  t.is(status, 200);
  const answer = { ...authenticator.create(json), name: 'My phone' };
  const made = await browser.register(answer);
  t.is(made.status, 201, made.body.toString());
  return { gateway, browser, authenticator, answer, made: made.json };
}

test('a passkey is registered, signs in with a cookie, and is listed with its last use', async (t) => {
  const { gateway, browser, authenticator, made } = await registered(t, 1);
  t.like(made, { name: 'My phone', lastUsedAt: null });
  const { json: options } = await browser.offer();
  const signedIn = await browser.signIn(authenticator.get(options));
  t.is(signedIn.status, 201, signedIn.body.toString());
  t.regex(signedIn.headers.get('set-cookie') ?? '', /^mansio=[^;]+; .*HttpOnly; SameSite=Strict$/);
  t.true(signedIn.json.isCurrent);
  const listed = (await (await gateway.fetch('/api/passkeys')).json()) as { id: string; lastUsedAt: string | null }[];
  t.not(listed.find(({ id }) => id === made.id)?.lastUsedAt, null);
  t.is((await gateway.fetch(`/api/passkeys/${made.id}`, { key: gateway.directory.key(BOB, 'app') })).status, 404);
  t.is((await gateway.fetch(`/api/passkeys/${made.id}`, { method: 'DELETE' })).status, 204);
  t.is((await browser.signIn(authenticator.get((await browser.offer()).json))).status, 401);
});

test('a challenge is answered once, and a counter only rises', async (t) => {
  const { browser, authenticator, answer } = await registered(t, 1);
  t.is((await browser.register(answer)).status, 409);
  t.is(
    (await browser.register({ ...new SoftAuthenticator(ORIGIN).create({ ...(await browser.begin()).json }) })).status,
    201,
  );
  const { json: options } = await browser.offer();
  const first = authenticator.get(options);
  t.is((await browser.signIn(first)).status, 201);
  t.is((await browser.signIn(first)).status, 401);
  t.is((await browser.signIn(authenticator.get(options))).status, 401);
  const { json: next } = await browser.offer();
  t.is((await browser.signIn(authenticator.get(next, { counter: 2 }))).status, 401);
  t.is((await browser.signIn(authenticator.get(next))).status, 201);
});

test('a passkey that was registered with an API key proves nothing, and one of a session does that began otherwise', async (t) => {
  const gateway = await startGateway(t);
  const { sessions } = gateway.accountApi;
  const { create } = sessions;
  const proofs: unknown[] = [];
  let isProven = false;
  Object.assign(sessions, {
    isProven: async () => isProven,
    create(...[accountId, browser]: Parameters<typeof create>) {
      proofs.push(browser.proof);
      return create(accountId, browser);
    },
  });
  const own = { Origin: `http://${HOST}`, Cookie: `mansio=${gateway.directory.session(ALICE)}` };
  for (const by of ['key', 'session', 'proven session']) {
    isProven = by === 'proven session';
    const browser = client(gateway, by === 'key' ? {} : own);
    const authenticator = new SoftAuthenticator(ORIGIN);
    const register = by === 'key' ? browser : { begin: browser.beginHere, register: browser.registerHere };
    const made = await register.register(authenticator.create((await register.begin()).json));
    t.is(made.status, 201, made.body.toString());
    const other = client(gateway);
    t.is((await other.signIn(authenticator.get((await other.offer()).json))).status, 201);
  }
  t.deepEqual(proofs, [undefined, undefined, 'passkey']);
});

test('one that does not count signs in again and again, with a challenge each', async (t) => {
  const { browser, authenticator } = await registered(t);
  for (let i = 0; i < 2; i++) {
    const answer = authenticator.get((await browser.offer()).json);
    t.deepEqual([(await browser.signIn(answer)).status, (await browser.signIn(answer)).status], [201, 401]);
  }
});

test('wrong answers are 401 or 400, and change nothing', async (t) => {
  const { browser, authenticator } = await registered(t);
  const lies: readonly Lies[] = [
    { origin: 'http://evil.test' },
    { isVerified: false },
    { userHandle: 'AAAA' },
    { challenge: 'AAAA' },
  ];
  const { json: options } = await browser.offer();
  for (const lie of lies) {
    t.is((await browser.signIn(authenticator.get(options, lie))).status, 401, JSON.stringify(lie));
  }
  t.is((await browser.signIn(new SoftAuthenticator(ORIGIN).get(options, { userHandle: 'AAAA' }))).status, 401);
  t.is((await browser.signIn(authenticator.get(options))).status, 201);
  const wrong = await browser.register(
    new SoftAuthenticator(ORIGIN).create((await browser.begin()).json, { rpId: 'evil.test' }),
  );
  t.deepEqual([wrong.status, Object.keys(wrong.json.errors)], [400, ['response']]);
});

test('another page signs nobody in, and passkeys of one host are not those of another', async (t) => {
  const trusted = { trusted: ['127.0.0.1/32'], publicUrl: 'https://mail.example.test' };
  const gateway = await startGateway(t, trusted);
  const https = { Host: 'mail.example.test', 'X-Forwarded-Proto': 'https' };
  const [local, secured] = [client(gateway), client(gateway, https)];
  const authenticator = new SoftAuthenticator('https://mail.example.test');
  t.is((await secured.register(authenticator.create((await secured.begin()).json))).status, 201);
  const evil = client(gateway, { ...https, Origin: 'https://evil.test' });
  t.is((await evil.signIn(authenticator.get((await secured.offer()).json))).status, 403);
  t.is((await local.signIn(authenticator.get((await local.offer()).json, { origin: ORIGIN }))).status, 401);
  const signedIn = await secured.signIn(authenticator.get((await secured.offer()).json));
  t.regex(signedIn.headers.get('set-cookie') ?? '', /^__Host-mansio=/);
  const other = client(gateway, { Host: 'other.example.test', 'X-Forwarded-Proto': 'https' });
  t.deepEqual((await other.begin()).json.errors, {
    host: ['passkeys work at the host of MANSIO_PUBLIC_URL and under localhost, not at an address or another name'],
  });
});

test('the number of passkeys is bounded', async (t) => {
  const gateway = await startGateway(t);
  const browser = client(gateway);
  const register = async () =>
    (await browser.register(new SoftAuthenticator(ORIGIN).create((await browser.begin()).json))).status;
  // The account has one already, and the fake store takes four.
  t.deepEqual([await register(), await register(), await register(), await register()], [201, 201, 201, 409]);
  t.is(gateway.directory.keys.get(gateway.key)?.accountId, ALICE);
});
