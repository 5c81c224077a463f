// Tests MTA-STS with its policy from a real https server, and TLS-RPT.
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Zone } from '../../../../dev/servers/dns-server.js';
import { stsCheck, tlsReportCheck } from '../../../../src/node/doctor/domain/transport-checks.js';
import { generateCertificate } from '../../../../src/node/tls/certificate-generator.js';
import test from '../../../support/test.js';
import { DOMAIN, HOST, subjectFor } from '../subjects.js';

const LOCAL = { [HOST]: { A: ['127.0.0.1'] }, 'mta-sts.example.org': { A: ['127.0.0.1'] } };
test('MTA-STS: record, host and policy', async (t) => {
  let policy = '';
  const pair = await generateCertificate('mta-sts.example.org', Date.now());
  const server = createServer(pair, (_, response) => response.setHeader('content-type', 'text/plain').end(policy));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port: policyPort } = server.address() as AddressInfo;
  const of = async (zones: Readonly<Record<string, Zone>>, text = '', ca = pair.cert) => {
    policy = text;
    const more = { policyPort, policyCa: ca, dialMs: 5_000 };
    const {
      subject,
      server: dns,
      planOf,
    } = await subjectFor(t, { env: { MANSIO_PUBLIC_URL: `https://${HOST}` }, more });
    for (const [name, zone] of Object.entries(zones)) dns.zones.set(name, zone);
    return stsCheck.run({ name: DOMAIN, plan: planOf(DOMAIN) }, subject);
  };
  const textOf = (mode: string, mx: string) => `version: STSv1\r\nmode: ${mode}\r\nmx: ${mx}\r\nmax_age: 604800\r\n`;
  const there = LOCAL;
  t.like(await of({ ...there, '_mta-sts.example.org': { TXT: ['v=STSv1; id=7'] } }, textOf('enforce', HOST)), {
    status: 'warn',
    detail: 'the id 7 is not that of the policy, so others keep the policy that they know',
  });
  t.like(await of(there, textOf('enforce', HOST)), { status: 'ok', detail: 'mode enforce, for 7 days' });
  t.like(await of({ ...LOCAL, '_mta-sts.example.org': {} }), { status: 'warn' });
  t.like(await of({ ...LOCAL, '_mta-sts.example.org': { TXT: ['v=STSv1; id='] } }), { status: 'fail' });
  t.like(await of({ ...there, 'mta-sts.example.org': {} }), { status: 'fail' });
  t.like(await of({ ...there, 'mta-sts.example.org': { A: ['192.0.2.9'] } }, ''), { status: 'warn' });
  t.like(await of(there, 'not a policy'), { status: 'fail' });
  t.like(await of(there, textOf('enforce', 'mx.elsewhere.net')), { status: 'fail' });
  t.like(await of(there, textOf('testing', 'mx.elsewhere.net')), { status: 'warn' });
  const { subject: silentSubject, planOf } = await subjectFor(t, { env: { MANSIO_MTA_STS_MODE: 'off' } });
  t.like(await stsCheck.run({ name: DOMAIN, plan: planOf(DOMAIN) }, silentSubject), { status: 'ok' });
  const bare = await subjectFor(t);
  const http = await subjectFor(t, { env: { MANSIO_PUBLIC_URL: `http://${HOST}:8080` } });
  const local = await subjectFor(t, { env: { MANSIO_PUBLIC_URL: 'http://127.0.0.1:8080' } });
  for (const [{ subject, planOf }, fix] of [
    [bare, 'MANSIO_HTTPS_PORT=443'],
    [http, `MANSIO_PUBLIC_URL=https://${HOST}`],
    [local, `MANSIO_PUBLIC_URL=https://${HOST}`],
  ] as const)
    t.like(await stsCheck.run({ name: DOMAIN, plan: planOf(DOMAIN) }, subject), {
      status: 'warn',
      detail: 'there is no policy: other servers read it over https at port 443',
      fix,
    });
  const foreign = await generateCertificate('mta-sts.example.org', Date.now());
  const unbelieved = await of(there, textOf('enforce', HOST), foreign.cert);
  t.like(unbelieved, { status: 'fail', fix: 'curl -v https://mta-sts.example.org/.well-known/mta-sts.txt' });
});

test('TLS-RPT', async (t) => {
  const of = async (...texts: string[]) => {
    const { subject, server, planOf } = await subjectFor(t);
    server.zones.set('_smtp._tls.example.org', { TXT: texts });
    return tlsReportCheck.run({ name: DOMAIN, plan: planOf(DOMAIN) }, subject);
  };
  t.like(await of('v=TLSRPTv1; rua=mailto:postmaster@example.org'), { status: 'ok' });
  t.like(await of(), {
    status: 'warn',
    fix: '_smtp._tls.example.org. IN TXT "v=TLSRPTv1; rua=mailto:postmaster@example.org"',
  });
  t.like(await of('v=TLSRPTv1;'), { status: 'fail' });
  const record = 'v=TLSRPTv1; rua=https://reports.example.org/tls';
  t.like(await of(record), { status: 'ok' });
  t.like(await of(record, record), { status: 'fail' });
});
