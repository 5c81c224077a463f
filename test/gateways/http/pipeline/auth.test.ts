// Tests tokens of the identity provider over HTTP: what a client sees of each outcome, and that tokens never reach the
// directory of keys, nor keys the provider.

import { ProviderUnavailable } from '../../../../src/auth/oidc/bounded-json.js';
import type { TokenVerifier, UserClaims, VerifiedToken } from '../../../../src/auth/oidc/token-verifier.js';
import test from '../../../support/test.js';
import { ALICE } from '../fakes.js';
import { startGateway } from '../gateway.js';

const TOKEN = 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln';
const GOOD: VerifiedToken = {
  issuer: 'https://login.test',
  subject: ALICE,
  email: 'alice@example.test',
  emailVerified: true,
  name: 'Alice',
  expiresAt: 0,
};

function verifier(answer: () => VerifiedToken | undefined, told: () => Partial<UserClaims> = () => ({})) {
  const asked: string[] = [];
  const tokens: TokenVerifier = {
    async verify(token) {
      asked.push(token);
      return answer();
    },
    userInfo: async () => ({ email: undefined, emailVerified: undefined, name: undefined, ...told() }),
  };
  return { asked, tokens };
}

test('a token opens everything of its account but the internal endpoint', async (t) => {
  const { asked, tokens } = verifier(() => GOOD);
  const gateway = await startGateway(t, { tokens });
  for (const path of [
    '/api/emails',
    '/api/external/emails',
    '/api/profile',
    '/api/preferences',
    '/api/smtp-credentials',
  ]) {
    t.is((await gateway.fetch(path, { key: TOKEN })).status, 200, path);
  }
  const internal = await gateway.fetch('/api/internal-notifications', { key: TOKEN, method: 'POST', json: {} });
  t.is(internal.status, 403);
  t.is(asked.length, 6);
  const other = await gateway.fetch('/api/emails', { headers: { authorization: `ApiKey ${TOKEN}` } });
  t.is(other.status, 200, 'both forms of the header are read alike');
});

test('each kind of credential has its own judge', async (t) => {
  const { asked, tokens } = verifier(() => GOOD);
  const gateway = await startGateway(t, { tokens });
  t.is((await gateway.fetch('/api/emails')).status, 200);
  for (const key of ['mansio_abcdefghij_x', 'ey', 'a.b.c', 'eyJh.b', 'eyJh.b.c.d', 'eyJh.b.c.d.e']) {
    t.is((await gateway.fetch('/api/emails', { key })).status, 401, key);
  }
  t.deepEqual(asked, []);
  // A credential in the form of a token is never looked up as a key.
  gateway.directory.keys.set(TOKEN, gateway.directory.keys.get(gateway.key)!);
  const without = await startGateway(t);
  without.directory.keys.set(TOKEN, without.directory.keys.get(without.key)!);
  t.is((await without.fetch('/api/emails', { key: TOKEN })).status, 401, 'no provider, no tokens');
});

test('bad tokens are 401, logins without an account 403, and a provider that is down 503', async (t) => {
  let answer: () => VerifiedToken | undefined = () => undefined;
  const { tokens } = verifier(() => answer());
  const gateway = await startGateway(t, { tokens });
  const get = () => gateway.fetch('/api/emails', { key: TOKEN });
  const invalid = await get();
  t.is(invalid.status, 401);
  t.is(invalid.headers.get('www-authenticate'), 'Bearer error="invalid_token"');
  answer = () => ({ ...GOOD, subject: undefined });
  t.is((await get()).status, 401, 'nobody’s');
  answer = () => ({ ...GOOD, email: undefined });
  const refused = await get();
  t.is(refused.status, 403);
  t.regex(((await refused.json()) as { detail: string }).detail, /no account for this login yet/);
  answer = () => {
    throw new ProviderUnavailable('down');
  };
  const down = await get();
  t.is(down.status, 503);
  t.truthy(down.headers.get('retry-after'));
  t.is((await gateway.fetch('/api/emails')).status, 200, 'keys go on');
  answer = () => GOOD;
  gateway.directory.down = true;
  t.is((await get()).status, 503);
  t.false(JSON.stringify(gateway.log.lines).includes(TOKEN));
});

test('a token that is too long is not looked at', async (t) => {
  const { asked, tokens } = verifier(() => GOOD);
  const gateway = await startGateway(t, { tokens });
  t.is((await gateway.fetch('/api/emails', { key: `eyJh.${'A'.repeat(9_000)}.c` })).status, 401);
  t.is((await gateway.fetch('/api/emails', { key: `eyJh.${'A'.repeat(20_000)}.c` })).status, 431);
  t.deepEqual(asked, []);
});

test('the provider is asked for the email address that a first login’s token lacks', async (t) => {
  let told: () => Partial<UserClaims> = () => ({ email: 'alice@example.test', emailVerified: true });
  const nameless: VerifiedToken = { ...GOOD, email: undefined };
  const { tokens } = verifier(
    () => nameless,
    () => told(),
  );
  const gateway = await startGateway(t, { tokens });
  const get = () => gateway.fetch('/api/emails', { key: TOKEN });
  t.is((await get()).status, 200);
  told = () => ({});
  t.is((await get()).status, 403);
  told = () => {
    throw new ProviderUnavailable('down');
  };
  t.is((await get()).status, 503);
});
