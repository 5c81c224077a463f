// Checks which URLs that users gave may be sent to: push endpoints and webhooks. Only the URL is checked here, also before it is stored;
// the client checks the addresses of its host at each connection.
import { isPublicAddress } from '../tcp/address-scope.js';
import { canonicalAddress } from '../tcp/ip-address.js';

const LONGEST_URL = 2048;

/** Returns why requests to the URL are refused; undefined when they are allowed. `allowPrivate` allows private addresses and http. */
export function targetUrlFault(text: string, allowPrivate: boolean): string | undefined {
  if (text.length > LONGEST_URL || !URL.canParse(text)) return `must be a URL of at most ${LONGEST_URL} characters`;
  const { protocol, hostname, username, password } = new URL(text);
  if (protocol !== 'https:' && !(allowPrivate && protocol === 'http:')) return 'must be an https URL';
  if (username !== '' || password !== '') return 'must not name a user';
  if (!allowPrivate && isPrivate(hostname)) return 'must not be on a private address';
  return undefined;
}

/** Returns the address of a host that is an address; undefined for a name. `hostname` is that of a URL, which normalizes addresses. */
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
