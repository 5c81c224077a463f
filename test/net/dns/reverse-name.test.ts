// Tests the names of addresses in reverse DNS.
import { reverseName } from '../../../src/net/dns/reverse-name.js';
import test from '../../support/test.js';

test('addresses of both families, in every form', (t) => {
  t.is(reverseName('203.0.113.5'), '5.113.0.203.in-addr.arpa');
  t.is(reverseName('::ffff:203.0.113.5'), '5.113.0.203.in-addr.arpa');
  const six = 'b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa';
  t.is(reverseName('2001:db8::567:89ab'), six);
  t.is(reverseName('2001:0DB8:0:0:0:0:567:89AB'), six);
  t.is(reverseName('2001:db8::5.103.137.171'), six);
  t.is(reverseName('::1'), `1.${'0.'.repeat(31)}ip6.arpa`);
  for (const wrong of ['mail.example.org', '', '1.2.3', 'fe80::1%eth0']) t.is(reverseName(wrong), undefined, wrong);
});
