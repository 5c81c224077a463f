// Tests the code flow against a real OpenID provider, and against one that is made up, which lies.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { ProviderUnavailable } from '../../../src/auth/oidc/bounded-json.js';
import { CodeFlow, type CodeFlowOptions } from '../../../src/auth/oidc/code-flow.js';
import { KeySet } from '../../../src/auth/oidc/key-set.js';
import { startProvider } from '../../support/peers/oidc-provider.js';
import test from '../../support/test.js';

const REDIRECT = 'http://localhost:8080/sign-in/oidc';
const TIMING = { timeoutMs: 20_000, cooldownMs: 0 };

function flowOf(authority: string, more: Partial<CodeFlowOptions> = {}) {
  const warnings: string[] = [];
  const log = { debug() {}, warn: (_fields: object, text: string) => void warnings.push(text) };
  const keySet = new KeySet(authority, TIMING);
  const options = { keySet, clientId: 'web', clientSecret: undefined, timeoutMs: TIMING.timeoutMs, log, ...more };
  return { flow: new CodeFlow(options), warnings };
}

/** Goes to the provider, as a browser does; resolves with what it is sent back with. */
async function browse(url: string) {
  const reply = await fetch(url, { redirect: 'manual' });
  const back = new URL(reply.headers.get('location')!);
  const query = (name: string) => back.searchParams.get(name) ?? '';
  return { back, answer: { code: query('code'), state: query('state'), issuer: undefined } };
}

test('a browser comes back with a code, which proves once who has signed in', async (t) => {
  const provider = await startProvider(t);
  provider.signsIn({ sub: 'anna', email: 'anna@example.test', email_verified: true });
  const { flow } = flowOf(provider.authority);
  const { url, secret } = await flow.begin(REDIRECT);
  const asked = new URL(url).searchParams;
  t.deepEqual([asked.get('scope'), asked.get('response_type')], ['openid profile email', 'code']);
  t.is(asked.get('code_challenge_method'), 'S256');
  t.is(new Set([secret, asked.get('state'), asked.get('nonce'), asked.get('code_challenge')]).size, 4);
  const { back, answer } = await browse(url);
  t.is(back.origin + back.pathname, REDIRECT);
  const ended = await flow.end(secret, answer, REDIRECT);
  t.like(ended, { kind: 'proven', token: { subject: 'anna', email: 'anna@example.test', emailVerified: true } });
  t.is(provider.exchanges[0]?.form['client_id'], 'web');
  t.is(provider.exchanges[0]?.authorization, undefined);
  t.is((await flow.end(secret, answer, REDIRECT)).kind, 'failed', 'the code was used');
});

test('an answer that is not of this browser is foreign, and the provider is not asked', async (t) => {
  const provider = await startProvider(t);
  const { flow } = flowOf(provider.authority);
  const [anns, evils] = [await flow.begin(REDIRECT), await flow.begin(REDIRECT)];
  const { answer } = await browse(evils.url);
  for (const secret of [anns.secret, undefined, '', 'x', `${evils.secret}x`])
    t.is((await flow.end(secret, answer, REDIRECT)).kind, 'foreign', secret);
  const wrongIssuer = { ...answer, issuer: 'https://other.test' };
  t.is((await flow.end(evils.secret, wrongIssuer, REDIRECT)).kind, 'foreign');
  t.deepEqual(provider.exchanges, []);
  const named = { ...answer, issuer: provider.authority };
  t.is((await flow.end(evils.secret, named, REDIRECT)).kind, 'proven');
});

test('a code of another sign-in proves nothing, because the verifier and the nonce are not its own', async (t) => {
  const provider = await startProvider(t);
  const { flow } = flowOf(provider.authority);
  const [anns, evils] = [await flow.begin(REDIRECT), await flow.begin(REDIRECT)];
  const { answer: stolen } = await browse(evils.url);
  const { answer: own } = await browse(anns.url);
  const ended = await flow.end(anns.secret, { ...own, code: stolen.code }, REDIRECT);
  t.is(ended.kind, 'failed');
});

test('a code that is spent, and a refusal of this node, are told apart', async (t) => {
  const provider = await startProvider(t);
  const { flow, warnings } = flowOf(provider.authority);
  for (const [error, expected] of [
    ['invalid_grant', { kind: 'spent' }],
    ['invalid_client', { kind: 'failed', error: 'invalid_client' }],
    ['<script>', { kind: 'failed', error: undefined }],
  ] as const) {
    const { url, secret } = await flow.begin(REDIRECT);
    const { answer } = await browse(url);
    provider.refuses(error);
    t.deepEqual(await flow.end(secret, answer, REDIRECT), expected);
  }
  t.is(warnings.length, 2);
});

test('a provider that is down is for later', async (t) => {
  const provider = await startProvider(t);
  const { flow } = flowOf(provider.authority);
  const { url, secret } = await flow.begin(REDIRECT);
  const { answer } = await browse(url);
  await provider.stop();
  await t.throwsAsync(flow.end(secret, answer, REDIRECT), { instanceOf: ProviderUnavailable });
  await t.throwsAsync(flowOf(provider.authority).flow.begin(REDIRECT), { instanceOf: ProviderUnavailable });
});

interface MadeUp {
  readonly discovery?: Readonly<Record<string, unknown>>;
  /** Claims of the ID token besides those of a good one; undefined removes one. */
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly withoutIdToken?: boolean;
}

/** A provider that answers as the test wants. */
async function madeUp(t: ExecutionContext, { discovery = {}, claims = {}, withoutIdToken = false }: MadeUp) {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const exchanges: { readonly authorization: string | undefined; readonly form: URLSearchParams }[] = [];
  const kept = { nonce: '' };
  let authority = '';
  const answers: Readonly<Record<string, (body: string, authorization: string | undefined) => Promise<unknown>>> = {
    '/.well-known/openid-configuration': async () => ({
      issuer: authority,
      jwks_uri: `${authority}/keys`,
      authorization_endpoint: `${authority}/authorize?tenant=1`,
      token_endpoint: `${authority}/token`,
      ...discovery,
    }),
    '/keys': async () => ({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] }),
    '/token': async (body, authorization) => {
      exchanges.push({ authorization, form: new URLSearchParams(body) });
      const good = { iss: authority, aud: 'web', sub: 'anna', nonce: kept.nonce };
      const said = Object.entries({ ...good, exp: Math.floor(Date.now() / 1000) + 600, ...claims });
      const payload = Object.fromEntries(said.filter(([, value]) => value !== undefined));
      const token = await new SignJWT(payload).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
      return { access_token: 'opaque', token_type: 'Bearer', ...(!withoutIdToken && { id_token: token }) };
    },
  };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const answer = await answers[request.url ?? '']?.(body, request.headers.authorization);
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => server.close());
  authority = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    authority,
    exchanges,
    /** Signs in, with an answer of the made-up provider. */
    async signIn(flow: CodeFlow, more: { readonly issuer?: string } = {}) {
      const { url, secret } = await flow.begin(REDIRECT);
      const asked = new URL(url).searchParams;
      kept.nonce = asked.get('nonce')!;
      const answer = { code: 'C', state: asked.get('state')!, issuer: undefined, ...more };
      return { url, ended: await flow.end(secret, answer, REDIRECT) };
    },
  };
}

test('a secret goes into the header, or into the body where the provider wants that', async (t) => {
  const secret = { clientId: 'web', clientSecret: 'a b:ü' };
  const usual = await madeUp(t, {});
  const { url, ended } = await usual.signIn(flowOf(usual.authority, secret).flow);
  t.is(ended.kind, 'proven');
  t.is(new URL(url).searchParams.get('tenant'), '1');
  const [exchange] = usual.exchanges;
  const header = Buffer.from(exchange!.authorization!.replace('Basic ', ''), 'base64').toString();
  t.is(header, 'web:a+b%3A%C3%BC');
  t.is(exchange!.form.get('client_secret'), null);
  t.is(exchange!.form.get('redirect_uri'), REDIRECT);
  const other = await madeUp(t, { discovery: { token_endpoint_auth_methods_supported: ['client_secret_post'] } });
  t.is((await other.signIn(flowOf(other.authority, secret).flow)).ended.kind, 'proven');
  t.is(other.exchanges[0]?.form.get('client_secret'), 'a b:ü');
  t.is(other.exchanges[0]?.authorization, undefined);
});

test('a token that is not of this sign-in proves nothing', async (t) => {
  const lies: readonly MadeUp[] = [
    { claims: { nonce: 'another' } },
    { claims: { nonce: undefined } },
    { claims: { aud: 'other' } },
    { claims: { aud: ['web', 'other'] } },
    { claims: { azp: 'other' } },
    { claims: { iss: 'https://other.test' } },
    { claims: { exp: 1 } },
    { withoutIdToken: true },
  ];
  for (const lie of lies) {
    const provider = await madeUp(t, lie);
    const { ended } = await provider.signIn(flowOf(provider.authority).flow);
    t.is(ended.kind, 'failed', JSON.stringify(lie));
  }
  const several = await madeUp(t, { claims: { aud: ['web', 'other'], azp: 'web' } });
  t.is((await several.signIn(flowOf(several.authority).flow)).ended.kind, 'proven');
});

test('a provider that says that it names itself must do so', async (t) => {
  const provider = await madeUp(t, { discovery: { authorization_response_iss_parameter_supported: true } });
  const { flow } = flowOf(provider.authority);
  t.is((await provider.signIn(flow)).ended.kind, 'foreign');
  t.is((await provider.signIn(flow, { issuer: provider.authority })).ended.kind, 'proven');
});

test('a provider without safe endpoints signs nobody in', async (t) => {
  for (const endpoint of [undefined, 'http://login.example.org/authorize', 'javascript:alert(1)']) {
    const provider = await madeUp(t, { discovery: { authorization_endpoint: endpoint } });
    await t.throwsAsync(flowOf(provider.authority).flow.begin(REDIRECT), { instanceOf: ProviderUnavailable });
  }
});
