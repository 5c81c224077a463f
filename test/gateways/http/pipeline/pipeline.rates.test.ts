// Tests rate limits: whom a request counts for, what a refusal says, and that no client exhausts the rate of another.

import type { Principal } from '../../../../src/actors/directory/protocol.js';
import { Rates } from '../../../../src/auth/rates.js';
import { networkOf } from '../../../../src/net/tcp/ip-address.js';
import test from '../../../support/test.js';
import { ALICE, BOB } from '../fakes.js';
import { startGateway } from '../gateway.js';

const limits = (global: number, authentication = 0, write = 0, session = 0) => ({
  global,
  authentication,
  write,
  session,
});
const principal = (accountId: string, sessionEnd?: number): Principal => ({
  ...{ accountId, email: 'a@example.test', scopes: ['app'], keyId: `key of ${accountId}`, serviceWide: false },
  ...(sessionEnd !== undefined && { sessionEnd }),
});
const DATE_NOW = Date.now;
const TRUSTED = ['127.0.0.1/32'];
const from = (address: string) => ({ 'x-forwarded-for': address });

test('requests of an account count together, whichever keys it uses; others are not concerned', async (t) => {
  const gateway = await startGateway(t, { rates: new Rates(limits(3)) });
  const second = gateway.directory.key(ALICE, 'api:read');
  const first = await gateway.fetch('/api/emails');
  t.is(first.status, 200);
  t.is(first.headers.get('ratelimit-policy'), '"global";q=3;w=60');
  t.is(first.headers.get('ratelimit'), '"global";r=2;t=60');
  t.is((await gateway.fetch('/api/emails', { key: second })).status, 200);
  t.is((await gateway.fetch('/api/emails/x')).status, 404, 'a refused request counts');
  const refused = await gateway.fetch('/api/emails', { key: second });
  t.is(refused.status, 429);
  t.is(refused.headers.get('content-type'), 'application/problem+json');
  const seconds = Number(refused.headers.get('retry-after'));
  t.true(Number.isInteger(seconds) && seconds > 0 && seconds <= 60, `${seconds}`);
  t.regex(refused.headers.get('ratelimit')!, /^"global";r=0;t=\d+$/);
  t.like(await refused.json(), { status: 429, title: 'Too Many Requests' });
  t.is((await gateway.fetch('/api/emails', { key: gateway.directory.key(BOB, 'app') })).status, 200);
  t.is((await gateway.fetch('/api/config', { key: null })).status, 200, 'public endpoints count by address');
});

test.serial('a clock that is set an hour on or back neither ends a minute nor makes it longer', async (t) => {
  const rates = new Rates(limits(2));
  const count = () => rates.tally('192.0.2.1').countAnonymous('plain');
  t.teardown(() => {
    Date.now = DATE_NOW;
  });
  t.is(await count(), 0);
  t.is(await count(), 0);
  for (const shift of [3_600_000, -3_600_000]) {
    Date.now = () => DATE_NOW() + shift;
    const seconds = await count();
    t.true(seconds > 0 && seconds <= 60, `${seconds}`);
  }
});

test('classes count for themselves and globally', async (t) => {
  const gateway = await startGateway(t, { rates: new Rates(limits(7, 2, 1)) });
  const write = () => gateway.fetch('/api/emails/bulk/delete', { method: 'POST', json: { emailIds: [] } });
  const keys = () => gateway.fetch('/api/smtp-credentials');
  const written = await write();
  t.is(written.status, 200);
  t.is(written.headers.get('ratelimit-policy'), '"global";q=7;w=60, "write";q=1;w=60');
  t.is((await write()).status, 429);
  t.is((await keys()).status, 200);
  t.is((await gateway.fetch('/api/smtp-credentials', { method: 'POST', json: {} })).status, 400, 'no write');
  t.is((await keys()).status, 429);
  t.is((await gateway.fetch('/api/emails')).status, 200);
  t.is((await gateway.fetch('/api/emails', { method: 'HEAD' })).status, 200);
  t.is((await gateway.fetch('/api/emails')).status, 429, 'all seven are used up, refused ones included');
});

test('0 is no limit', async (t) => {
  const gateway = await startGateway(t, { rates: new Rates(limits(0, 0, 1)) });
  for (let i = 0; i < 5; i++) {
    const response = await gateway.fetch('/api/emails');
    t.is(response.status, 200);
    t.false(response.headers.has('ratelimit'));
  }
});

test('health is never limited, nor are preflights', async (t) => {
  const gateway = await startGateway(t, { rates: new Rates(limits(1)) });
  for (let i = 0; i < 4; i++) {
    t.is((await gateway.fetch('/healthz', { key: null })).status, 200);
    t.is((await gateway.fetch('/api/emails', { key: null, method: 'OPTIONS' })).status, 204);
  }
});

test('without a credential it is the address that counts, of IPv6 the /64', async (t) => {
  const gateway = await startGateway(t, { rates: new Rates(limits(2)), trusted: TRUSTED });
  const ask = async (address: string, path = '/api/config') =>
    (await gateway.fetch(path, { key: null, headers: from(address) })).status;
  t.is(await ask('192.0.2.1'), 200);
  t.is(await ask('192.0.2.1', '/api/emails'), 401);
  t.is(await ask('192.0.2.1', '/api/emails'), 429);
  t.is(await ask('192.0.2.1', '/nothing'), 429);
  t.is(await ask('192.0.2.2', '/nothing'), 404);
  t.is(await ask('2001:db8:0:1::1'), 200);
  t.is(await ask('2001:db8:0:1:ffff::2'), 200);
  t.is(await ask('2001:db8:0:1::3'), 429);
  t.is(await ask('2001:db8:0:2::1'), 200);
});

test('guessing keys is limited, and shuts out nobody who has the right one', async (t) => {
  const gateway = await startGateway(t, { rates: new Rates(limits(3)), trusted: TRUSTED });
  const { directory } = gateway;
  const here = from('192.0.2.1');
  const ask = async (key: string, headers = here) => (await gateway.fetch('/api/emails', { key, headers })).status;
  for (let i = 0; i < 3; i++) t.is(await ask(`guess-${i}`), 401);
  t.is(await ask('guess-3'), 429);
  const right = directory.key(BOB, 'app');
  t.is(await ask(right), 200, 'never shown from there before');
  t.is(await ask(gateway.key), 200);
  t.is(await ask('guess-4'), 429);
  t.is(await ask('guess-4', from('192.0.2.9')), 401);
  directory.revoke(right);
  t.is(await ask(right), 429, 'a wrong one like any other now');
  const open = await gateway.fetch('/api/config', { key: null, headers: here });
  t.is(open.status, 200, 'public endpoints are not concerned');
});

test('the guard of the mail protocols learns of wrong credentials, and of no others', async (t) => {
  const failures: string[] = [];
  const guard = { recordFailure: (address: string) => void failures.push(address) };
  const gateway = await startGateway(t, { rates: new Rates(limits(0), { guard }), trusted: TRUSTED });
  const headers = from('192.0.2.1');
  t.is((await gateway.fetch('/api/emails', { key: 'guess', headers })).status, 401);
  t.is((await gateway.fetch('/api/emails', { headers })).status, 200);
  t.is((await gateway.fetch('/api/emails', { key: null, headers })).status, 401);
  t.deepEqual(failures, ['192.0.2.1']);
});

test('the hub has a bucket of its own, of the global size', async (t) => {
  const rates = new Rates(limits(2));
  const count = async (rate: 'hub' | 'plain') => rates.tally('192.0.2.1').principal(principal(ALICE), rate) > 0;
  t.deepEqual([await count('hub'), await count('hub'), await count('hub')], [false, false, true]);
  t.deepEqual([await count('plain'), await count('plain'), await count('plain')], [false, false, true]);
  const stranger = async (rate: 'hub' | 'plain') => (await rates.tally('192.0.2.1').countAnonymous(rate)) > 0;
  t.deepEqual([await stranger('hub'), await stranger('hub'), await stranger('hub')], [false, false, true]);
  t.false(await stranger('plain'));
});

test('a session has a bucket of its own, a quarter of it for writes', async (t) => {
  const rates = new Rates(limits(1, 1, 1, 8));
  const session = (keyId: string): Principal => ({ ...principal(ALICE, Date.now() + 1000), keyId });
  const waits = (of: Principal, rate: 'plain' | 'write' | 'authentication') =>
    rates.tally('192.0.2.1').principal(of, rate) > 0;
  const first = session('first');
  t.deepEqual([waits(first, 'write'), waits(first, 'authentication'), waits(first, 'write')], [false, false, true]);
  t.deepEqual(
    Array.from({ length: 6 }, () => waits(first, 'plain')),
    [false, false, false, false, false, true],
  );
  t.false(waits(session('second'), 'write'), 'another session');
  t.false(waits(principal(ALICE), 'plain'), 'the keys of the account');
  t.true(waits(principal(ALICE), 'plain'));
  t.false(waits(session('third'), 'plain'));
});

test('an account has the requests of four sessions, however many it has, and its keys keep theirs', async (t) => {
  const rates = new Rates(limits(1, 0, 0, 2));
  const waits = (accountId: string, keyId: string) =>
    rates.tally('192.0.2.1').principal({ ...principal(accountId, Date.now() + 1000), keyId }, 'plain') > 0;
  const used = Array.from({ length: 8 }, (_, i) => waits(ALICE, `session ${i}`));
  t.deepEqual(used, new Array(8).fill(false));
  t.true(waits(ALICE, 'one more'));
  t.false(waits(BOB, 'another account'));
  t.is(rates.tally('192.0.2.1').principal(principal(ALICE), 'plain'), 0);
});

test('tokens are checked however many wrong ones came from there', async (t) => {
  const good = 'eyJhIjoxfQ.eyJhIjoxfQ.good';
  const tokens = {
    verify: async (token: string) =>
      token === good
        ? {
            issuer: 'https://login.test',
            subject: ALICE,
            email: 'a@example.test',
            emailVerified: true,
            name: undefined,
            expiresAt: Date.now() + 60_000,
          }
        : undefined,
    userInfo: async () => ({ email: undefined, emailVerified: undefined, name: undefined }),
  };
  const gateway = await startGateway(t, { rates: new Rates(limits(2)), tokens });
  const ask = async (key: string) => (await gateway.fetch('/api/emails', { key })).status;
  t.is(await ask('eyJhIjoxfQ.eyJhIjoxfQ.bad1'), 401);
  t.is(await ask('eyJhIjoxfQ.eyJhIjoxfQ.bad2'), 401);
  t.is(await ask('eyJhIjoxfQ.eyJhIjoxfQ.bad3'), 429);
  t.is(await ask(good), 200);
});

test('a service-wide key is not limited', async (t) => {
  const gateway = await startGateway(t, { rates: new Rates(limits(1, 1, 1)) });
  const key = gateway.directory.serviceKey(ALICE);
  for (let i = 0; i < 3; i++) {
    const response = await gateway.fetch('/api/internal-notifications', { method: 'POST', key, json: {} });
    t.is(response.status, 400);
  }
});

test('memory is bounded: whoever has not asked for longest starts again', async (t) => {
  const rates = new Rates(limits(1), { mostKeys: 2 });
  const ask = (address: string) => rates.tally(address).countAnonymous('plain');
  t.is(await ask('192.0.2.1'), 0);
  t.true((await ask('192.0.2.1')) > 0);
  t.is(await ask('192.0.2.2'), 0);
  t.true((await ask('192.0.2.1')) > 0);
  t.is(await ask('192.0.2.3'), 0);
  t.true((await ask('192.0.2.1')) > 0, 'in use, so kept');
  t.is(await ask('192.0.2.2'), 0, 'forgotten');
});

test('a network is the first half of an IPv6 address', (t) => {
  t.is(networkOf('192.0.2.1'), '192.0.2.1');
  t.is(networkOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64');
  t.is(networkOf('2001:db8::'), '2001:db8:0:0::/64');
  t.is(networkOf('2001:db8::1'), '2001:db8:0:0::/64');
  t.is(networkOf('::1'), '0:0:0:0::/64');
  t.is(networkOf('2001:db8:1::3:4:5:6'), '2001:db8:1:0::/64');
});
