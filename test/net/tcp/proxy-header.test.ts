// Tests the codec of PROXY headers: an encoded header is read, wherever it is cut and whatever follows; other octets are left
// alone, and a header that begins right and goes on wrong is an error.

import fc from 'fast-check';
import { canonicalAddress } from '../../../src/net/tcp/ip-address.js';
import { encodeProxyHeader, ProxyHeaderError, parseProxyHeader } from '../../../src/net/tcp/proxy-header.js';
import { V2_LOCAL, v1, v2 } from '../../support/proxy-protocol.js';
import test from '../../support/test.js';

const port = fc.integer({ min: 0, max: 0xffff });
const octets = (size: number) => fc.uint8Array({ minLength: size, maxLength: size });
/** A header and the source it names. */
const header = fc.oneof(
  fc.tuple(fc.oneof(fc.ipV4(), fc.ipV6()), port).map(([address, of]) => ({
    bytes: v1(address, of),
    source: { address: canonicalAddress(address)!, port: of },
  })),
  fc.tuple(fc.ipV4(), port, fc.uint8Array({ maxLength: 300 })).map(([address, of, tlvs]) => ({
    bytes: v2(address, of, tlvs),
    source: { address, port: of },
  })),
  fc.tuple(octets(16), port).map(([address, of]) => {
    const groups = Array.from({ length: 8 }, (_, i) => Buffer.from(address.subarray(2 * i, 2 * i + 2)).toString('hex'));
    return {
      bytes: encodeProxyHeader(address, of),
      source: { address: canonicalAddress(groups.join(':'))!, port: of },
    };
  }),
);

test('what is encoded is read, and what follows is left', (t) => {
  fc.assert(
    fc.property(header, fc.uint8Array({ maxLength: 200 }), ({ bytes, source }, rest) => {
      const parsed = parseProxyHeader(Buffer.concat([bytes, rest]));
      t.deepEqual(parsed, { kind: 'header', length: bytes.length, source });
    }),
  );
  t.pass();
});

test('a header cut anywhere wants more', (t) => {
  fc.assert(
    fc.property(header, fc.nat(), ({ bytes }, at) => {
      t.deepEqual(parseProxyHeader(bytes.subarray(0, at % bytes.length)), { kind: 'more' });
    }),
  );
});

test('whatever comes, there is an answer, or the one error, and nothing is read beyond the end', (t) => {
  const start = fc.constantFrom(
    '',
    'PROXY ',
    'PROXY TCP4 1.2.3.4 ',
    '\r\n\r\n\0\r\nQUIT\n',
    '\r\n\r\n\0\r\nQUIT\n\x21\x11',
  );
  fc.assert(
    fc.property(start, fc.uint8Array({ maxLength: 5000 }), fc.boolean(), (prefix, garbage, lines) => {
      const bytes = Buffer.concat([Buffer.from(prefix, 'latin1'), garbage, Buffer.from(lines ? '\r\n' : '')]);
      try {
        const parsed = parseProxyHeader(bytes);
        if (parsed.kind === 'header') t.true(parsed.length <= bytes.length);
        // A peer must not make the server wait, and buffer, for ever.
        if (parsed.kind === 'more') t.true(bytes.length < 4096);
      } catch (error) {
        t.true(error instanceof ProxyHeaderError, String(error));
      }
    }),
  );
});

test('LOCAL, UNKNOWN and sockets that are not TCP name nobody', (t) => {
  const unix = Buffer.concat([V2_LOCAL, Buffer.alloc(216)]);
  unix.set([0x21, 0x31, 0, 216], 12);
  const datagram = v2('192.0.2.7');
  datagram[13] = 0x12;
  for (const bytes of [
    V2_LOCAL,
    Buffer.from('PROXY UNKNOWN\r\n'),
    Buffer.from('PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n'),
    unix,
    datagram,
  ]) {
    t.deepEqual(parseProxyHeader(bytes), { kind: 'header', length: bytes.length, source: undefined });
  }
});

test('octets that begin no header are told at the first one that differs', (t) => {
  for (const text of [
    'EHLO x\r\n',
    'PO',
    'PROPFIND / HTTP/1.1\r\n',
    'GET',
    '\r\nGET',
    '\n',
    'proxy TCP4',
    'PROXYTCP4',
  ]) {
    t.deepEqual(parseProxyHeader(Buffer.from(text)), { kind: 'none' }, text);
  }
});

test('broken headers', (t) => {
  const binary = (...from: number[]): Buffer => {
    const bytes = v2('192.0.2.7');
    bytes.set(from, 12);
    return bytes;
  };
  for (const bytes of [
    'PROXY TCP4 192.0.2.7 192.0.2.1 1 2\n',
    'PROXY TCP4 192.0.2.7 192.0.2.1 1\r\n',
    'PROXY TCP4 192.0.2.7 192.0.2.1 1 2 3\r\n',
    'PROXY TCP4 192.0.2.7  192.0.2.1 1 2\r\n',
    'PROXY TCP4 192.0.2.7 192.0.2.1 65536 2\r\n',
    'PROXY TCP4 192.0.2.7 192.0.2.1 -1 2\r\n',
    'PROXY TCP4 192.0.2.256 192.0.2.1 1 2\r\n',
    'PROXY TCP4 2001:db8::1 2001:db8::2 1 2\r\n',
    'PROXY TCP6 192.0.2.7 192.0.2.1 1 2\r\n',
    'PROXY TCP6 fe80::1%eth0 fe80::2 1 2\r\n',
    'PROXY UDP4 192.0.2.7 192.0.2.1 1 2\r\n',
    'PROXY UNKNOWNS\r\n',
    'PROXY \r\n',
    `PROXY UNKNOWN ${'x'.repeat(200)}`,
    binary(0x11),
    binary(0x22),
    binary(0x21, 0x41),
    binary(0x21, 0x13),
    binary(0x21, 0x11, 0, 11),
    binary(0x21, 0x21, 0, 12),
    binary(0x21, 0x11, 0xff, 0xff),
  ]) {
    t.throws(() => parseProxyHeader(Buffer.from(bytes)), { instanceOf: ProxyHeaderError }, String(bytes));
  }
});
