import { forwardedFor } from '../../../../src/gateways/http/server/client-address.js';
import { TrustedNetworks } from '../../../../src/net/tcp/trusted-networks.js';
import test from '../../../support/test.js';

const trusted = new TrustedNetworks(['10.0.0.0/8', '2001:db8:ffff::/48']);

test('the last address that is no proxy of ours is the client', (t) => {
  const cases: Record<string, string | undefined> = {
    '203.0.113.7': '203.0.113.7',
    '198.51.100.1, 203.0.113.7': '203.0.113.7',
    '198.51.100.1,203.0.113.7 , 10.0.0.1,2001:db8:ffff::1': '203.0.113.7',
    // What stands before the client's address may be anything.
    'unknown, ;drop, 203.0.113.7, 10.0.0.1': '203.0.113.7',
    '203.0.113.7:4711, 10.0.0.1:80': '203.0.113.7',
    '[2001:db8::7]:4711': '2001:db8::7',
    '[2001:DB8::7]': '2001:db8::7',
    '2001:db8::7, ::ffff:10.0.0.1': '2001:db8::7',
    // The request comes from a trusted network.
    '10.0.0.2, 10.0.0.1': '10.0.0.2',
    '': undefined,
    unknown: undefined,
    '203.0.113.7, unknown': undefined,
    '203.0.113.7, unknown, 10.0.0.1': undefined,
    '203.0.113.7,': undefined,
    '203.0.113.256': undefined,
    '2001:db8::7:x': undefined,
  };
  for (const [list, client] of Object.entries(cases)) t.is(forwardedFor(list, trusted), client, list);
});
