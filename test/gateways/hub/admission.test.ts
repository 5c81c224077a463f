// Tests for which requests the hub takes the cookie of a session: those of its own page, over each transport.
import { anonymousGuard } from '../../../src/auth/origin.js';
import type { UpgradeRequest } from '../../../src/gateways/web-socket.js';
import {
  FakeDirectory,
  FakeMailboxes,
  FakeTiming,
  hubRequest,
  recordingLog,
  testHub,
} from '../../support/hub-fakes.js';
import test from '../../support/test.js';

const HANDSHAKE = Buffer.from('{"protocol":"json","version":1}\u001e');

function setUp() {
  const directory = new FakeDirectory();
  directory.addKey('token', 'account-1');
  const guard = anonymousGuard({
    hostname: 'mail.example.test',
    publicUrl: undefined,
    origins: ['https://app.example.test'],
  });
  const mailboxes = new FakeMailboxes().refs;
  const hub = testHub({ directory, mailboxes, guard, log: recordingLog().log, timing: new FakeTiming() });
  return { hub, directory };
}

async function upgradeStatus({ hub }: Pick<ReturnType<typeof setUp>, 'hub'>, request: UpgradeRequest): Promise<number> {
  const decision = await hub.upgrade(request);
  return typeof decision === 'function' ? 101 : decision.status;
}

test('takes the cookie of a session from its own page alone', async (t) => {
  const { hub, directory } = setUp();
  directory.addSession('session', 'account-1');
  directory.addKey('key', 'account-1', ['app']);
  const both = (cookie: string) => `__Host-mansio=${cookie}; mansio=${cookie}`;
  for (const [isSecure, host, origin, cookie, status] of [
    [true, 'mail.example.test', 'https://mail.example.test', 'session', 101],
    [false, 'localhost:8080', 'http://localhost:8080', 'session', 101],
    [true, 'mail.example.test', '', 'session', 403],
    [true, 'mail.example.test', 'null', 'session', 403],
    [true, 'mail.example.test', 'http://mail.example.test', 'session', 403],
    [true, 'mail.example.test', 'https://app.example.test', 'session', 403],
    [false, 'localhost:8080', 'http://localhost:3000', 'session', 403],
    [false, 'mail.example.test', 'http://mail.example.test', 'session', 403],
    [true, 'mail.example.test', 'https://mail.example.test', 'key', 401],
    [true, 'mail.example.test', 'https://mail.example.test', 'unknown', 401],
  ] as const) {
    const fields = { host, origin, cookie: both(cookie) };
    const where = `${isSecure} ${host} ${origin} ${cookie}`;
    t.is(await upgradeStatus({ hub }, hubRequest('', fields, isSecure)), status, where);
    const negotiated = await hub.negotiate(hubRequest('negotiateVersion=1', fields, isSecure));
    t.is(negotiated.status, status === 101 ? 200 : status, where);
  }
  const foreign = { host: 'localhost', origin: 'https://app.example.test', cookie: both('session') };
  t.is(
    await upgradeStatus({ hub }, hubRequest('access_token=token', foreign)),
    101,
    'a token counts from listed pages',
  );
});

test('the fallbacks of a session read without an origin, and send with their own', async (t) => {
  const { hub, directory } = setUp();
  directory.addSession('session', 'account-1');
  const fields = { host: 'localhost', cookie: 'mansio=session' };
  const negotiated = await hub.negotiate(hubRequest('negotiateVersion=1', { ...fields, origin: 'http://localhost' }));
  const { connectionToken } = JSON.parse(String(negotiated.body));
  const ask = async (method: string, more: Readonly<Record<string, string>> = {}) => {
    const request = hubRequest(`id=${connectionToken}`, { ...fields, ...more });
    const aborted = new AbortController().signal;
    return (await hub.exchange({ ...request, method, aborted, body: async () => HANDSHAKE })).status;
  };
  t.is(await ask('GET'), 200);
  t.is(await ask('GET', { origin: 'http://localhost:3000' }), 403);
  t.is(await ask('POST'), 403);
  t.is(await ask('POST', { origin: 'http://localhost' }), 200);
  t.is(await ask('DELETE', { 'sec-fetch-site': 'same-origin' }), 403);
  t.is(await ask('DELETE', { origin: 'http://localhost' }), 202);
});
