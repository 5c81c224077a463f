// Tests TLS of the SMTP client: used when offered, skipped when it fails, required where MTA-STS requires it.
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { ExecutionContext } from 'ava';
import { scripted } from '../../../dev/servers/remote-smtp.js';
import { pairFor } from '../../support/key-pair.js';
import test from '../../support/test.js';
import { only, tried, type WorldOptions, world } from './client-world.js';

const ZONES = {
  'remote.test': {
    MX: [
      [10, 'mx1.remote.test'],
      [20, 'mx2.remote.test'],
    ],
  },
  'mx1.remote.test': { A: ['127.0.0.2'] },
  'mx2.remote.test': { A: ['127.0.0.3'] },
} as const;

/** Offers STARTTLS, and answers the handshake with text. */
function withoutHandshake(socket: Socket): void {
  scripted({ EHLO: '250-x\r\n250 STARTTLS', STAR: '220 go', DATA: '354 go' })(socket);
  socket.on('data', (text: string) => {
    if (text.startsWith('\x16')) socket.write('500 what is this\r\n');
  });
}

test('TLS is used with any certificate, and the timeline says what it is worth', async (t) => {
  const good = await pairFor('mx1.remote.test');
  const { remote, deliver } = await world(t, { zones: ZONES, ca: good.cert });
  const mx = await remote('127.0.0.2', { tls: good });
  const first = await deliver('remote.test');
  t.is(only(first), 'delivered 2.0.0');
  t.true(mx.messages[0]!.isTls);
  t.regex(first.attempts[0]!.tls!, /^TLSv1\.3 TLS_[A-Z0-9_]+ \(verified\)$/);
  const again = await deliver('remote.test');
  t.is(again.attempts[0]!.tls, first.attempts[0]!.tls);
  t.is(mx.connections, 1);
  await mx.close();
  await remote('127.0.0.2', { tls: await pairFor('somebody.else.test') });
  t.regex((await deliver('remote.test')).attempts[0]!.tls!, /^TLSv1\.3 TLS_[A-Z0-9_]+$/);
});

test('mail goes in the clear where TLS is offered and fails', async (t) => {
  const { bare, deliver, logged } = await world(t, { zones: ZONES });
  const refusing = await bare(
    '127.0.0.2',
    scripted({ EHLO: '250-x\r\n250 STARTTLS', STAR: '454 4.7.0 no TLS now', DATA: '354 go' }),
  );
  t.is(only(await deliver('remote.test')), 'delivered 2.0.0');
  t.is(refusing.connections, 1);
  await refusing.close();
  const broken = await bare('127.0.0.2', withoutHandshake);
  const report = await deliver('remote.test');
  t.is(only(report), 'delivered 2.0.0');
  t.is(report.attempts[0]!.tls, null);
  t.deepEqual(tried(report), ['mx1.remote.test 127.0.0.2']);
  t.is(broken.connections, 2);
  t.truthy(logged.find(({ msg }) => msg === 'TLS failed, going on without'));
});

interface StsSetup {
  readonly policy: string;
  readonly world?: WorldOptions;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

async function withPolicy(t: ExecutionContext, { policy, status = 200, headers, ...rest }: StsSetup) {
  const web = await pairFor('mta-sts.remote.test');
  const mx = await pairFor('mx2.remote.test');
  let fetched = 0;
  const server = createServer(web, (request, response) => {
    fetched++;
    response.writeHead(request.url === '/.well-known/mta-sts.txt' ? status : 404, {
      'content-type': 'text/plain',
      ...headers,
    });
    response.end(policy);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const made = await world(t, {
    zones: {
      ...ZONES,
      '_mta-sts.remote.test': { TXT: ['v=STSv1; id=one;'] },
      'mta-sts.remote.test': { A: ['127.0.0.1'] },
    },
    ca: `${web.cert}${mx.cert}`,
    stsPort: (server.address() as AddressInfo).port,
    ...rest.world,
  });
  return { ...made, mxCertificate: mx, fetches: () => fetched, server };
}

const ENFORCE = 'version: STSv1\r\nmode: enforce\r\nmx: *.remote.test\r\nmax_age: 604800\r\n';

test('an enforced policy wants the certificate of the host, and tries the next without it', async (t) => {
  const { remote, deliver, mxCertificate, fetches, policies } = await withPolicy(t, { policy: ENFORCE });
  const wrong = await remote('127.0.0.2', { tls: mxCertificate });
  const right = await remote('127.0.0.3', { tls: mxCertificate });
  const report = await deliver('remote.test');
  t.is(only(report), 'delivered 2.0.0');
  t.deepEqual(tried(report), ['mx1.remote.test 127.0.0.2', 'mx2.remote.test 127.0.0.3']);
  t.is(report.attempts[0]!.recipients[0]!.statusCode, '4.7.5');
  t.regex(report.attempts[1]!.tls!, /\(verified\)$/);
  t.deepEqual([wrong.messages.length, right.messages.length, fetches()], [0, 1, 1]);
  t.like(policies.get('remote.test'), { id: 'one', mode: 'enforce', mx: ['*.remote.test'] });
  await right.close();
  t.is(only(await deliver('remote.test')), 'temporary 4.4.1');
});

test('under an enforced policy nothing goes in the clear, and to no other host', async (t) => {
  const { remote, bare, deliver } = await withPolicy(t, { policy: ENFORCE });
  const plain = await remote('127.0.0.2');
  const broken = await bare('127.0.0.3', withoutHandshake);
  const report = await deliver('remote.test');
  t.deepEqual(
    report.attempts.map(({ recipients }) => recipients[0]!.statusCode),
    ['4.7.4', '4.7.5'],
  );
  t.is(only(report), 'temporary 4.7.5');
  t.deepEqual([plain.messages.length, broken.connections], [0, 1]);

  const other = await withPolicy(t, { policy: ENFORCE.replace('*.remote.test', 'elsewhere.test') });
  t.is(only(await other.deliver('remote.test')), 'temporary 4.7.0');
});

test('a policy in testing mode changes nothing and is logged', async (t) => {
  const { remote, deliver, logged } = await withPolicy(t, { policy: ENFORCE.replace('enforce', 'testing') });
  await remote('127.0.0.2');
  t.is(only(await deliver('remote.test')), 'delivered 2.0.0');
  t.truthy(logged.find(({ host, msg }) => host === 'mx1.remote.test' && String(msg).includes('MTA-STS')));
});

test('what is no policy is none: redirects, other types, too long, wrong certificate, private address', async (t) => {
  const setups: StsSetup[] = [
    { policy: ENFORCE, status: 302, headers: { location: 'https://mta-sts.remote.test/.well-known/mta-sts.txt' } },
    { policy: ENFORCE, headers: { 'content-type': 'text/html' } },
    { policy: `${ENFORCE}${'x: y\r\n'.repeat(20_000)}` },
    { policy: ENFORCE, world: { ca: (await pairFor('other.test')).cert } },
    { policy: 'mode: enforce' },
  ];
  for (const setup of setups) {
    const { remote, deliver, policies, fetches } = await withPolicy(t, setup);
    const mx = await remote('127.0.0.2');
    t.is(only(await deliver('remote.test')), 'delivered 2.0.0');
    const before = fetches();
    await deliver('remote.test');
    t.is(fetches(), before, 'it is not asked for again at once');
    t.is(policies.size, 0);
    await mx.close();
  }
  const inner = await withPolicy(t, { policy: ENFORCE, world: { allowPrivate: false } });
  await inner.deliver('remote.test');
  t.is(inner.fetches(), 0);
});

test('a policy that was seen holds while its host and DNS are silent', async (t) => {
  const { remote, deliver, policies, dns, server } = await withPolicy(t, { policy: ENFORCE });
  server.close();
  policies.set('remote.test', { id: 'old', mode: 'enforce', mx: ['mx9.remote.test'], expiresAt: Date.now() + 60_000 });
  dns.zones.set('_mta-sts.remote.test', { rcode: 'SERVFAIL' });
  const mx = await remote('127.0.0.2');
  t.is(only(await deliver('remote.test')), 'temporary 4.7.0');
  t.is(mx.connections, 0);
});
