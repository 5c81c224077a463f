// Tests what is counted of TLS with real servers, in the words of RFC 8460: once a connection, under the policy of the domain. A report about
// TLS arrives in spite of the policy, and is not counted.
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { scripted } from '../../../dev/servers/remote-smtp.js';
import { negotiated } from '../../../src/net/smtp-client/tls-results.js';
import type { TlsResult } from '../../../src/store/feedback/own-tls-reports.js';
import { pairFor } from '../../support/key-pair.js';
import test from '../../support/test.js';
import { MESSAGE, only, type WorldOptions, world } from './client-world.js';

const ZONES = { 'remote.test': { MX: [[10, 'mx1.remote.test']] }, 'mx1.remote.test': { A: ['127.0.0.2'] } } as const;
const REPORT = MESSAGE.replace('Subject', 'TLS-Report-Domain: remote.test\r\nSubject');
const POLICY = { id: 'one', mode: 'enforce', mx: ['*.remote.test'], maxAge: 86_400 } as const;

/** Results in short: policy type, mode, host, result and reason. */
async function counting(t: ExecutionContext, options: WorldOptions = {}) {
  const seen: (readonly [domain: string, result: TlsResult])[] = [];
  const made = await world(t, {
    zones: ZONES,
    tlsResults: { add: (domain, result) => void seen.push([domain, result]) },
    ...options,
  });
  return {
    ...made,
    take: () =>
      seen.splice(0).map(([domain, { policyType, policy, host, address, result, reason }]) => {
        t.is(domain, 'remote.test');
        t.is(address === null, host === null || (reason === 'mx-not-in-policy' && policy?.mode === 'enforce'));
        return [policyType, policy?.mode, host, result, reason].join(' ');
      }),
    policy(mode: 'enforce' | 'testing', mx: readonly string[] = POLICY.mx) {
      made.policies.set('remote.test', { ...POLICY, mode, mx, expiresAt: Date.now() + 86_400_000 });
    },
  };
}

test('without a policy any encryption is a success; what is not encrypted says why, once a connection', async (t) => {
  const { remote, bare, deliver, take } = await counting(t);
  const encrypting = await remote('127.0.0.2', { tls: await pairFor('somebody.else.test') });
  for (let i = 0; i < 3; i++) await deliver('remote.test');
  t.is(encrypting.connections, 1);
  t.deepEqual(take(), ['no-policy-found  mx1.remote.test success ']);
  await encrypting.close();
  const plain = await remote('127.0.0.2');
  await deliver('remote.test');
  t.deepEqual(take(), ['no-policy-found  mx1.remote.test starttls-not-supported ']);
  await plain.close();
  const broken = await bare('127.0.0.2', (socket) => {
    scripted({ EHLO: '250-x\r\n250 STARTTLS', STAR: '220 go', DATA: '354 go' })(socket);
    socket.on('data', (text: string) => text.startsWith('\x16') && socket.write('500 what is this\r\n'));
  });
  t.is(only(await deliver('remote.test')), 'delivered 2.0.0');
  const [failure, ...others] = take();
  t.regex(failure!, /^no-policy-found {2}mx1\.remote\.test validation-failure ERR_SSL_\w+$/);
  t.deepEqual(others, [], 'the connection without TLS is not another failure');
  t.is(broken.connections, 2);
});

test('a policy wants the certificate of a host that it names', async (t) => {
  const good = await pairFor('mx1.remote.test');
  const wrong = await pairFor('mx1.remote.test');
  // A policy is remembered, so each case has its own transport.
  const resultsOf = async (
    mode: 'enforce' | 'testing',
    { mx, tls, text }: { readonly mx?: readonly string[]; readonly tls?: typeof good; readonly text?: string },
  ) => {
    const { remote, deliver, take, policy } = await counting(t, { ca: good.cert });
    policy(mode, mx);
    const server = await remote('127.0.0.2', tls && { tls });
    const outcome = only(await deliver('remote.test', ['b'], text));
    await server.close();
    return [outcome, ...take()];
  };
  const elsewhere = { mx: ['elsewhere.test'], tls: good };
  const [kept, notNamed] = ['temporary 4.7.0', 'mx1.remote.test validation-failure mx-not-in-policy'];
  const untrusted = 'mx1.remote.test certificate-not-trusted DEPTH_ZERO_SELF_SIGNED_CERT';
  const sent = 'delivered 2.0.0';
  t.deepEqual(await resultsOf('enforce', { tls: good }), [sent, 'sts enforce mx1.remote.test success ']);
  t.deepEqual(await resultsOf('testing', { tls: good }), [sent, 'sts testing mx1.remote.test success ']);
  t.deepEqual(await resultsOf('enforce', elsewhere), [kept, `sts enforce ${notNamed}`]);
  t.deepEqual(await resultsOf('testing', elsewhere), [sent, `sts testing ${notNamed}`]);
  t.deepEqual(await resultsOf('enforce', { tls: wrong }), ['temporary 4.7.5', `sts enforce ${untrusted}`]);
  t.deepEqual(await resultsOf('testing', { tls: wrong }), [sent, `sts testing ${untrusted}`]);
  // The form of a report evades the policy for the null sender alone.
  for (const text of [MESSAGE, REPORT])
    t.deepEqual(await resultsOf('enforce', { text }), [
      'temporary 4.7.4',
      'sts enforce mx1.remote.test starttls-not-supported ',
    ]);
});

test('a report about TLS arrives in spite of the policy, and is not counted', async (t) => {
  const { remote, transport, task, take, policy } = await counting(t);
  const plain = await remote('127.0.0.2');
  policy('enforce', ['elsewhere.test']);
  t.is(only(await transport.deliver({ ...task('remote.test', ['b'], REPORT), sender: '' })), 'delivered 2.0.0');
  t.is(plain.messages.length, 1);
  t.deepEqual(take(), []);
});

test('a policy that is announced and cannot be fetched or read is a failure of its own', async (t) => {
  const host = await pairFor('mta-sts.remote.test');
  let policy = 'mode: enforce';
  let status = 200;
  const server = createServer(host, (_request, response) => {
    response.writeHead(status, { 'content-type': 'text/plain' }).end(policy);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const announced = {
    '_mta-sts.remote.test': { TXT: ['v=STSv1; id=one;'] },
    'mta-sts.remote.test': { A: ['127.0.0.1'] },
  };
  const stsPort = (server.address() as AddressInfo).port;
  const results = async (ca: string) => {
    const { remote, deliver, take } = await counting(t, { zones: { ...ZONES, ...announced }, stsPort, ca });
    const mx = await remote('127.0.0.2');
    await deliver('remote.test');
    await mx.close();
    return take().filter((text) => text.startsWith('sts'));
  };
  t.deepEqual(await results(host.cert), ['sts   sts-policy-invalid ']);
  status = 404;
  t.deepEqual(await results(host.cert), ['sts   sts-policy-fetch-error ']);
  t.deepEqual(await results((await pairFor('other.test')).cert), [
    'sts   sts-webpki-invalid DEPTH_ZERO_SELF_SIGNED_CERT',
  ]);
  [policy, status] = ['version: STSv1\nmode: testing\nmx: mx1.remote.test\nmax_age: 604800\n', 200];
  t.deepEqual(await results(host.cert), ['sts testing mx1.remote.test starttls-not-supported ']);
});

test('codes of certificates have their words', (t) => {
  const policy = { ...POLICY, expiresAt: 0 };
  const of = (fault: string | undefined, isEncrypted = true) =>
    negotiated(policy, { host: 'mx1.remote.test', address: '192.0.2.1', isEncrypted, fault }).result;
  t.is(of('CERT_HAS_EXPIRED'), 'certificate-expired');
  t.is(of('ERR_TLS_CERT_ALTNAME_INVALID'), 'certificate-host-mismatch');
  t.is(of('UNABLE_TO_VERIFY_LEAF_SIGNATURE', false), 'certificate-not-trusted');
  t.is(of('ECONNRESET', false), 'validation-failure');
  t.is(of(undefined, false), 'validation-failure');
  t.is(of(undefined), 'success');
  t.deepEqual(
    negotiated(policy, { host: 'mx1.remote.test', address: '192.0.2.1', isEncrypted: true, fault: undefined }),
    {
      policyType: 'sts',
      policy: { mode: 'enforce', mx: ['*.remote.test'], maxAge: 86_400 },
      host: 'mx1.remote.test',
      address: '192.0.2.1',
      result: 'success',
      reason: null,
    },
  );
});
