// Tests tokens of a real OpenID provider, valid ones and every kind of invalid one; keys that rotate; a provider that is down,
// slow or lies.
import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { CompactSign, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { ProviderUnavailable } from '../../../src/auth/oidc/bounded-json.js';
import { createTokenVerifier, isToken } from '../../../src/auth/oidc/token-verifier.js';
import { startProvider } from '../../support/peers/oidc-provider.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';

const log = { debug() {} };
const MINUTE = 60_000;

/** Returns a verifier whose keys age by a clock of the test. */
function verifierOf(authority: string, audience?: string, timeoutMs = 20_000) {
  const clock = { now: 1_000_000 };
  const timing = { now: () => clock.now, timeoutMs };
  return { clock, ...createTokenVerifier({ authority, audience, timing, log }) };
}

const seconds = () => Math.floor(Date.now() / 1000);
const segment = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Starts a fake provider, which answers by path and records what it was asked. */
async function madeUp(t: ExecutionContext, answer: (base: string) => Record<string, RequestListener | unknown>) {
  const asked: string[] = [];
  let answers: Record<string, RequestListener | unknown> = {};
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const found = answers[request.url ?? ''];
    if (typeof found === 'function') (found as RequestListener)(request, response);
    else if (found === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  answers = answer(base);
  return { base, asked };
}

const DISCOVERY = '/.well-known/openid-configuration';

test('a good token says who its user is', async (t) => {
  const provider = await startProvider(t);
  const { verify } = verifierOf(provider.authority);
  const exp = seconds() + 100;
  t.deepEqual(await verify(await provider.token({ name: 'Anna', exp })), {
    issuer: provider.authority,
    subject: 'anna',
    email: 'anna@example.test',
    emailVerified: true,
    name: 'Anna',
    expiresAt: exp * 1000,
  });
  const says = async (claims: object) => verify(await provider.token({ ...claims }));
  t.like(await says({ email_verified: false }), { emailVerified: false });
  t.like(await says({ email_verified: 'true' }), { emailVerified: true });
  t.like(await says({ email_verified: 1 }), { emailVerified: false });
  t.like(await says({ email_verified: undefined, name: 7, email: '' }), {
    emailVerified: undefined,
    name: undefined,
    email: undefined,
  });
  const nameidentifier = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/nameidentifier';
  t.like(await says({ sub: undefined, [nameidentifier]: 'by-name' }), { subject: 'by-name' });
  for (const sub of [undefined, '', 7, { a: 1 }, 'x'.repeat(256), 'a\0', 'a\ud800'])
    t.like(await says({ sub }), { subject: undefined });
});

test('every kind of asymmetric key is taken', async (t) => {
  const provider = await startProvider(t);
  const { verify } = verifierOf(provider.authority);
  for (const alg of ['RS512', 'PS256', 'ES256', 'ES384', 'EdDSA']) await provider.addKey(alg, alg);
  for (const alg of ['RS512', 'PS256', 'ES256', 'ES384', 'EdDSA']) {
    t.like(await verify(await provider.token({}, alg)), { subject: 'anna' }, alg);
  }
});

test('a token must be of the issuer, for us, and valid now', async (t) => {
  const provider = await startProvider(t);
  const { verify } = verifierOf(provider.authority, 'mansio');
  const good = { aud: 'mansio' };
  t.like(await verify(await provider.token(good)), { subject: 'anna' });
  t.like(await verify(await provider.token({ aud: ['other', 'mansio'] })), { subject: 'anna' });
  t.like(await verify(await provider.token({ ...good, exp: seconds() - 1, nbf: seconds() + 2 })), { subject: 'anna' });
  const bad: Record<string, unknown>[] = [
    { aud: 'other' },
    { aud: undefined },
    { aud: ['mansio2'] },
    { ...good, iss: 'https://evil.test' },
    { ...good, iss: `${provider.authority}/` },
    { ...good, iss: undefined },
    { ...good, exp: seconds() - 60 },
    { ...good, exp: undefined },
    { ...good, exp: 'tomorrow' },
    { ...good, nbf: seconds() + 60 },
    { ...good, nbf: 'now' },
  ];
  for (const claims of bad) t.is(await verify(await provider.token(claims)), undefined, JSON.stringify(claims));
});

test('what was not signed by the provider is nothing, whatever its header says', async (t) => {
  const provider = await startProvider(t);
  const { verify } = verifierOf(provider.authority);
  const published = provider.keys()[0]!;
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const own = { ...(await exportJWK(publicKey)), kid: 'first', alg: 'RS256' };
  const claims = { iss: provider.authority, sub: 'anna', exp: seconds() + 100 };
  let evilAsked = 0;
  const evil = await madeUp(t, () => ({
    '/keys': ((_request, response) => {
      evilAsked++;
      response.end(JSON.stringify({ keys: [own] }));
    }) as RequestListener,
  }));
  const sign = (header: object) =>
    new SignJWT({ ...claims }).setProtectedHeader({ alg: 'RS256', ...header }).sign(privateKey);
  const good = await provider.token();
  const [head = '', body = '', signature = ''] = good.split('.');
  const pem = Buffer.from(JSON.stringify(published));
  const hmac = (secret: Uint8Array) =>
    new SignJWT({ ...claims }).setProtectedHeader({ alg: 'HS256', kid: 'first' }).sign(secret);
  const exported = createPublicKey({ key: { ...published } as JsonWebKey, format: 'jwk' }).export({
    type: 'spki',
    format: 'pem',
  });
  const tokens = {
    none: `${segment({ alg: 'none' })}.${segment(claims)}.`,
    'none with a signature': `${segment({ alg: 'none', kid: 'first' })}.${segment(claims)}.${signature}`,
    'None in another case': `${segment({ alg: 'nOnE' })}.${segment(claims)}.`,
    'HS256 by the public key, as JSON': await hmac(pem),
    'HS256 by the public key, as PEM': await hmac(Buffer.from(exported)),
    'HS256 by the modulus': await hmac(Buffer.from(String(published['n']), 'base64url')),
    'own key under the name of theirs': await sign({ kid: 'first' }),
    'own key without a name': await sign({}),
    'own key in jwk': await sign({ kid: 'first', jwk: own }),
    'own keys by jku': await sign({ kid: 'x', jku: `${evil.base}/keys` }),
    'own keys by x5u': await sign({ kid: 'first', x5u: `${evil.base}/keys` }),
    'odd kid': await sign({ kid: '../../dev/null' }),
    'kid that is no text': `${segment({ alg: 'RS256', kid: { a: 1 } })}.${body}.${signature}`,
    'claims changed': `${head}.${segment({ ...claims, sub: 'bob' })}.${signature}`,
    'signature cut': `${head}.${body}.${signature.slice(0, -4)}`,
    'no signature': `${head}.${body}.`,
    'header that is no object': `${Buffer.from('"x"').toString('base64url')}.${body}.${signature}`,
    'critical extension': `${segment({ alg: 'RS256', kid: 'first', crit: ['x'], x: 1 })}.${body}.${signature}`,
    'payload not encoded': `${segment({ alg: 'RS256', kid: 'first', crit: ['b64'], b64: false })}.${body}.${signature}`,
    'payload that is no object': `${head}.${Buffer.from('[]').toString('base64url')}.${signature}`,
    'not base64': 'ey%%.e30.x',
    'five segments': `${head}.${body}.${signature}.x.y`,
    long: `${head}.${'A'.repeat(7_000)}.${signature}`,
  };
  for (const [name, token] of Object.entries(tokens)) t.is(await verify(token), undefined, name);
  t.is(evilAsked, 0, 'a header names no key');
  t.like(await verify(good), { subject: 'anna' });
});

test('an API key has not the form of a token', (t) => {
  t.false(isToken(`mansio_abcdefghij_${'A'.repeat(43)}`));
  t.false(isToken('eyJhbGciOiJub25lIn0'));
  t.true(isToken('eyJhbGciOiJub25lIn0.e30.'));
});

test('a new key is found at once, a removed one is refused once the keys are fetched again', async (t) => {
  const provider = await startProvider(t);
  const { verify, clock } = verifierOf(provider.authority);
  const old = await provider.token();
  t.truthy(await verify(old));
  await provider.addKey('second');
  const fresh = await provider.token({}, 'second');
  t.truthy(await verify(fresh), 'however fresh the keys are');
  await provider.addKey('third');
  const later = await provider.token({}, 'third');
  t.is(await verify(later), undefined, 'not twice within seconds');
  clock.now += 6_000;
  t.truthy(await verify(later));
  t.truthy(await verify(old));
  await provider.keepOnly('second');
  t.truthy(await verify(old), 'remembered');
  clock.now += 6 * MINUTE;
  t.truthy(await verify(fresh));
  t.is(await verify(old), undefined);
});

test('a token without a key id is tried with each key of its kind', async (t) => {
  const keys = await Promise.all([1, 2, 3].map(() => generateKeyPair('ES256', { extractable: true })));
  const jwks = await Promise.all(keys.map(({ publicKey }) => exportJWK(publicKey)));
  const { base } = await madeUp(t, (url) => ({
    [DISCOVERY]: { issuer: url, jwks_uri: `${url}/keys` },
    '/keys': { keys: [{ kty: 'unknown' }, ...jwks.slice(0, 2)] },
  }));
  const { verify } = verifierOf(base);
  const sign = (n: number) =>
    new SignJWT({ sub: `user-${n}`, iss: base, exp: seconds() + 60 })
      .setProtectedHeader({ alg: 'ES256' })
      .sign(keys[n]!.privateKey);
  t.like(await verify(await sign(0)), { subject: 'user-0' });
  t.like(await verify(await sign(1)), { subject: 'user-1' });
  t.is(await verify(await sign(2)), undefined);
});

test('unknown key ids do not make us ask more often than every few seconds', async (t) => {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(publicKey);
  const { base, asked } = await madeUp(t, (url) => ({
    [DISCOVERY]: { issuer: url, jwks_uri: `${url}/keys` },
    '/keys': { keys: [{ ...jwk, kid: 'known' }] },
  }));
  const { verify, clock } = verifierOf(base);
  const sign = (kid: string) =>
    new SignJWT({ sub: 'anna', iss: base, exp: seconds() + 60 })
      .setProtectedHeader({ alg: 'ES256', kid })
      .sign(privateKey);
  await Promise.all(Array.from({ length: 20 }, async () => verify(await sign('known'))));
  t.is(asked.length, 2, 'one discovery, one set of keys');
  for (let i = 0; i < 20; i++) t.is(await verify(await sign(`unknown-${i}`)), undefined);
  t.is(asked.length, 4, 'once more, whether there is a new key');
  clock.now += 6_000;
  await Promise.all(Array.from({ length: 20 }, async (_, i) => verify(await sign(`other-${i}`))));
  t.is(asked.length, 6);
  clock.now += 6_000;
  for (let i = 0; i < 20; i++) await verify(await sign('known'));
  t.is(asked.length, 6, 'known keys ask for nothing');
});

test('while the provider is down known keys work, others cannot be judged; then it is asked again', async (t) => {
  const provider = await startProvider(t);
  const { verify, clock } = verifierOf(provider.authority);
  await provider.addKey('second');
  const [good, other] = [await provider.token(), await provider.token({}, 'second')];
  await provider.stop();
  await t.throwsAsync(verify(good), { instanceOf: ProviderUnavailable });
  await provider.start();
  await t.throwsAsync(verify(good), { instanceOf: ProviderUnavailable }, 'not asked again at once');
  clock.now += 6_000;
  t.truthy(await verify(good));
  await provider.addKey('third');
  const third = await provider.token({}, 'third');
  await provider.stop();
  clock.now += 6 * MINUTE;
  t.truthy(await verify(good));
  t.truthy(await verify(other));
  await t.throwsAsync(verify(third), { instanceOf: ProviderUnavailable });
  clock.now += 25 * 60 * MINUTE;
  await t.throwsAsync(verify(good), { instanceOf: ProviderUnavailable }, 'keys of yesterday are no keys');
  await provider.start();
  clock.now += 6_000;
  t.truthy(await verify(third));
});

test('a provider that does not answer as one is no provider', async (t) => {
  const answers: Record<string, (base: string) => Record<string, RequestListener | unknown>> = {
    'another issuer': () => ({ [DISCOVERY]: { issuer: 'https://evil.test', jwks_uri: 'https://evil.test/keys' } }),
    'no issuer': (base) => ({ [DISCOVERY]: { jwks_uri: `${base}/keys` } }),
    'no keys': (base) => ({ [DISCOVERY]: { issuer: base } }),
    'keys without TLS': (base) => ({ [DISCOVERY]: { issuer: base, jwks_uri: 'http://keys.example.test/' } }),
    'keys in a file': (base) => ({ [DISCOVERY]: { issuer: base, jwks_uri: 'file:///etc/passwd' } }),
    'keys missing': (base) => ({ [DISCOVERY]: { issuer: base, jwks_uri: `${base}/keys` } }),
    'keys no list': (base) => ({ [DISCOVERY]: { issuer: base, jwks_uri: `${base}/keys` }, '/keys': { keys: 'x' } }),
    'keys not objects': (base) => ({ [DISCOVERY]: { issuer: base, jwks_uri: `${base}/keys` }, '/keys': { keys: [1] } }),
    'too many keys': (base) => ({
      [DISCOVERY]: { issuer: base, jwks_uri: `${base}/keys` },
      '/keys': { keys: Array(101).fill({ kty: 'oct' }) },
    }),
    nesting: (base) => ({
      [DISCOVERY]: { issuer: base, jwks_uri: `${base}/keys`, more: JSON.parse('['.repeat(1_000) + ']'.repeat(1_000)) },
      '/keys': { keys: [] },
    }),
    array: () => ({ [DISCOVERY]: [] }),
    'no JSON': () => ({ [DISCOVERY]: ((_, response) => response.end('<html>')) as RequestListener }),
    redirect: () => ({
      [DISCOVERY]: ((_, response) => response.writeHead(302, { location: '/other' }).end()) as RequestListener,
    }),
    endless: () => ({
      [DISCOVERY]: ((_, response) => {
        const more = () => {
          while (response.writable && response.write(Buffer.alloc(65_536, 0x20)));
        };
        response.on('drain', more);
        more();
      }) as RequestListener,
    }),
    silent: () => ({ [DISCOVERY]: (() => {}) as RequestListener }),
  };
  const token = `${segment({ alg: 'RS256', kid: 'x' })}.${segment({ sub: 'anna' })}.AAAA`;
  for (const [name, answer] of Object.entries(answers)) {
    const { base } = await madeUp(t, answer);
    await t.throwsAsync(verifierOf(base, undefined, 1_000).verify(token), { instanceOf: ProviderUnavailable }, name);
  }
});

test('an issuer may end in a slash', async (t) => {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(publicKey);
  const { base } = await madeUp(t, (url) => ({
    [DISCOVERY]: { issuer: `${url}/`, jwks_uri: `${url}/keys` },
    '/keys': { keys: [jwk] },
  }));
  const { verify } = verifierOf(base);
  const sign = (iss: string) =>
    new SignJWT({ sub: 'anna', iss, exp: seconds() + 60 }).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
  t.like(await verify(await sign(`${base}/`)), { subject: 'anna', issuer: `${base}/` });
  t.is(await verify(await sign(base)), undefined);
});

const USER_INFO = '/userinfo';

/** Starts a provider with a UserInfo endpoint, which records what it was shown. */
async function withUserInfo(t: ExecutionContext, respond: RequestListener, timeoutMs?: number) {
  const shown: (string | undefined)[] = [];
  const provider = await madeUp(t, (base) => ({
    [DISCOVERY]: { issuer: base, jwks_uri: `${base}/keys`, userinfo_endpoint: base + USER_INFO },
    '/keys': { keys: [] },
    [USER_INFO]: ((request, response) => {
      shown.push(request.headers.authorization);
      respond(request, response);
    }) as RequestListener,
  }));
  return { shown, ...verifierOf(provider.base, undefined, timeoutMs) };
}

const json =
  (value: unknown): RequestListener =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };
const NO_CLAIMS = { email: undefined, emailVerified: undefined, name: undefined };

test('the UserInfo endpoint is shown the token once for everybody who asks', async (t) => {
  const anna = { sub: 'anna', email: 'anna@example.test', email_verified: true, name: 'Anna' };
  const { userInfo, shown } = await withUserInfo(t, json(anna));
  const answers = await Promise.all([userInfo('token', 'anna'), userInfo('token', 'anna')]);
  for (const answer of [...answers, await userInfo('token', 'anna')]) {
    t.deepEqual(answer, { email: 'anna@example.test', emailVerified: true, name: 'Anna' });
  }
  t.deepEqual(shown, ['Bearer token']);
  t.deepEqual(await userInfo('other', 'ben'), NO_CLAIMS, 'the claims of somebody else');
});

test('a UserInfo endpoint that refuses the token tells nothing, and is not asked again', async (t) => {
  const { userInfo, shown } = await withUserInfo(t, (_request, response) => response.writeHead(401).end());
  t.deepEqual(await userInfo('token', 'anna'), NO_CLAIMS);
  t.deepEqual(await userInfo('token', 'anna'), NO_CLAIMS);
  t.is(shown.length, 1);
});

test('a UserInfo endpoint that fails, hangs or floods is for later', async (t) => {
  const good = json({ sub: 'anna', email: 'anna@example.test' });
  let respond: RequestListener = (_request, response) => response.writeHead(500).end();
  const { userInfo } = await withUserInfo(t, (...asked) => respond(...asked));
  const isForLater = (asked: Promise<unknown>) => t.throwsAsync(asked, { instanceOf: ProviderUnavailable });
  await isForLater(userInfo('token', 'anna'));
  respond = json({ sub: 'anna', email: 'x'.repeat(600_000) });
  await isForLater(userInfo('token', 'anna'));
  respond = good;
  t.like(await userInfo('token', 'anna'), { email: 'anna@example.test' });
  // Only an endpoint that hangs has little time, in which a busy machine may not manage a good answer: it is asked until it does.
  const { userInfo: inHaste, clock } = await withUserInfo(t, (...asked) => respond(...asked), 500);
  respond = () => {};
  await isForLater(inHaste('token', 'anna'));
  respond = good;
  await until(async () => {
    clock.now += 6_000;
    return (await inHaste('token', 'anna').catch(() => undefined))?.email === 'anna@example.test';
  });
});

test('a provider without a UserInfo endpoint, or with an unsafe one, tells nothing', async (t) => {
  for (const endpoint of [undefined, 'http://elsewhere.test/userinfo', 7]) {
    const { base } = await madeUp(t, (own) => ({
      [DISCOVERY]: { issuer: own, jwks_uri: `${own}/keys`, userinfo_endpoint: endpoint },
      '/keys': { keys: [] },
    }));
    t.deepEqual(await verifierOf(base).userInfo('token', 'anna'), NO_CLAIMS);
  }
});

test('an end beyond all times is none', async (t) => {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(publicKey);
  const { base } = await madeUp(t, (url) => ({
    [DISCOVERY]: { issuer: url, jwks_uri: `${url}/keys` },
    '/keys': { keys: [jwk] },
  }));
  const { verify } = verifierOf(base);
  const sign = (exp: string) =>
    new CompactSign(Buffer.from(`{"sub":"anna","iss":"${base}","exp":${exp}}`))
      .setProtectedHeader({ alg: 'ES256' })
      .sign(privateKey);
  for (const exp of ['1e309', '1e308', '8640000000001']) t.is(await verify(await sign(exp)), undefined, exp);
  t.like(await verify(await sign('8640000000000')), { subject: 'anna' });
});
