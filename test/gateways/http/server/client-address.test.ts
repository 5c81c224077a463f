import { clientSecurity, forwardedFor } from '../../../../src/gateways/http/server/client-address.js';
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

test('the scheme is the socket’s, or what a proxy of ours says', (t) => {
  // The token of a connection names its listener and its peer.
  const connection = (token: string) => ({ getProxiedRemoteAddress: () => new TextEncoder().encode(token).buffer });
  const peers = (addresses: Readonly<Record<string, string>>) => ({
    addressOf: (token: Uint8Array) => addresses[new TextDecoder().decode(token)],
  });
  const plain = peers({ proxy: '10.0.0.1', client: '203.0.113.7' });
  const secured = peers({ 'secured proxy': '10.0.0.1', 'secured client': '203.0.113.7' });
  const isSecure = clientSecurity([plain, secured], secured, trusted);
  const ask = (token: string, proto?: string) =>
    isSecure(connection(token) as never, new Map(proto === undefined ? [] : [['x-forwarded-proto', proto]]));
  for (const [token, proto, expected] of [
    ['proxy', 'https', true],
    ['proxy', 'HTTPS', true],
    ['proxy', 'wss', true],
    ['proxy', 'https, http', true],
    ['proxy', 'http', false],
    ['proxy', 'http, https', false],
    ['proxy', 'httpsx', false],
    ['proxy', '', false],
    ['proxy', undefined, false],
    ['client', 'https', false],
    ['client', undefined, false],
    ['secured proxy', 'http', false],
    ['secured proxy', undefined, true],
    ['secured client', 'http', true],
    ['secured client', undefined, true],
    ['unknown', 'https', false],
  ] as const)
    t.is(ask(token, proto), expected, `${token} ${proto}`);
});
