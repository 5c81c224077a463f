// Tests the records from which mail programs find their servers.
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { autoconfigCheck, srvCheck } from '../../../../src/node/doctor/domain/mail-program-checks.js';
import { generateCertificate } from '../../../../src/node/tls/certificate-generator.js';
import test from '../../../support/test.js';
import { ADDRESS, DOMAIN, HOST, NODE, subjectFor } from '../subjects.js';

test('SRV: missing and wrong records; what is off needs none', async (t) => {
  const { pop3: _, pop3s: __, ...open } = NODE.listeners!;
  const of = async (zones: Readonly<Record<string, Parameters<Map<string, object>['set']>[1]>>) => {
    const { subject, server, planOf } = await subjectFor(t, { nodes: [{ ...NODE, listeners: open }] });
    for (const [name, zone] of Object.entries(zones)) server.zones.set(name, zone);
    return srvCheck.run({ name: DOMAIN, plan: planOf(DOMAIN) }, subject);
  };
  t.like(await of({}), { status: 'ok' });
  t.like(await of({ '_pop3s._tcp.example.org': {} }), { status: 'ok' });
  t.like(await of({ '_pop3s._tcp.example.org': { SRV: [[0, 1, 995, HOST]] } }), { status: 'warn' });
  t.like(await of({ '_imaps._tcp.example.org': {} }), {
    status: 'warn',
    detail: '_imaps._tcp.example.org is missing',
    fix: `_imaps._tcp.example.org. IN SRV 0 1 993 ${HOST}.`,
  });
  const two = { '_imaps._tcp.example.org': {}, '_imap._tcp.example.org': { SRV: [[0, 1, 143, 'old.example.org']] } };
  t.like(await of(two), { status: 'warn', fix: 'mansio domain show example.org' });
});

test('autoconfig: the names lead here', async (t) => {
  const bare = await subjectFor(t);
  const plan = bare.planOf(DOMAIN);
  t.like(await autoconfigCheck.run({ name: DOMAIN, plan }, bare.subject), {
    status: 'warn',
    fix: 'MANSIO_HTTPS_PORT=443',
  });
  const { subject, server, planOf } = await subjectFor(t, { env: { MANSIO_PUBLIC_URL: `https://${HOST}` } });
  const run = () => autoconfigCheck.run({ name: DOMAIN, plan: planOf(DOMAIN) }, subject);
  server.zones.delete('autoconfig.example.org');
  server.zones.set('autodiscover.example.org', { A: ['192.0.2.77'] });
  server.zones.set(HOST, { A: [ADDRESS] });
  t.like(await run(), {
    status: 'warn',
    detail: 'autoconfig.example.org has no address',
    fix: 'mansio domain show example.org',
  });
});

test('autoconfig: the names have certificates', async (t) => {
  const names = ['autoconfig.example.org', 'autodiscover.example.org'];
  const of = async (name: string) => {
    const pair = await generateCertificate(name, Date.now());
    const server = createServer(pair, (_, response) => response.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const env = { MANSIO_PUBLIC_URL: `https://${HOST}:${port}` };
    const { subject, server: dns, planOf } = await subjectFor(t, { env, more: { dialMs: 20_000 } });
    dns.zones.set(HOST, { A: ['127.0.0.1'] });
    return autoconfigCheck.run({ name: DOMAIN, plan: planOf(DOMAIN) }, subject);
  };
  t.like(await of('*.example.org'), { status: 'ok', detail: names.join(', ') });
  t.like(await of('autoconfig.example.org'), {
    status: 'warn',
    detail: 'the certificate at autodiscover.example.org is not for this name',
    fix: 'a certificate for autodiscover.example.org',
  });
});
