// Tests the resolver with a real DNS server on loopback.

import { freePort } from '../../../dev/ports.js';
import { startDnsServer } from '../../../dev/servers/dns-server.js';
import { createResolver, DnsFailure } from '../../../src/net/dns/resolver.js';
import test from '../../support/test.js';

test('it answers from the servers it is given, and remembers', async (t) => {
  const server = await startDnsServer({
    'example.org': { MX: [[10, 'mx.example.org']], TXT: ['v=spf1 -all'] },
    'mx.example.org': { A: ['192.0.2.7'], AAAA: ['2001:db8::7'] },
    'alias.example.org': { CNAME: 'mx.example.org' },
    'broken.example.org': { rcode: 'SERVFAIL' },
  });
  t.teardown(() => server.close());
  // After three answers c-ares allows a try a quarter of a second: a process that is stopped for longer has further tries.
  const dns = createResolver({ servers: [server.address], timeoutMs: 5_000, tries: 5 });
  t.deepEqual(await dns.resolve('example.org', 'MX'), [{ priority: 10, exchange: 'mx.example.org' }]);
  t.deepEqual(await dns.resolve('example.org', 'TXT'), [['v=spf1 -all']]);
  t.deepEqual(await dns.resolve('mx.example.org', 'A'), ['192.0.2.7']);
  t.deepEqual(await dns.resolve('mx.example.org', 'AAAA'), ['2001:db8::7']);
  t.deepEqual(await dns.resolve('alias.example.org', 'A'), ['192.0.2.7']);
  await Promise.all([dns.resolve('MX.example.org', 'A'), dns.resolve('mx.example.org', 'A')]);
  t.is(server.asked.filter((question) => question === 'A mx.example.org').length, 1);

  const nobody = await t.throwsAsync(dns.resolve('nobody.example.org', 'A'), { instanceOf: DnsFailure });
  t.is(nobody.code, 'ENOTFOUND');
  t.false(nobody.temporary);
  const none = await t.throwsAsync(dns.resolve('example.org', 'AAAA'), { instanceOf: DnsFailure });
  t.is(none.code, 'ENODATA');
  const broken = await t.throwsAsync(dns.resolve('broken.example.org', 'A'), { instanceOf: DnsFailure });
  t.true(broken.temporary);
});

test('a name has its time also where others were answered quickly', async (t) => {
  const quick = Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`n${i}.example.org`, { A: ['192.0.2.1'] }]));
  const slow = { 'slow.example.org': { A: ['192.0.2.2'], delayMs: 2_500 } };
  const server = await startDnsServer({ ...quick, ...slow });
  t.teardown(() => server.close());
  const dns = createResolver({ servers: [server.address], timeoutMs: 5_000 });
  for (const name of Object.keys(quick)) await dns.resolve(name, 'A');
  t.deepEqual(await dns.resolve('slow.example.org', 'A'), ['192.0.2.2']);
  t.true(server.asked.filter((question) => question === 'A slow.example.org').length > 1, 'a short try came before');
});

test('when no server answers, look-ups fail at once after a few', async (t) => {
  const port = await freePort();
  const dns = createResolver({ servers: [`127.0.0.1:${port}`], timeoutMs: 50, tries: 1 });
  for (let i = 0; i < 5; i++) {
    const failure = await t.throwsAsync(dns.resolve(`n${i}.example.org`, 'MX'), { instanceOf: DnsFailure });
    t.true(failure.temporary);
  }
  const server = await startDnsServer({ 'later.example.org': { A: ['192.0.2.1'] } });
  t.teardown(() => server.close());
  const silent = await t.throwsAsync(dns.resolve('later.example.org', 'A'), { instanceOf: DnsFailure });
  t.is(silent.code, 'ETIMEOUT');
});

test('names that nobody answers for do not keep others from being looked up', async (t) => {
  const server = await startDnsServer({
    ...Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`n${i}.example.org`, { silent: true }])),
    'there.example.org': { A: ['192.0.2.1'] },
  });
  t.teardown(() => server.close());
  // A busy machine answers within this time.
  const dns = createResolver({ servers: [server.address], timeoutMs: 5000, tries: 1 });
  const failures = Array.from({ length: 12 }, (_, i) => t.throwsAsync(dns.resolve(`n${i}.example.org`, 'TXT')));
  await Promise.all(failures);
  t.deepEqual(await dns.resolve('there.example.org', 'A'), ['192.0.2.1']);
});
