// Tests the endpoint as the HTTP server sees it: who may negotiate and connect, revocation, the limit on connections, drain.

import { Credentials } from '../../../src/auth/credentials.js';
import { anonymousGuard } from '../../../src/auth/origin.js';
import type { HttpAnswer, UpgradeRequest } from '../../../src/gateways/web-socket.js';
import type { Scope } from '../../../src/store/directory.js';
import {
  FakeDirectory,
  FakeMailboxes,
  FakeSocket,
  FakeTiming,
  hubRequest,
  recordingLog,
  type TestHubOptions,
  testHub,
} from '../../support/hub-fakes.js';
import test from '../../support/test.js';

const guard = anonymousGuard({
  hostname: 'mail.example.test',
  publicUrl: undefined,
  origins: ['https://app.example.test'],
});
const HANDSHAKE = Buffer.from('{"protocol":"json","version":1}\u001e');

function setUp(options: Partial<TestHubOptions> = {}) {
  const directory = new FakeDirectory();
  directory.addKey('token', 'account-1');
  const mailboxes = new FakeMailboxes();
  const timing = new FakeTiming();
  const { log, lines, text } = recordingLog();
  const hub = testHub({ directory, mailboxes: mailboxes.refs, guard, log, timing, ...options });
  const open = async (token = 'token') => {
    const accept = await hub.upgrade(hubRequest('', { authorization: `Bearer ${token}` }));
    if (typeof accept !== 'function') throw new Error(`refused with ${accept.status}`);
    const socket = new FakeSocket();
    const listener = accept(socket);
    listener.message(HANDSHAKE, false);
    return { socket, listener };
  };
  return { hub, directory, mailboxes, timing, lines, logText: text, open };
}

type Hub = ReturnType<typeof setUp>['hub'];

async function upgradeStatus(hub: Hub, request: UpgradeRequest): Promise<number> {
  const decision = await hub.upgrade(request);
  return typeof decision === 'function' ? 101 : decision.status;
}

function body(answer: HttpAnswer): Record<string, unknown> {
  return JSON.parse(String(answer.body)) as Record<string, unknown>;
}

const bearer = (token: string) => hubRequest('', { authorization: `Bearer ${token}` });

test('negotiates version 1 with an id and a token of its own', async (t) => {
  const { hub } = setUp();
  const answer = await hub.negotiate(hubRequest('negotiateVersion=1', { authorization: 'Bearer token' }));
  t.is(answer.status, 200);
  t.is(answer.headers?.['content-type'], 'application/json');
  const offer = body(answer);
  t.like(offer, {
    negotiateVersion: 1,
    availableTransports: [
      { transport: 'WebSockets', transferFormats: ['Text', 'Binary'] },
      { transport: 'ServerSentEvents', transferFormats: ['Text'] },
      { transport: 'LongPolling', transferFormats: ['Text', 'Binary'] },
    ],
  });
  t.regex(String(offer['connectionToken']), /^[0-9a-f]{16}-0-[\w-]{22}$/);
  t.regex(String(offer['connectionId']), /^[\w-]{22}$/);
  t.not(offer['connectionId'], offer['connectionToken']);
  const again = body(await hub.negotiate(hubRequest('negotiateVersion=7', { authorization: 'Bearer token' })));
  t.is(again['negotiateVersion'], 1);
  t.not(again['connectionToken'], offer['connectionToken']);
});

test('the connection has the id that was negotiated, on any node', async (t) => {
  const one = setUp();
  const other = setUp();
  const offer = body(await one.hub.negotiate(hubRequest('negotiateVersion=1', { authorization: 'Bearer token' })));
  const accept = await other.hub.upgrade(hubRequest(`id=${offer['connectionToken']}&access_token=token`));
  if (typeof accept !== 'function') throw new Error('refused');
  accept(new FakeSocket());
  t.like(other.lines.at(-1), { connectionId: offer['connectionId'], accountId: 'account-1' });
});

test('negotiates version 0 without a token', async (t) => {
  const { hub } = setUp();
  for (const query of ['', 'negotiateVersion=0']) {
    const offer = body(await hub.negotiate(hubRequest(query, { authorization: 'Bearer token' })));
    t.deepEqual(Object.keys(offer), ['negotiateVersion', 'connectionId', 'availableTransports']);
    t.is(await upgradeStatus(hub, hubRequest(`id=${offer['connectionId']}&access_token=token`)), 101);
  }
  t.like(body(await hub.negotiate(hubRequest('negotiateVersion=x', { authorization: 'Bearer token' }))), {
    error: "The client requested an invalid protocol version 'x'.",
  });
});

test('takes the credential from the header in either scheme, or from the query', async (t) => {
  const { hub } = setUp();
  for (const request of [
    bearer('token'),
    hubRequest('', { authorization: 'ApiKey token' }),
    hubRequest('', { authorization: 'bearer token' }),
    hubRequest('access_token=token'),
  ]) {
    t.is((await hub.negotiate(request)).status, 200);
    t.is(await upgradeStatus(hub, request), 101);
  }
});

test('refuses a missing or bad credential with 401 and a problem', async (t) => {
  const { hub, logText } = setUp();
  for (const request of [
    hubRequest(),
    bearer('unknown'),
    bearer('x'.repeat(9000)),
    hubRequest('access_token='),
    hubRequest('access_token=unknown'),
    hubRequest('', { authorization: 'Basic token' }),
    hubRequest('access_token=token', { authorization: 'Bearer unknown' }),
  ]) {
    const answer = await hub.negotiate(request);
    t.is(answer.status, 401);
    t.like(answer.headers, {
      'www-authenticate': 'Bearer',
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
    });
    t.like(body(answer), { title: 'Unauthorized', status: 401 });
    t.is(await upgradeStatus(hub, request), 401);
  }
  t.notRegex(logText(), /unknown|token/);
});

test('lets keys connect that may read the account, and no others', async (t) => {
  const { hub, directory } = setUp();
  const cases: [Scope[], number][] = [
    [['app'], 101],
    [['api:read'], 101],
    [['api:write', 'api:read'], 101],
    [['api:write'], 403],
    [['smtp', 'imap', 'pop3'], 403],
    [['internal'], 403],
    [[], 403],
  ];
  for (const [scopes, status] of cases) {
    const key = `key-of-${scopes.join('-')}`;
    directory.addKey(key, 'account-1', scopes);
    t.is(await upgradeStatus(hub, bearer(key)), status, scopes.join());
    t.is((await hub.negotiate(bearer(key))).status, status === 101 ? 200 : status);
  }
});

test('without a credential acts as the anonymous account where there is one, but for no foreign page', async (t) => {
  const { hub, directory } = setUp();
  const anonymous = { ...directory.addKey('unused', 'account-9', []), keyId: null };
  directory.anonymousPrincipal = anonymous;
  const from = (origin: string) => hubRequest('', { host: '127.0.0.1:8080', origin });
  const named = (host: string) => hubRequest('', { host });
  t.is(await upgradeStatus(hub, named('localhost:8080')), 101);
  for (const refused of [hubRequest(), named('rebound.evil.example:8080')]) {
    t.is(await upgradeStatus(hub, refused), 403);
    t.is((await hub.negotiate(refused)).status, 403);
  }
  t.is(await upgradeStatus(hub, from('http://127.0.0.1:8080')), 101);
  t.is(await upgradeStatus(hub, from('https://app.example.test')), 101);
  t.is(await upgradeStatus(hub, from('https://evil.example')), 403);
  t.is(await upgradeStatus(hub, from('null')), 403);
  t.is(await upgradeStatus(hub, bearer('unknown')), 401);
});

test('ten thousand connections of an account wait for one subscription, and share it', async (t) => {
  const { hub, mailboxes, open } = setUp();
  mailboxes.late = true;
  const connections: Awaited<ReturnType<typeof open>>[] = [];
  for (let i = 0; i < 10_000; i++) connections.push(await open());
  t.is(mailboxes.followed, 1);
  mailboxes.events('account-1').next([]);
  t.true(connections.every(({ socket }) => socket.sent.join() === '{}\u001e'));
  for (const { listener } of connections) listener.closed(1006);
  t.is(hub.connections, 0);
  t.false(mailboxes.isFollowed('account-1'));
});

test('a directory that fails is 503', async (t) => {
  const { hub, directory, logText } = setUp();
  directory.fault = new Error('the store is away');
  const answer = await hub.negotiate(bearer('token'));
  t.is(answer.status, 503);
  t.is(answer.headers?.['retry-after'], '1');
  t.is(await upgradeStatus(hub, bearer('token')), 503);
  t.notRegex(logText(), /Bearer|"token"/);
});

test('refuses a malformed connection token with 400', async (t) => {
  const { hub } = setUp();
  for (const id of ['', 'a b', '../x', 'x'.repeat(200)]) {
    const request = hubRequest(new URLSearchParams({ id, access_token: 'token' }).toString());
    t.is(await upgradeStatus(hub, request), 400);
  }
});

test('takes no more connections than the bound', async (t) => {
  const { hub, open } = setUp({ limits: { maxConnections: 2 } });
  const first = await open();
  await open();
  t.is(await upgradeStatus(hub, bearer('token')), 503);
  first.listener.closed(1000);
  t.is(await upgradeStatus(hub, bearer('token')), 101);
});

test('takes no more connections of one account than its share, and leaves others theirs', async (t) => {
  const { hub, directory, open } = setUp({ limits: { maxOwnConnections: 2 } });
  directory.addKey('second', 'account-1');
  directory.addKey('other', 'account-2');
  const request = bearer('token');
  const [early, late] = [await hub.upgrade(request), await hub.upgrade(request)];
  if (typeof early !== 'function' || typeof late !== 'function') return t.fail('refused');
  const first = await open();
  const one = new FakeSocket();
  early(one);
  t.is(await upgradeStatus(hub, bearer('second')), 429, 'whichever key');
  t.is((await hub.negotiate(bearer('second'))).status, 429);
  const extra = new FakeSocket();
  const listener = late(extra);
  t.like(extra.takeMessages(), [{ error: 'The account has as many connections as it may.' }]);
  t.is(extra.closedWith, 1013, 'let in before the others were open');
  t.is(await upgradeStatus(hub, bearer('other')), 101);
  listener.closed(1013);
  t.is(await upgradeStatus(hub, bearer('token')), 429);
  first.listener.closed(1000);
  t.is(await upgradeStatus(hub, bearer('token')), 101);
});

test('those who are nobody share by address', async (t) => {
  const { hub, open } = setUp({ tokens: tokensOf(undefined), limits: { maxOwnConnections: 1 } });
  const { listener } = await open(TOKEN);
  t.is(await upgradeStatus(hub, bearer(TOKEN)), 429);
  t.is(await upgradeStatus(hub, { ...bearer(TOKEN), remoteAddress: '192.0.2.1' }), 101);
  listener.closed(1000);
  t.is(await upgradeStatus(hub, bearer(TOKEN)), 101);
});

test('closes the connections of a revoked key at once, for good', async (t) => {
  const { hub, directory, open } = setUp();
  directory.addKey('other', 'account-1');
  const mine = await open('token');
  const other = await open('other');
  directory.revokedKeys$.next('key-of-token');
  t.like(mine.socket.takeMessages().at(-1), { type: 7, error: 'The API key has been revoked.', allowReconnect: false });
  t.is(mine.socket.closedWith, 1008);
  t.is(other.socket.closedWith, undefined);
  mine.listener.closed(1008);
  t.is(hub.connections, 1);
});

test('closes the connections of a deleted account at once, for good', async (t) => {
  const { directory, mailboxes, open } = setUp();
  const { socket } = await open();
  directory.deletedAccounts$.next('account-1');
  t.like(socket.takeMessages().at(-1), { type: 7, allowReconnect: false });
  t.false(mailboxes.isFollowed('account-1'));
});

test('a directory that stops telling of revocations takes nothing down', async (t) => {
  const { hub, directory, lines, open } = setUp();
  await open();
  directory.revokedKeys$.error(new Error('the watch broke'));
  directory.deletedAccounts$.error(new Error('the watch broke'));
  t.is(lines.filter((line) => line.level === 50).length, 2);
  t.is(hub.connections, 1);
});

test('a key revoked between its check and the opening of the socket is closed as well', async (t) => {
  const { hub, directory } = setUp();
  const accept = await hub.upgrade(bearer('token'));
  if (typeof accept !== 'function') throw new Error('refused');
  directory.revokedKeys$.next('key-of-token');
  const socket = new FakeSocket();
  accept(socket);
  t.like(socket.takeMessages(), [{ error: 'The credential is no longer valid.' }]);
  t.is(socket.closedWith, 1008);
});

test('drains: sends everybody away, refuses newcomers, ends when the last has gone', async (t) => {
  const keys = new FakeDirectory();
  keys.addKey('token', 'account-1');
  const { hub, directory, timing, open } = setUp({ credentials: new Credentials({ directory: keys }) });
  const accept = await hub.upgrade(bearer('token'));
  if (typeof accept !== 'function') throw new Error('refused');
  const answers = await open();
  const silent = await open();
  let done = false;
  const drained = hub.drain('Stopping.').then(() => {
    done = true;
  });
  t.like(answers.socket.takeMessages().at(-1), { type: 7, error: 'Stopping.', allowReconnect: true });
  t.is(answers.socket.closedWith, 1001);
  t.is(await upgradeStatus(hub, bearer('token')), 503);
  t.is((await hub.negotiate(bearer('token'))).status, 503);

  const late = new FakeSocket();
  const lateListener = accept(late);
  t.is(late.closedWith, 1001);

  answers.listener.closed(1001);
  lateListener.closed(1001);
  timing.pass(11_000);
  t.true(silent.socket.terminated);
  t.false(done);
  silent.listener.closed(1006);
  await drained;
  await hub.drain('Again.');
  t.false(timing.isTicking);
  t.false(directory.revokedKeys$.observed);
  t.is(hub.connections, 0);
});

const TOKEN = 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln';

const userInfo = async () => ({ email: undefined, emailVerified: undefined, name: undefined });

/** Accepts one token of `subject`, which expires in a minute. */
function tokensOf(subject: string | undefined): NonNullable<TestHubOptions['tokens']> {
  const claims = { issuer: 'https://login.test', email: 'a@b.c', emailVerified: true, name: undefined };
  return {
    verify: async (token) => (token === TOKEN ? { ...claims, subject, expiresAt: Date.now() + 60_000 } : undefined),
    userInfo,
  };
}

test('a token of the identity provider connects until it ends, and the client may come back', async (t) => {
  const { hub, mailboxes, timing, open } = setUp({ tokens: tokensOf('account-9') });
  t.is(await upgradeStatus(hub, bearer(`${TOKEN}x`)), 401);
  t.is(await upgradeStatus(hub, bearer('token')), 101, 'API keys go on');
  const { socket, listener } = await open(TOKEN);
  mailboxes.events('account-9').next([]);
  t.true(mailboxes.isFollowed('account-9'));
  const ping = Buffer.from('{"type":6}\u001e');
  for (let passed = 0; passed < 55_000; passed += 5_000) {
    timing.pass(5_000);
    listener.message(ping, false);
  }
  t.true(socket.open);
  socket.takeMessages();
  timing.pass(20_000);
  t.false(socket.open);
  t.deepEqual(socket.takeMessages().at(-1), { type: 7, error: 'The token has expired.', allowReconnect: true });
});

test('a token that names no user connects, and hears nothing', async (t) => {
  const { hub, mailboxes, timing, open } = setUp({ tokens: tokensOf(undefined) });
  t.is((await hub.negotiate(bearer(TOKEN))).status, 200);
  const { socket, listener } = await open(TOKEN);
  t.true(socket.open);
  t.deepEqual(socket.takeMessages(), [{}]);
  t.is(mailboxes.followed, 0);
  listener.message(Buffer.from('{"type":6}\u001e'), false);
  listener.closed(1000);
  timing.pass(1_000);
  t.is(hub.connections, 0);
});

test('tokens are nothing to a hub without an identity provider, and a provider that is down is for later', async (t) => {
  t.is(await upgradeStatus(setUp().hub, bearer(TOKEN)), 401);
  const down = { verify: () => Promise.reject(new Error('down')), userInfo };
  t.is(await upgradeStatus(setUp({ tokens: down }).hub, bearer(TOKEN)), 503);
});
