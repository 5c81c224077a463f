// Tests which names get certificates: those of a domain only where they lead to the addresses of the deployment.
import { type Dns, DnsFailure } from '../../../src/net/dns/resolver.js';
import { CertificateNames } from '../../../src/node/certificates/certificate-names.js';
import test from '../../support/test.js';

const NOTHING = { covers: () => false };

/** Answers from a table `TYPE name`; `ESERVFAIL` stands for a server that fails. */
function dnsOf(records: Readonly<Record<string, readonly string[] | 'ESERVFAIL'>>): Dns {
  const resolve = async (name: string, type: string) => {
    const found = records[`${type} ${name}`];
    if (found === 'ESERVFAIL' || found === undefined) throw new DnsFailure(found ?? 'ENODATA', name, type);
    return found;
  };
  return { resolve: resolve as never };
}

test('names that lead here, by all their addresses', async (t) => {
  const dns = dnsOf({
    'A mail.test': ['192.0.2.1'],
    'AAAA mail.test': ['2001:db8::1'],
    'A app.test': ['192.0.2.2'],
    'A mta-sts.a.test': ['192.0.2.1', '192.0.2.2'],
    'AAAA autoconfig.a.test': ['2001:db8::1'],
    // The authority may ask the other address.
    'A autodiscover.a.test': ['192.0.2.1', '198.51.100.1'],
    'A mta-sts.b.test': ['198.51.100.1'],
  });
  const names = new CertificateNames(['mail.test', 'app.test'], dns, NOTHING);
  t.deepEqual(await names.of(undefined), ['mail.test', 'app.test']);
  t.deepEqual(await names.of('a.test'), ['mta-sts.a.test', 'autoconfig.a.test']);
  t.deepEqual(await names.of('b.test'), []);
  const long = 'a'.repeat(60);
  t.deepEqual(await names.of(`${long}.${long}.${long}.${long}.test`), []);
});

test('DNS that fails is no answer', async (t) => {
  const here = { 'A mail.test': ['192.0.2.1'] } as const;
  const failing = new CertificateNames(['mail.test'], dnsOf({ ...here, 'A mta-sts.a.test': 'ESERVFAIL' }), NOTHING);
  t.is(await failing.of('a.test'), undefined);
  t.deepEqual(await failing.of(undefined), ['mail.test']);
  const blind = new CertificateNames(['mail.test'], dnsOf({ 'A mail.test': 'ESERVFAIL' }), NOTHING);
  t.is(await blind.of('a.test'), undefined);
});

test("names of the operator's certificates are left out", async (t) => {
  const dns = dnsOf({
    'A mail.test': ['192.0.2.1'],
    'A mta-sts.a.test': ['192.0.2.1'],
    'A autoconfig.a.test': ['192.0.2.1'],
  });
  const covers = (host: string) => host === 'mail.test' || host === 'mta-sts.a.test';
  const names = new CertificateNames(['mail.test', 'app.test'], dns, { covers });
  t.deepEqual(await names.of(undefined), ['app.test']);
  t.deepEqual(await names.of('a.test'), ['autoconfig.a.test']);
});
