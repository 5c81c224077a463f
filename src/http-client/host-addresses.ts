// The addresses of a host that may be connected to. All of them are judged: a name that has a private address beside public
// ones is refused as a whole, so whoever owns the name cannot have this server try its own network (DNS rebinding).
import { type Dns, DnsFailure } from '../dns/resolver.js';
import { isPublicAddress } from '../gateways/tcp/address-scope.js';
import { canonicalAddress } from '../gateways/tcp/ip-address.js';
import { failed, type HttpFailure } from './outcome.js';
import { literalAddress } from './target-url.js';

/** More addresses than anybody tries. */
const MOST_ADDRESSES = 8;
const LOOPBACK = ['127.0.0.1', '::1'];

/** At least one. `hostname`: of a URL. @throws nothing of DNS: what DNS says is in the result */
export async function hostAddresses(
  dns: Dns,
  hostname: string,
  allowPrivate: boolean,
): Promise<readonly string[] | HttpFailure> {
  const literal = literalAddress(hostname);
  const found = literal === undefined ? await lookedUp(dns, hostname.replace(/\.$/, '')) : [literal];
  if ('failure' in found) return found;
  // Which address it is stays here: users see the text, and may have no other way to names of the server's own network.
  if (!allowPrivate && !found.every(isPublicAddress)) {
    return failed('private-address', `${hostname} has a private address`);
  }
  return found.slice(0, MOST_ADDRESSES);
}

async function lookedUp(dns: Dns, name: string): Promise<readonly string[] | HttpFailure> {
  // RFC 6761 §6.3: DNS is not asked.
  if (/(?:^|\.)localhost$/.test(name)) return LOOPBACK;
  const answers = await Promise.allSettled([dns.resolve(name, 'AAAA'), dns.resolve(name, 'A')]);
  const found = new Set<string>();
  let reason = 'it has no address';
  for (const answer of answers) {
    if (answer.status === 'fulfilled') {
      for (const text of answer.value) {
        const address = canonicalAddress(text);
        if (address !== undefined) found.add(address);
      }
    } else if (!(answer.reason instanceof DnsFailure)) throw answer.reason;
    else if (answer.reason.temporary) reason = `DNS does not answer (${answer.reason.code})`;
  }
  return found.size > 0 ? [...found] : failed('name', `no address of ${name}: ${reason}`);
}
