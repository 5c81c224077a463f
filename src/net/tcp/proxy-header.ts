// The PROXY protocol, versions 1 and 2 (HAProxy's "The PROXY protocol", 2020): a balancer writes the client's address before the first
// octet of a connection. Pure, bytes → header. The owner of the socket decides which peers may send a header, and how long to wait for one.
// The balancer's own addresses and TLVs are skipped.
import { isIP } from 'node:net';
import { addressText, canonicalAddress } from './ip-address.js';

export interface Endpoint {
  /** In canonical form (`ip-address`). */
  readonly address: string;
  readonly port: number;
}

export type ProxyHeader =
  /** The octets so far may begin a header. */
  | { readonly kind: 'more' }
  /** The octets begin no header: they belong to the client. */
  | { readonly kind: 'none' }
  /** The header has `length` octets; without a source (LOCAL, UNKNOWN) the proxy itself connects. */
  | { readonly kind: 'header'; readonly length: number; readonly source: Endpoint | undefined };

/** The octets begin a header, but do not continue as one. */
export class ProxyHeaderError extends Error {
  override readonly name = 'ProxyHeaderError';
}

const V1 = Buffer.from('PROXY ');
const V1_MAX = 107;
const V2 = Buffer.from('\r\n\r\n\0\r\nQUIT\n');
const V2_FIXED = 16;
/** The limit with TLVs; those of TLS are a few hundred octets. */
const V2_MAX = 4096;
const MORE: ProxyHeader = { kind: 'more' };
const NONE: ProxyHeader = { kind: 'none' };

/** `octets`: the beginning of the connection, of any length. @throws ProxyHeaderError */
export function parseProxyHeader(octets: Uint8Array): ProxyHeader {
  for (const [signature, parse] of [
    [V1, parseText],
    [V2, parseBinary],
  ] as const) {
    const start = octets.subarray(0, signature.length);
    if (signature.subarray(0, start.length).equals(start))
      return start.length < signature.length ? MORE : parse(octets);
  }
  return NONE;
}

function parseText(octets: Uint8Array): ProxyHeader {
  const end = octets.subarray(0, V1_MAX).indexOf(10);
  if (end < 0) {
    if (octets.length < V1_MAX) return MORE;
    throw new ProxyHeaderError(`no end of line within ${V1_MAX} octets`);
  }
  const line = Buffer.from(octets.subarray(0, end)).toString('latin1');
  const length = end + 1;
  if (!line.endsWith('\r')) throw new ProxyHeaderError('the line does not end in CRLF');
  if (/^PROXY UNKNOWN(?: .*)?\r$/s.test(line)) return { kind: 'header', length, source: undefined };
  const [, family, from = '', to = '', ...ports] =
    /^PROXY TCP([46]) ([^ %]+) ([^ %]+) (\d{1,5}) (\d{1,5})\r$/.exec(line) ?? [];
  const [port = 0, other = 0] = ports.map(Number);
  if (family === undefined || port > 0xffff || other > 0xffff || [from, to].some((ip) => isIP(ip) !== Number(family))) {
    throw new ProxyHeaderError('expected TCP4 or TCP6 with two addresses and two ports, or UNKNOWN');
  }
  return { kind: 'header', length, source: { address: canonicalAddress(from)!, port } };
}

function parseBinary(octets: Uint8Array): ProxyHeader {
  if (octets.length < V2_FIXED) return MORE;
  const [command = 0, family = 0] = octets.subarray(12, 14);
  const rest = (octets[14]! << 8) | octets[15]!;
  if (command !== 0x20 && command !== 0x21) throw new ProxyHeaderError('version and command are none of 0x20 and 0x21');
  if (family >> 4 > 3 || (family & 15) > 2) throw new ProxyHeaderError('unknown address family or transport');
  const length = V2_FIXED + rest;
  if (length > V2_MAX) throw new ProxyHeaderError(`longer than ${V2_MAX} octets`);
  // Only TCP over IP has a usable address: otherwise the peer's own counts, as the specification allows.
  const address = family === 0x11 ? 4 : family === 0x21 ? 16 : 0;
  if (rest < (address === 0 ? 0 : 2 * address + 4)) throw new ProxyHeaderError('too short for its addresses');
  if (octets.length < length) return MORE;
  if (command === 0x20 || address === 0) return { kind: 'header', length, source: undefined };
  const at = V2_FIXED + 2 * address;
  const port = (octets[at]! << 8) | octets[at + 1]!;
  return {
    kind: 'header',
    length,
    source: { address: addressText(octets.subarray(V2_FIXED, V2_FIXED + address)), port },
  };
}

/** Version 2, TCP; `source` has 4 or 16 octets. The destination is left zero. */
export function encodeProxyHeader(source: Uint8Array, port: number): Buffer {
  const size = source.length;
  const header = Buffer.alloc(V2_FIXED + 2 * size + 4);
  V2.copy(header);
  header[12] = 0x21;
  header[13] = size === 4 ? 0x11 : 0x21;
  header.writeUInt16BE(2 * size + 4, 14);
  header.set(source, V2_FIXED);
  header.writeUInt16BE(port, V2_FIXED + 2 * size);
  return header;
}
