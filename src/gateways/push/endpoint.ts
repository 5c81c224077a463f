// Which URLs are taken as push endpoints. The server will send requests to them, so what leads into its own network is
// refused here when it is plain to see; names are looked up when something is sent, which is the sender's to judge.
import { isPublicAddress } from '../tcp/address-scope.js';

const LONGEST_ENDPOINT = 2048;

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
  if (hostname.startsWith('[')) return !isPublicAddress(hostname.slice(1, -1));
  if (/^\d+(\.\d+){3}$/.test(hostname)) return !isPublicAddress(hostname);
  const name = hostname.replace(/\.$/, '');
  return !name.includes('.') || /\.(localhost|local|internal|home\.arpa)$/.test(name);
}
