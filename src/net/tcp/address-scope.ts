// Decides which IP addresses lead to the Internet. Addresses that others choose for this server to connect to (an MX record, the host of a
// policy) must be public, or they could make it connect to its own network.
import { BlockList, isIPv6 } from 'node:net';
import { addressText, canonicalAddress } from './ip-address.js';

const INNER: readonly (readonly [address: string, bits: number, family: 'ipv4' | 'ipv6'])[] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  // Multicast, reserved, broadcast.
  ['224.0.0.0', 3, 'ipv4'],
  // Unspecified, loopback, and the deprecated form of IPv4 in IPv6 (RFC 4291 §2.5.5.1).
  ['::', 96, 'ipv6'],
  // IPv4 as translators within a network write it (RFC 2765 §2.1).
  ['::ffff:0:0:0', 96, 'ipv6'],
  ['64:ff9b:1::', 48, 'ipv6'],
  ['100::', 64, 'ipv6'],
  // Teredo.
  ['2001::', 32, 'ipv6'],
  // Benchmarks (RFC 5180), like 198.18.0.0/15.
  ['2001:2::', 48, 'ipv6'],
  // Segments within a network (RFC 9602).
  ['5f00::', 16, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['fec0::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
];
const inner = new BlockList();
for (const [address, bits, family] of INNER) inner.addSubnet(address, bits, family);

/** Also false for text that is not an address. IPv4 inside IPv6 (mapped, RFC 6052, RFC 3056) counts as the address to which it leads. */
export function isPublicAddress(text: string): boolean {
  const address = canonicalAddress(text);
  if (address === undefined || text.includes('%')) return false;
  if (!isIPv6(address)) return !inner.check(address, 'ipv4');
  if (inner.check(address, 'ipv6')) return false;
  const embedded = embeddedAddress(address);
  return embedded === undefined || !inner.check(embedded, 'ipv4');
}

function embeddedAddress(address: string): string | undefined {
  const groups = groupsOf(address);
  const at = groups[0] === 0x2002 ? 1 : groups[0] === 0x64 && groups[1] === 0xff9b ? 6 : undefined;
  if (at === undefined) return undefined;
  const [high, low] = [groups[at]!, groups[at + 1]!];
  return addressText(Uint8Array.of(high >> 8, high & 255, low >> 8, low & 255));
}

/** The eight groups of an address in canonical form. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const part = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const [front, back] = [part(head), part(tail ?? '')];
  return [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back];
}
