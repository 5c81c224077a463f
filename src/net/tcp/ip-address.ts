// IP addresses in canonical form: two listeners, or a header and a socket, must give the same text for one peer, or limits by address would
// count it twice. IPv4-mapped IPv6 (RFC 4291 §2.5.5.2) is IPv4; other IPv6 is written as in RFC 5952.
import { isIP } from 'node:net';

/** The address in canonical form, without a zone; undefined when the text is not an IP address. */
export function canonicalAddress(text: string): string | undefined {
  const family = isIP(text);
  if (family === 4) return text;
  if (family !== 6) return undefined;
  const [address = ''] = text.split('%');
  const plain = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(plain);
  if (mapped === null) return plain;
  const [high, low] = [Number.parseInt(mapped[1]!, 16), Number.parseInt(mapped[2]!, 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** `octets`: 4 or 16 of them. */
export function addressText(octets: Uint8Array): string {
  if (octets.length === 4) return octets.join('.');
  const groups: string[] = [];
  for (let i = 0; i < 16; i += 2) groups.push(((octets[i]! << 8) | octets[i + 1]!).toString(16));
  return canonicalAddress(groups.join(':'))!;
}

/** The network that counts as one client: an IPv4 address, or the /64 in which an IPv6 host may choose its addresses. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const behind = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - behind.length);
  return `${[...groups, ...Array<string>(zeros).fill('0'), ...behind].slice(0, 4).join(':')}::/64`;
}
