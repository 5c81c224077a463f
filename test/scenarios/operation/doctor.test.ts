// Tests `mansio doctor` beside a running node, with the zones of its domain on a real DNS server.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { certificate } from '../../../dev/certificate.js';
import { type DnsServer, startDnsServer, type Zone } from '../../../dev/servers/dns-server.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import type { Finding } from '../../../src/node/doctor/finding.js';
import { mansio } from '../../support/command.js';
import { startTestNode } from '../../support/node.js';
import test from '../../support/test.js';

const HOST = 'mx.example.test';

interface Shown {
  readonly records: readonly { readonly name: string; readonly type: string; readonly value: readonly string[] }[];
}

/** What an operator does with the output of `mansio domain show`. */
function publish(dns: DnsServer, { records }: Shown): void {
  for (const { name, type, value } of records) {
    const zone: { -readonly [K in keyof Zone]: Zone[K] } = { ...dns.zones.get(name) };
    if (type === 'TXT') zone.TXT = [...(zone.TXT ?? []), value.join('')];
    if (type === 'MX') zone.MX = [[Number(value[0]), value[1]!.replace(/\.$/, '')]];
    if (type === 'CNAME') zone.CNAME = value[0]!.replace(/\.$/, '');
    if (type === 'SRV')
      zone.SRV = [[Number(value[0]), Number(value[1]), Number(value[2]), value[3]!.replace(/\.$/, '')]];
    dns.zones.set(name, zone);
  }
}

test('doctor tells an operator what to publish, and is content when it is', async (t) => {
  const dns = await startDnsServer();
  t.teardown(() => dns.close());
  const directory = temporaryDirectory('mansio-doctor-');
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  writeFileSync(cert, certificate.cert);
  writeFileSync(key, certificate.key);
  const tls = { MANSIO_TLS_CERT: cert, MANSIO_TLS_KEY: key };
  const settings = { ...tls, MANSIO_HOSTNAME: HOST, MANSIO_DNS: dns.address, MANSIO_OUTBOUND_ALLOW_PRIVATE: 'true' };
  const node = await startTestNode({ ...settings, MANSIO_HOSTED_DOMAINS: 'example.test' });
  const run = (...args: string[]) => mansio(node.dataDir, args, settings);
  const doctor = async (...args: string[]) => {
    const { code, stdout, stderr } = await run('doctor', '--json', ...args);
    const findings = JSON.parse(stdout) as Finding[];
    const of = (check: string) => findings.filter((found) => found.check === check);
    return { code, stderr, findings, of, statusOf: (check: string) => of(check).map(({ status }) => status) };
  };

  const before = await doctor();
  t.is(before.code, 1);
  t.regex(before.stderr, /^error: \d+ of \d+ checks failed\n$/);
  for (const check of ['mx', 'spf', 'dkim']) t.deepEqual(before.statusOf(check), ['fail'], check);
  t.is(before.of('dkim')[0]!.fix, 'mansio domain add example.test');
  t.is(before.of('mx')[0]!.fix, `example.test. IN MX 10 ${HOST}.`);
  t.deepEqual(
    new Set(before.findings.flatMap((found) => Object.keys(found))),
    new Set(['check', 'subject', 'status', 'detail', 'fix']),
  );
  t.true(before.findings.every(({ status, fix }) => (status === 'ok') === (fix === null)));

  const added = JSON.parse((await run('domain', 'add', 'example.test', '--json')).stdout) as Shown;
  publish(dns, added);
  dns.zones.set(HOST, { A: ['127.0.0.1'] });
  dns.zones.set('1.0.0.127.in-addr.arpa', { PTR: [HOST] });
  const after = await doctor();
  t.deepEqual(
    after.findings.filter(({ status }) => status === 'fail'),
    [],
  );
  t.deepEqual([after.code, after.stderr], [0, '']);
  for (const check of ['spf', 'dkim', 'dmarc', 'srv', 'ptr'])
    t.like(after.of(check), [{ status: 'ok' }], after.of(check)[0]?.detail);
  t.regex(after.of('mx')[0]!.detail, /connect to port 25/);
  // Each listener answers from inside, and those of mail at the address that DNS has.
  const listeners = after.of('listener').map(({ subject, status }) => `${subject.split(' ')[0]} ${status}`);
  const mail = ['mx', 'submission', 'submissions', 'imap', 'imaps', 'pop3', 'pop3s'];
  t.deepEqual(listeners.sort(), [...mail, ...mail, 'sieve', 'http'].map((name) => `${name} ok`).sort());
  t.like(after.of('certificate'), [
    { subject: HOST, status: 'warn', detail: 'it is self-signed: mail programs refuse it' },
  ]);
  t.deepEqual(
    new Set(after.of('database').map(({ subject }) => subject)),
    new Set(['version', 'settings', 'space', 'replication']),
  );

  const published = dns.zones.get('mansio._domainkey.example.test')!;
  dns.zones.set('mansio._domainkey.example.test', {
    TXT: [published.TXT![0]!.replace(/p=.{20}/, 'p=MIIBIjANBgkqhkiG9w0A')],
  });
  dns.zones.set('example.test', { ...dns.zones.get('example.test'), TXT: ['v=spf1 -all'] });
  const broken = await doctor('--domain', 'example.test');
  t.deepEqual([broken.statusOf('dkim'), broken.statusOf('spf')], [['fail'], ['fail']]);
  t.is(broken.of('spf')[0]!.fix, 'example.test. IN TXT "v=spf1 ip4:127.0.0.1 -all"');
  t.regex(broken.of('dkim')[0]!.fix!, /^mansio\._domainkey\.example\.test\. IN TXT "v=DKIM1; k=rsa; p=/);

  const unknown = await run('doctor', '--domain', 'example.org');
  t.deepEqual([unknown.code, unknown.stderr], [1, 'error: not a hosted domain: example.org\n']);
  const words = (await run('doctor')).stdout;
  t.regex(
    words,
    /^FAIL {2}spf +example\.test: 127\.0\.0\.1 \(mx\.example\.test\) may not send: fail by v=spf1 -all\n +-> example\.test\. IN TXT/m,
  );

  t.is((await node.stop()).code, 0);
  const stopped = await doctor();
  t.deepEqual([stopped.statusOf('nodes'), stopped.statusOf('listener')], [['fail'], ['fail']]);
  t.is(stopped.of('listener')[0]!.fix, 'systemctl start mansio');
});

test('doctor reports a database that does not answer', async (t) => {
  const dns = await startDnsServer();
  t.teardown(() => dns.close());
  const envFile = join(temporaryDirectory('mansio-doctor-'), 'mansio.env');
  writeFileSync(envFile, 'MANSIO_HOSTNAME=mail.example.test\n');
  const args = ['doctor', '--json', '--domain', 'example.test', '--env-file', envFile];
  const { code, stdout } = await mansio('/nowhere', args, {
    DATABASE_URL: 'postgres://mansio@127.0.0.1:1/mansio',
    MANSIO_DNS: dns.address,
    MANSIO_DATA_DIR: process.cwd(),
  });
  t.is(code, 1);
  const findings = JSON.parse(stdout) as Finding[];
  t.like(findings[0], { check: 'database', subject: 'server', status: 'fail', fix: 'systemctl start postgresql' });
  t.like(
    findings.find(({ check }) => check === 'spf'),
    { subject: 'example.test', status: 'fail' },
  );
  t.is(findings.find(({ check }) => check === 'queue')?.status, 'warn');
  t.is(findings.find(({ check }) => check === 'nodes')?.fix, `mansio doctor --env-file ${envFile}`);
});
