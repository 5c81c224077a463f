// Tests the names and answers of DNS block lists (RFC 5782).
import { blockListName, listingIn } from '../../../src/net/dns/block-list.js';
import test from '../../support/test.js';

test('an address is looked up by its octets or nibbles, the last first', (t) => {
  t.is(blockListName('192.0.2.99', 'bl.test'), '99.2.0.192.bl.test');
  t.is(
    blockListName('2001:db8:1:2:3:4:567:89ab', 'bl.test'),
    'b.a.9.8.7.6.5.0.4.0.0.0.3.0.0.0.2.0.0.0.1.0.0.0.8.b.d.0.1.0.0.2.bl.test',
  );
});

test('an address of 127.0.0.0/8 is a listing; an error of the list, the loopback address and other addresses are none', (t) => {
  t.is(listingIn(['127.0.0.2']), 'listed');
  t.is(listingIn(['127.0.1.4', '203.0.113.1']), 'listed');
  for (const code of ['127.255.255.252', '127.255.255.254', '127.255.255.255']) t.is(listingIn([code]), 'refused');
  t.is(listingIn(['127.0.0.1']), 'clear');
  t.is(listingIn(['203.0.113.1']), 'clear');
  t.is(listingIn([]), 'clear');
});
