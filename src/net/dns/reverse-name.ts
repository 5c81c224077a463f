// The name of an address in reverse DNS (RFC 1035 §3.5, RFC 3596 §2.5).
import { isIP } from 'node:net';

/** Undefined for text that is not an address. */
export function reverseName(address: string): string | undefined {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  const family = isIP(plain);
  if (family === 0 || plain.includes('%')) return undefined;
  if (family === 4) return `${plain.split('.').reverse().join('.')}.in-addr.arpa`;
  return `${nibblesOf(plain).toReversed().join('.')}.ip6.arpa`;
}

/** The 32 hexadecimal digits of an IPv6 address. */
export function nibblesOf(address: string): readonly string[] {
  // The URL parser writes every form of an address as groups of hexadecimal digits.
  const [head = '', tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const [front, back] = [groups(head), groups(tail ?? '')];
  const all = [...front, ...Array<string>(8 - front.length - back.length).fill('0'), ...back];
  return all.flatMap((group) => [...group.padStart(4, '0')]);
}
