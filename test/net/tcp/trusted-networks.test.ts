import { addressText, canonicalAddress } from '../../../src/net/tcp/ip-address.js';
import { TrustedNetworks } from '../../../src/net/tcp/trusted-networks.js';
import test from '../../support/test.js';

test('an address has one form', (t) => {
  t.is(canonicalAddress('192.0.2.7'), '192.0.2.7');
  t.is(canonicalAddress('::ffff:192.0.2.7'), '192.0.2.7');
  t.is(canonicalAddress('::FFFF:c000:207'), '192.0.2.7');
  t.is(canonicalAddress('2001:0DB8:0:0::0001'), '2001:db8::1');
  t.is(canonicalAddress('fe80::1%eth0'), 'fe80::1');
  for (const text of ['', '192.0.2', '192.0.2.7:25', '[::1]', 'localhost'])
    t.is(canonicalAddress(text), undefined, text);
  t.is(addressText(Uint8Array.of(192, 0, 2, 7)), '192.0.2.7');
  t.is(addressText(Buffer.from('20010db8000000000000000000000001', 'hex')), '2001:db8::1');
  t.is(addressText(Buffer.from('00000000000000000000ffffc0000207', 'hex')), '192.0.2.7');
});

test('networks of both families, and of IPv4 within IPv6', (t) => {
  const trusted = new TrustedNetworks(['10.0.0.0/8', '192.0.2.7/32', '2001:db8::/32', '::ffff:172.16.0.0/108']);
  t.false(trusted.isEmpty);
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '::ffff:a01:203', '192.0.2.7', '2001:db8:1::', '172.16.9.9']) {
    t.true(trusted.includes(address), address);
  }
  for (const address of ['11.0.0.1', '::ffff:11.0.0.1', '192.0.2.8', '2001:db9::1', '::1', '172.32.0.1', '', 'x']) {
    t.false(trusted.includes(address), address);
  }
});

test('no networks, no trust', (t) => {
  const trusted = new TrustedNetworks([]);
  t.true(trusted.isEmpty);
  for (const address of ['127.0.0.1', '::1', '']) t.false(trusted.includes(address));
});
