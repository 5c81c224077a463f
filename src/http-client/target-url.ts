// Which URLs that users gave may be sent to: push endpoints and webhooks. The URL alone is judged here, also before the URL is
// stored; the addresses of its host are judged by the client at each connection.
import { isPublicAddress } from '../gateways/tcp/address-scope.js';
import { canonicalAddress } from '../gateways/tcp/ip-address.js';

const LONGEST_URL = 2048;

/** Why nothing is sent to the URL; undefined when the URL is fit. `allowPrivate`: private addresses, and http. */
export function targetUrlFault(text: string, allowPrivate: boolean): string | undefined {
  if (text.length > LONGEST_URL || !URL.canParse(text)) return `must be a URL of at most ${LONGEST_URL} characters`;
  const { protocol, hostname, username, password } = new URL(text);
  if (protocol !== 'https:' && !(allowPrivate && protocol === 'http:')) return 'must be an https URL';
  if (username !== '' || password !== '') return 'must not name a user';
  if (!allowPrivate && isPrivate(hostname)) return 'must not be on a private address';
  return undefined;
}

/** The address of a host that is one; undefined for a name. `hostname`: of a URL, which has addresses in their one form. */
export function literalAddress(hostname: string): string | undefined {
  return canonicalAddress(hostname.startsWith('[') ? hostname.slice(1, -1) : hostname);
}

/** Names that are never public count as private. */
function isPrivate(hostname: string): boolean {
  const address = literalAddress(hostname);
  if (address !== undefined) return !isPublicAddress(address);
  const name = hostname.replace(/\.$/, '');
  return !name.includes('.') || /\.(localhost|local|internal|home\.arpa)$/.test(name);
}
