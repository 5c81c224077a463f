// Writes PROXY headers as balancers do.
import { isIP } from 'node:net';
import { encodeProxyHeader } from '../../src/net/tcp/proxy-header.js';

export function v1(address: string, port = 40_000): Buffer {
  const [family, other] = isIP(address) === 6 ? ['TCP6', '2001:db8::1'] : ['TCP4', '192.0.2.1'];
  return Buffer.from(`PROXY ${family} ${address} ${other} ${port} 25\r\n`);
}

/** Supports only IPv4; `tlvs` are octets after the addresses. */
export function v2(address: string, port = 40_000, tlvs: Uint8Array = new Uint8Array(0)): Buffer {
  const header = encodeProxyHeader(Buffer.from(address.split('.').map(Number)), port);
  header.writeUInt16BE(12 + tlvs.length, 14);
  return Buffer.concat([header, tlvs]);
}

/** Version 2 of the header for a connection of the proxy itself. */
export const V2_LOCAL = Buffer.from('0d0a0d0a000d0a515549540a20000000', 'hex');
