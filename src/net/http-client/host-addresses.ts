// Returns the addresses of a host that may be connected to. All of them are checked: a name that has both private and public addresses is
// refused as a whole, so that the owner of the name cannot make this server connect to its own network (DNS rebinding).
import { type Dns, DnsFailure } from '../dns/resolver.js';
import { canonicalAddress } from '../tcp/ip-address.js';
import { failed, type HttpFailure } from './outcome.js';
import { type AllowPrivate, isReachable, literalAddress } from './target-url.js';

/** More addresses than a connection attempt tries. */
const MOST_ADDRESSES = 8;
const LOOPBACK = ['127.0.0.1', '::1'];

/** Returns at least one address. `hostname` is that of a URL. @throws nothing of DNS: DNS faults are in the result */
export async function hostAddresses(
  dns: Dns,
  hostname: string,
  allowPrivate: AllowPrivate,
): Promise<readonly string[] | HttpFailure> {
  const literal = literalAddress(hostname);
  const found = literal === undefined ? await lookedUp(dns, hostname.replace(/\.$/, '')) : [literal];
  if ('failure' in found) return found;
  // The text does not name the address: users see it, and must not learn names of the server's own network.
  if (!found.every((address) => isReachable(address, allowPrivate))) {
    return failed('private-address', `${hostname} has a private address`);
  }
  return found.slice(0, MOST_ADDRESSES);
}

async function lookedUp(dns: Dns, name: string): Promise<readonly string[] | HttpFailure> {
  // RFC 6761 §6.3: these names are not looked up in DNS.
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
