// Checks which URLs that others chose may be asked: push endpoints and webhooks of users, images that mail refers to. Only the URL is
// checked here, also before it is stored; the client checks the addresses of its host at each connection.
import { isPublicAddress } from '../tcp/address-scope.js';
import { canonicalAddress } from '../tcp/ip-address.js';

const LONGEST_URL = 2048;
const NO_URL = `must be a URL of at most ${LONGEST_URL} characters`;

/** Private addresses that requests may reach: none, all, or those for which the function returns true. */
export type AllowPrivate = boolean | ((address: string) => boolean);

/** Returns why requests to the URL are refused; undefined when they are allowed. `allowPrivate` allows private addresses and http. */
export function targetUrlFault(text: string, allowPrivate: AllowPrivate): string | undefined {
  if (!isUrl(text)) return NO_URL;
  const url = new URL(text);
  const isSafe = url.protocol === 'https:' || (allowPrivate !== false && url.protocol === 'http:');
  return isSafe ? hostFault(url, allowPrivate) : 'must be an https URL';
}

/** The same for a URL of the web: http is allowed, and only the ports 80 and 443. `allowPrivate` allows every port. */
export function webUrlFault(text: string, allowPrivate: AllowPrivate): string | undefined {
  if (!isUrl(text)) return NO_URL;
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be an http or https URL';
  if (allowPrivate === false && !['', '80', '443'].includes(url.port)) return 'must have the port 80 or 443';
  return hostFault(url, allowPrivate);
}

function isUrl(text: string): boolean {
  return text.length <= LONGEST_URL && URL.canParse(text);
}

function hostFault({ hostname, username, password }: URL, allowPrivate: AllowPrivate): string | undefined {
  if (username !== '' || password !== '') return 'must not name a user';
  if (isPrivate(hostname, allowPrivate)) return 'must not be on a private address';
  return undefined;
}

/** Whether requests may go to the address. */
export function isReachable(address: string, allowPrivate: AllowPrivate): boolean {
  if (isPublicAddress(address)) return true;
  return typeof allowPrivate === 'function' ? allowPrivate(address) : allowPrivate;
}

/** Returns the address of a host that is an address; undefined for a name. `hostname` is that of a URL, which normalizes addresses. */
export function literalAddress(hostname: string): string | undefined {
  return canonicalAddress(hostname.startsWith('[') ? hostname.slice(1, -1) : hostname);
}

/** Names that are never public count as private. */
function isPrivate(hostname: string, allowPrivate: AllowPrivate): boolean {
  const address = literalAddress(hostname);
  if (address !== undefined) return !isReachable(address, allowPrivate);
  if (allowPrivate !== false) return false;
  const name = hostname.replace(/\.$/, '');
  return !name.includes('.') || /\.(localhost|local|internal|home\.arpa)$/.test(name);
}
