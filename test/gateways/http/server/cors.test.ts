// Tests pages of other origins: listed ones get CORS fields on replies, refusals and negotiation, others get none.
import { HttpTransportType, HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { pino } from 'pino';
import { anonymousGuard } from '../../../../src/auth/origin.js';
import { Rates } from '../../../../src/auth/rates.js';
import { FakeDirectory, FakeMailboxes, testHub } from '../../../support/hub-fakes.js';
import test from '../../../support/test.js';
import { startGateway } from '../gateway.js';

const PAGE = 'https://app.example.org';
const HUB = '/hubs/email';

function startHub(rates = new Rates()) {
  const directory = new FakeDirectory();
  directory.addKey('token', 'account-1');
  const guard = anonymousGuard({ hostname: 'x.test', publicUrl: undefined, origins: [PAGE] });
  const { refs: mailboxes } = new FakeMailboxes();
  return testHub({ directory, mailboxes, guard, rates, log: pino({ level: 'silent' }) });
}

const allowed = (response: Response) => ({
  origin: response.headers.get('access-control-allow-origin'),
  credentials: response.headers.get('access-control-allow-credentials'),
  vary: response.headers.get('vary'),
});
const YES = { origin: PAGE, credentials: 'true', vary: 'Origin' };
const NO = { origin: null, credentials: null, vary: 'Origin' };

test('a listed origin may read replies and refusals, with the fields it needs', async (t) => {
  const gateway = await startGateway(t, { origins: [PAGE] });
  const headers = { origin: PAGE };
  const good = await gateway.fetch('/api/emails', { headers });
  t.is(good.status, 200);
  t.deepEqual(allowed(good), YES);
  const exposed = good.headers.get('access-control-expose-headers') ?? '';
  for (const name of ['Retry-After', 'RateLimit', 'X-Request-Id', 'X-Export-Truncated', 'Content-Disposition', 'ETag'])
    t.true(exposed.split(', ').includes(name), name);
  for (const path of ['/api/emails/x', '/nothing']) {
    const refused = await gateway.fetch(path, { headers });
    t.is(refused.status, 404);
    t.deepEqual(allowed(refused), YES, path);
  }
  t.deepEqual(allowed(await gateway.fetch('/api/emails', { headers, key: null })), YES, '401');
  const long = await gateway.fetch(`/api/emails?${'x'.repeat(10_000)}`, { headers });
  t.is(long.status, 414);
  t.deepEqual(allowed(long), YES);
});

test('every header field that a route names can be read by a page', async (t) => {
  const gateway = await startGateway(t, { origins: [PAGE] });
  const reply = await gateway.fetch('/api/emails', { headers: { origin: PAGE } });
  const exposed = new Set(reply.headers.get('access-control-expose-headers')?.split(', '));
  const named = gateway.routes.flatMap((route) => [
    ...Object.keys(route.replyFields),
    ...Object.values(route.replies).flatMap((shape) => ('headers' in shape ? Object.keys(shape.headers) : [])),
  ]);
  t.true(named.includes('X-Truncated') && named.includes('X-Export-Truncated'));
  t.deepEqual(
    // No script reads cookies that are set.
    named.filter((name) => !exposed.has(name) && name !== 'Set-Cookie'),
    [],
  );
});

test('others are answered, and told nothing', async (t) => {
  const gateway = await startGateway(t, { origins: [PAGE] });
  for (const origin of ['https://evil.example', 'http://app.example.org', `${PAGE}.evil.example`, 'null', '*']) {
    const response = await gateway.fetch('/api/emails', { headers: { origin } });
    t.is(response.status, 200, origin);
    t.deepEqual(allowed(response), NO, origin);
  }
  t.deepEqual(allowed(await gateway.fetch('/api/emails')), NO, 'caches have to know even then');
  const without = await startGateway(t);
  const response = await without.fetch('/api/emails', { headers: { origin: PAGE } });
  t.deepEqual(allowed(response), { ...NO, vary: null });
});

test('a preflight names methods and fields', async (t) => {
  const hub = startHub();
  t.teardown(() => hub.drain(''));
  const gateway = await startGateway(t, { origins: [PAGE], webSockets: [{ path: HUB, endpoint: hub }] });
  const ask = (path: string, origin = PAGE) =>
    gateway.fetch(path, {
      method: 'OPTIONS',
      key: null,
      headers: {
        origin,
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'authorization,content-type,x-other',
      },
    });
  const answer = await ask('/api/emails/018f0000-0000-7000-8000-000000000001');
  t.is(answer.status, 204);
  t.deepEqual(allowed(answer), YES);
  t.is(answer.headers.get('access-control-allow-methods'), 'GET, HEAD, PATCH, DELETE, OPTIONS');
  const fields = (answer.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(', ');
  for (const name of ['authorization', 'content-type', 'x-requested-with', 'x-signalr-user-agent'])
    t.true(fields.includes(name), name);
  t.false(fields.includes('x-other'));
  t.is(answer.headers.get('access-control-max-age'), '7200');
  const negotiate = await ask(`${HUB}/negotiate`);
  t.is(negotiate.status, 204);
  t.is(negotiate.headers.get('access-control-allow-methods'), 'POST, OPTIONS');
  const foreign = await ask('/api/emails', 'https://evil.example');
  t.is(foreign.status, 204);
  t.deepEqual(allowed(foreign), NO);
  t.false(foreign.headers.has('access-control-allow-methods'));
  const nothing = await ask('/nothing');
  t.is(nothing.status, 404);
  t.false(nothing.headers.has('access-control-allow-methods'));
});

test('negotiation is readable from a listed origin, and counts', async (t) => {
  const hub = startHub(new Rates({ global: 1, write: 0, authentication: 0, session: 0 }));
  t.teardown(() => hub.drain(''));
  const gateway = await startGateway(t, { origins: [PAGE], webSockets: [{ path: HUB, endpoint: hub }] });
  const ask = (key: string | null) =>
    gateway.fetch(`${HUB}/negotiate?negotiateVersion=1`, { method: 'POST', key, headers: { origin: PAGE } });
  const first = await ask('token');
  t.is(first.status, 200);
  t.deepEqual(allowed(first), YES);
  const second = await ask('token');
  t.is(second.status, 429);
  t.regex(second.headers.get('retry-after')!, /^\d+$/);
  t.regex(second.headers.get('ratelimit')!, /^"hub";r=0;t=\d+$/);
  t.deepEqual(allowed(second), YES);
  t.is((await ask(null)).status, 401);
  t.is((await ask(null)).status, 429);
  t.is((await ask('wrong')).status, 401);
  t.is((await ask('wrong')).status, 429);
});

test('the stock client connects as from a page', async (t) => {
  const hub = startHub();
  t.teardown(() => hub.drain(''));
  const gateway = await startGateway(t, { origins: [PAGE], webSockets: [{ path: HUB, endpoint: hub }] });
  const connection = new HubConnectionBuilder()
    .withUrl(gateway.url + HUB, {
      accessTokenFactory: () => 'token',
      transport: HttpTransportType.WebSockets,
      withCredentials: true,
      headers: { Origin: PAGE },
    })
    .configureLogging(LogLevel.None)
    .build();
  await connection.start();
  t.is(hub.connections, 1);
  await connection.stop();
});
