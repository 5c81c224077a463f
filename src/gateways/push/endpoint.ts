// Which URLs are taken as push endpoints. The server will send requests to them, so what leads into its own network is
// refused here when it is plain to see; names are looked up when something is sent, which is the sender's to judge.
import { BlockList } from 'node:net';

const LONGEST_ENDPOINT = 2048;

const PRIVATE = new BlockList();
const NETWORKS: readonly (readonly [address: string, bits: number, family: 'ipv4' | 'ipv6'])[] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
  ['::', 127, 'ipv6'],
  // Forms of IPv4: translated (RFC 6052) and 6to4 (RFC 3056).
  ['64:ff9b::', 32, 'ipv6'],
  ['2002::', 16, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['fec0::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
];
for (const [address, bits, family] of NETWORKS) PRIVATE.addSubnet(address, bits, family);

/** What is wrong with the URL, undefined when nothing is. */
export function endpointFault(text: string, allowPrivate: boolean): string | undefined {
  if (text.length > LONGEST_ENDPOINT || !URL.canParse(text)) return 'must be the URL of a push service';
  const { protocol, hostname, username, password } = new URL(text);
  if (protocol !== 'https:' && !(allowPrivate && protocol === 'http:')) return 'must be an https URL';
  if (username !== '' || password !== '') return 'must not name a user';
  if (!allowPrivate && isPrivate(hostname)) return 'must not be on a private address';
  return undefined;
}

/** Of a URL, so addresses are in their one form; also names that are never public. */
function isPrivate(hostname: string): boolean {
  if (hostname.startsWith('[')) return PRIVATE.check(hostname.slice(1, -1), 'ipv6');
  if (/^\d+(\.\d+){3}$/.test(hostname)) return PRIVATE.check(hostname, 'ipv4');
  const name = hostname.replace(/\.$/, '');
  return !name.includes('.') || /\.(localhost|local|internal|home\.arpa)$/.test(name);
}
