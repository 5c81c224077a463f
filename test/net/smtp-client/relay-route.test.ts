// Tests mail through a smart host with real servers: which mail goes there, over which TLS, and that no fault of its set-up bounces mail or
// shows the password.
import type { ExecutionContext } from 'ava';
import { freePort } from '../../../dev/ports.js';
import { type RemoteOptions, scripted, startBareServer, startRemoteSmtp } from '../../../dev/servers/remote-smtp.js';
import { faultStatus } from '../../../src/mail-format/reports/delivery-status.js';
import { NO_METER } from '../../../src/net/smtp-client/meter.js';
import { RelayLogins } from '../../../src/net/smtp-client/relay-logins.js';
import { StoreFault } from '../../../src/store/errors.js';
import { pairFor } from '../../support/key-pair.js';
import test from '../../support/test.js';
import { kinds, only, tried, type World, type WorldOptions, world } from './client-world.js';

const PASSWORD = 'p4ss:word/é';
const LOGIN = `joe:${encodeURIComponent(PASSWORD)}@`;
const ADDRESS = '127.0.0.9';
const ZONES = {
  'smtp.relay.test': { A: [ADDRESS] },
  'remote.test': { MX: [[10, 'mx.remote.test']] },
  'mx.remote.test': { A: ['127.0.0.2'] },
  '_mta-sts.remote.test': { TXT: ['v=STSv1; id=one;'] },
} as const;

/** A smart host that takes the password. */
async function smartHost(t: ExecutionContext, options: RemoteOptions = {}) {
  const tls = options.tls ?? (await pairFor('smtp.relay.test'));
  const port = await freePort();
  const logins: string[] = [];
  const login = (user: string, password: string) => {
    logins.push(user);
    return user === 'joe' && password === PASSWORD ? undefined : '535 5.7.8 not with these';
  };
  const behaviour = { login, ...options.behaviour };
  const relay = await startRemoteSmtp(ADDRESS, port, { tls, wantsLogin: true, ...options, behaviour });
  t.teardown(() => relay.close());
  const scheme = options.isImplicitTls === true ? 'smtps' : 'smtp';
  const urlWith = (credentials: string) => `${scheme}://${credentials}smtp.relay.test:${port}`;
  return { relay, port, logins, ca: tls.cert, urlWith, url: urlWith(LOGIN) };
}

/** `setting`: the one of the domain sender.test. */
const worldWith = (t: ExecutionContext, setting: string, more: WorldOptions = {}) =>
  world(t, {
    zones: ZONES,
    relays: { store: { relayOf: async (name) => (name === 'sender.test' ? setting : undefined) } },
    ...more,
  });

const textOf = ({ outcomes }: Awaited<ReturnType<World['deliver']>>) => outcomes[0]!.text;

for (const isImplicitTls of [false, true]) {
  test(`mail of a domain goes through its smart host, ${isImplicitTls ? 'TLS first' : 'STARTTLS'}`, async (t) => {
    const { relay, logins, ca, url } = await smartHost(t, { isImplicitTls });
    const { deliver, remote, dns, transport } = await worldWith(t, url, { ca });
    const mx = await remote('127.0.0.2');
    const domains = ['remote.test', 'other.test', 'no-such.test'];
    for (const domain of domains) {
      const report = await deliver(domain, ['b', 'c']);
      t.deepEqual(kinds(report), { b: 'delivered 2.0.0', c: 'delivered 2.0.0' });
      t.deepEqual(tried(report), [`smtp.relay.test ${ADDRESS}`]);
      t.regex(report.attempts[0]!.tls!, /\(verified\)$/);
    }
    t.deepEqual(
      relay.messages.map(({ recipients, isTls }) => [...recipients, isTls]),
      domains.map((domain) => [`b@${domain}`, `c@${domain}`, true]),
    );
    t.deepEqual([relay.connections, logins.length, mx.connections], [1, 1, 0]);
    t.deepEqual([...new Set(dns.asked)].sort(), ['A smtp.relay.test', 'AAAA smtp.relay.test']);
    t.is(transport.relayLogins.refusing, 0);
  });
}

test('the smart host of all is for domains without their own, which may be another one or none', async (t) => {
  const forAll = await smartHost(t);
  const direct = { store: { relayOf: async (name: string) => (name === 'direct.test' ? 'direct' : undefined) } };
  const made = await world(t, { zones: ZONES, ca: forAll.ca, relays: { ...direct, url: forAll.url } });
  const mx = await made.remote('127.0.0.2');
  const send = (sender: string) => made.transport.deliver({ ...made.task('remote.test'), sender });
  const destination = (sender: string) => made.transport.destinationOf({ ...made.task('remote.test'), sender });
  for (const sender of ['a@sender.test', '', 'a@elsewhere.test']) t.is(only(await send(sender)), 'delivered 2.0.0');
  t.is(forAll.relay.messages.length, 3);
  t.is(only(await send('a@direct.test')), 'delivered 2.0.0');
  t.deepEqual([forAll.relay.messages.length, mx.messages.length], [3, 1]);
  t.is(await destination('a@direct.test'), 'remote.test');
  t.is(await destination('a@sender.test'), `smart host smtp.relay.test:${forAll.port}`);
});

test('without verified TLS neither mail nor password leaves, and nothing bounces', async (t) => {
  const other = await smartHost(t, { tls: await pairFor('somebody.else.test') });
  const wrong = await worldWith(t, other.url, { ca: other.ca });
  t.is(only(await wrong.deliver('remote.test')), 'temporary 4.7.5');
  t.deepEqual([other.logins.length, other.relay.messages.length], [0, 0]);
  await other.relay.close();

  let heard = '';
  const port = await freePort();
  const plain = await startBareServer(ADDRESS, port, (socket) => {
    scripted({ EHLO: '250-x\r\n250 AUTH PLAIN LOGIN', STAR: '502 5.5.1 none here', DATA: '354 go' })(socket);
    socket.on('data', (text) => {
      heard += text;
    });
  });
  t.teardown(() => plain.close());
  const { deliver } = await worldWith(t, `smtp://${LOGIN}smtp.relay.test:${port}`);
  t.is(only(await deliver('remote.test')), 'temporary 4.7.4');
  t.regex(heard, /^EHLO /);
  t.notRegex(heard, /AUTH|MAIL|DATA/);
});

test('wrong credentials are temporary, are shown by health, and are not tried again and again', async (t) => {
  const { relay, ca, urlWith, url } = await smartHost(t);
  const wrong = 'wr0ng-secret';
  const { transport, task, logged } = await worldWith(t, urlWith(`joe:${wrong}@`), {
    ca,
    relays: {
      store: { relayOf: async (name) => (name === 'right.test' ? url : urlWith(`joe:${wrong}@`)) },
    },
  });
  const first = await transport.deliver(task('remote.test'));
  t.is(only(first), 'temporary 4.7.8');
  t.is(first.outcomes[0]!.host, 'smtp.relay.test');
  t.is(textOf(first), 'the smart host smtp.relay.test refuses the credentials: 535 5.7.8 not with these');
  const again = await transport.deliver(task('other.test'));
  t.deepEqual([textOf(again), relay.connections, transport.relayLogins.refusing], [textOf(first), 1, 1]);

  // Another sender, whose credentials are right, does not wait.
  const right = await transport.deliver({ ...task('remote.test'), sender: 'a@right.test' });
  t.is(only(right), 'delivered 2.0.0');
  t.is(transport.relayLogins.refusing, 1);
  const everything = JSON.stringify([logged, first, again, right]);
  for (const secret of [wrong, PASSWORD, Buffer.from(`\0joe\0${wrong}`).toString('base64')])
    t.false(everything.includes(secret));
});

test('a host that repeats the password does not bring it to the timeline', async (t) => {
  const login = (user: string, password: string) => `535 5.7.8 ${user} with ${password} is unknown`;
  const { ca, url } = await smartHost(t, { behaviour: { login } });
  const { deliver } = await worldWith(t, url, { ca });
  t.regex(textOf(await deliver('remote.test')), /joe with \[hidden\] is unknown/);
});

test('a host that wants a login that is not set makes mail wait; what it says of recipients counts', async (t) => {
  const { ca, urlWith, url } = await smartHost(t, {
    behaviour: { rcpt: (to) => (to.startsWith('x') ? '550 5.1.1 who?' : undefined) },
  });
  const without = await (await worldWith(t, urlWith(''), { ca })).deliver('remote.test');
  t.is(only(without), 'temporary 4.7.8');
  t.regex(textOf(without), /wants other credentials: 530/);
  const { deliver } = await worldWith(t, url, { ca });
  t.deepEqual(kinds(await deliver('remote.test', ['b', 'x'])), { b: 'delivered 2.0.0', x: 'permanent 5.1.1' });
});

test('a smart host that is unknown, closed, this host itself or unwilling makes mail wait', async (t) => {
  const [port, closed] = [await freePort(), await freePort()];
  const unwilling = await startBareServer(ADDRESS, port, (socket) => socket.end('554 5.7.1 not from there\r\n'));
  t.teardown(() => unwilling.close());
  const settings: readonly (readonly [url: string, expected: string])[] = [
    ['smtp://no-such.relay.test', 'temporary 4.3.5'],
    [`smtp://smtp.relay.test:${closed}`, 'temporary 4.4.1'],
    ['smtp://127.0.0.1:2525', 'temporary 4.3.5'],
    [`smtp://smtp.relay.test:${port}`, 'temporary 4.7.1'],
  ];
  const own = { hostname: 'mail.sender.test', bind: '127.0.0.1', mxPort: () => 2525 };
  for (const [url, expected] of settings) {
    const { deliver } = await worldWith(t, url, { own });
    t.is(only(await deliver('remote.test')), expected, url);
  }
});

test('while the settings cannot be read, nothing is sent', async (t) => {
  const relayOf = async () => {
    throw new StoreFault('store-failed', 'away', { temporary: true });
  };
  const { deliver, remote } = await world(t, { zones: ZONES, relays: { store: { relayOf } } });
  const mx = await remote('127.0.0.2');
  await t.throwsAsync(deliver('remote.test'), { instanceOf: StoreFault });
  t.is(mx.connections, 0);
});

test('a refusal is forgotten with a login, or when the setting has changed', (t) => {
  const logins = new RelayLogins(NO_METER);
  const refusal = faultStatus('relay-login', 'no');
  const first = { id: 'one', from: 'a.test' };
  logins.refused(first, refusal);
  logins.refused({ id: 'one', from: 'b.test' }, refusal);
  t.deepEqual([logins.refusing, logins.backsOff(first)], [2, refusal]);
  logins.setting('a.test', 'one');
  t.is(logins.refusing, 2);
  logins.setting('a.test', 'two');
  t.deepEqual([logins.refusing, logins.backsOff({ id: 'two', from: 'a.test' })], [1, undefined]);
  logins.accepted({ id: 'one', from: 'b.test' });
  t.deepEqual([logins.refusing, logins.backsOff(first)], [0, undefined]);
});
