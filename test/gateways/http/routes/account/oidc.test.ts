// Tests sign-ins at an OpenID provider over real sockets: the cookies that a browser gets, and the answers that sign nobody in.
import type { ExecutionContext } from 'ava';
import { CodeFlow } from '../../../../../src/auth/oidc/code-flow.js';
import { KeySet } from '../../../../../src/auth/oidc/key-set.js';
import { createTokenVerifier } from '../../../../../src/auth/oidc/token-verifier.js';
import { rawRequest } from '../../../../support/clients/raw-request.js';
import { startProvider } from '../../../../support/peers/oidc-provider.js';
import test from '../../../../support/test.js';
import { startGateway } from '../../gateway.js';

const HOST = 'localhost:8080';
const ORIGIN = `http://${HOST}`;

async function start(
  t: ExecutionContext,
  options: { readonly publicUrl?: string; readonly trusted?: readonly string[] } = {},
) {
  const provider = await startProvider(t);
  provider.signsIn({ sub: 'anna', email: 'anna@example.test', email_verified: true });
  const log = { debug() {}, warn() {} };
  const { authority } = provider;
  const keySet = new KeySet(authority, { timeoutMs: 20_000 });
  const codeFlow = new CodeFlow({ keySet, clientId: 'web', clientSecret: undefined, timeoutMs: 20_000, log });
  const tokens = createTokenVerifier({ authority, audience: undefined, keySet, log });
  const gateway = await startGateway(t, { codeFlow, tokens, ...options });
  const post = async (path: string, body: unknown, fields: Readonly<Record<string, string>> = {}) => {
    const text = body === undefined ? '' : JSON.stringify(body);
    const head = { Host: HOST, Origin: ORIGIN, 'Content-Type': 'application/json', ...fields };
    const reply = await rawRequest(gateway.port, `POST /api/oidc/${path}`, head, text);
    return { ...reply, json: JSON.parse(reply.body.toString()), cookies: reply.headers.get('set-cookie') ?? '' };
  };
  return {
    gateway,
    provider,
    post,
    /** A browser that comes back from the provider. */
    async browse() {
      const begun = await post('authorization', undefined, { 'Content-Length': '0' });
      t.is(begun.status, 200, begun.body.toString());
      const back = await fetch(begun.json.url, { redirect: 'manual' });
      const { searchParams } = new URL(back.headers.get('location')!);
      const answer = { code: searchParams.get('code'), state: searchParams.get('state') };
      return { begun, answer, Cookie: begun.cookies.split(';')[0]! };
    },
  };
}

test('a browser gets a cookie for the way, and a session when it is back', async (t) => {
  const { post, browse } = await start(t);
  const { begun, answer, Cookie } = await browse();
  t.regex(begun.cookies, /^mansio-oidc=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Strict$/);
  t.is(new URL(begun.json.url).searchParams.get('redirect_uri'), `${ORIGIN}/sign-in/oidc`);
  const signedIn = await post('sessions', answer, { Cookie });
  t.is(signedIn.status, 201, signedIn.body.toString());
  t.true(signedIn.json.isCurrent);
  t.regex(signedIn.cookies, /mansio=[^;]+; [^,]*HttpOnly; SameSite=Strict/);
  t.regex(signedIn.cookies, /mansio-oidc=; Max-Age=0/);
});

test('an answer without the cookie of its sign-in signs nobody in', async (t) => {
  const { post, browse, provider } = await start(t);
  const { answer } = await browse();
  const { Cookie: another } = await browse();
  for (const fields of [{}, { Cookie: another }, { Cookie: `${another}; mansio-oidc=x` }]) {
    const refused = await post('sessions', answer, fields);
    t.is(refused.status, 400);
    t.deepEqual(Object.keys(refused.json.errors), ['state']);
    t.is(refused.cookies, '', 'another tab may be on its way');
  }
  t.deepEqual(provider.exchanges, []);
});

test('another page neither begins nor ends a sign-in', async (t) => {
  const { post, browse } = await start(t);
  const { answer, Cookie } = await browse();
  const Origin = 'https://evil.example';
  t.is((await post('authorization', undefined, { Origin, 'Content-Length': '0' })).status, 403);
  t.is((await post('sessions', answer, { Origin, Cookie })).status, 403);
  t.is(
    (await post('sessions', answer, { Cookie, Host: 'mail.example.test', Origin: 'http://mail.example.test' })).status,
    403,
  );
});

test('a sign-in that fails is over', async (t) => {
  const { post, browse, provider } = await start(t);
  for (const [error, status] of [
    ['invalid_grant', 401],
    ['invalid_client', 502],
  ] as const) {
    const { answer, Cookie } = await browse();
    provider.refuses(error);
    const failed = await post('sessions', answer, { Cookie });
    t.is(failed.status, status);
    t.regex(failed.cookies, /mansio-oidc=; Max-Age=0/);
    if (status === 502) t.regex(failed.json.detail, /invalid_client.*MANSIO_OIDC_CLIENT_ID/);
  }
  provider.signsIn({ email: undefined, email_verified: undefined });
  provider.tell({ sub: 'anna' });
  const { answer, Cookie } = await browse();
  const nobody = await post('sessions', answer, { Cookie });
  t.is(nobody.status, 403);
  t.regex(nobody.json.detail, /no account/);
  await provider.stop();
});

test('providers are told of known hosts alone', async (t) => {
  const { post } = await start(t, { publicUrl: 'https://mail.example.test', trusted: ['127.0.0.1/32'] });
  const begin = (host: string, scheme: 'http' | 'https') =>
    post('authorization', undefined, {
      Host: host,
      Origin: `${scheme}://${host}`,
      'X-Forwarded-Proto': scheme,
      'Content-Length': '0',
    });
  t.is((await begin('127.0.0.1:8080', 'http')).status, 200);
  t.is((await begin('mail.example.test', 'https')).status, 200);
  t.is((await begin('mail.example.test', 'http')).status, 403);
  const unknown = await begin('evil.example', 'https');
  t.is(unknown.status, 400);
  t.deepEqual(Object.keys(unknown.json.errors), ['host']);
});

test('without a provider there is nothing', async (t) => {
  const gateway = await startGateway(t);
  const head = { Host: HOST, Origin: ORIGIN, 'Content-Length': '0' };
  t.is((await rawRequest(gateway.port, 'POST /api/oidc/authorization', head, '')).status, 404);
});
