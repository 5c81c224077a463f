// Greylisting (RFC 6647) of doubtful mail: a server that nobody knows is asked to try again, which servers of spammers seldom do. It is the
// last check of the chain, because the doubts of the others count. A server that cannot be asked about passes.
import { type Dns, DnsFailure } from '../../net/dns/resolver.js';
import { isPublicAddress } from '../../net/tcp/address-scope.js';
import { canonicalAddress, networkOf } from '../../net/tcp/ip-address.js';
import type { CheckedMessage, ContentCheck, Verdict } from '../content-check.js';
import { isOnlyForPostmaster } from '../postmaster.js';

/** The port of what servers have tried before: `GreylistStore` of src/store. */
export interface Greylist {
  ask(mail: {
    readonly network: string;
    readonly domains: readonly string[];
    readonly sender: string;
    readonly recipients: readonly string[];
  }): Promise<'known' | 'retried' | 'waiting' | 'full'>;
}

const DEADLINE_MS = 8_000;
/** The domains and recipients of one message that count. */
const MOST_DOMAINS = 4;
const MOST_RECIPIENTS = 100;
const LATER: Verdict = { verdict: 'defer', reply: 'Greylisted: try again in a minute' };
const ACCEPT: Verdict = { verdict: 'accept' };

export function greylistCheck(greylist: Greylist, dns: Dns): ContentCheck {
  return {
    name: 'greylist',
    deadlineMs: DEADLINE_MS,
    onFault: 'skip',
    async check(message, { sender, recipients }, { remoteAddress }) {
      const address = canonicalAddress(remoteAddress);
      if (address === undefined || !isPublicAddress(address) || isOnlyForPostmaster(recipients)) return ACCEPT;
      if (!isDoubtful(message) && !(await isNameless(address, dns))) return ACCEPT;
      const answer = await greylist.ask({
        network: greylistNetwork(address),
        domains: (message.authenticated?.passed ?? []).slice(0, MOST_DOMAINS),
        sender,
        recipients: recipients.slice(0, MOST_RECIPIENTS),
      });
      // Where a network has no room left, its mail would never become known.
      return answer === 'waiting' ? LATER : ACCEPT;
    },
  };
}

/** Another check doubts the message or calls it junk, or SPF says that the client may not send it. */
function isDoubtful({ isDoubtful: byChecks, authenticated }: CheckedMessage): boolean {
  const spf = authenticated?.summary['spf'];
  return byChecks === true || spf === 'fail' || spf === 'softfail';
}

/** Whether DNS says that the address has no name; no answer says nothing. */
async function isNameless(address: string, dns: Dns): Promise<boolean> {
  try {
    return (await dns.resolve(address, 'PTR')).length === 0;
  } catch (error) {
    return error instanceof DnsFailure && !error.temporary;
  }
}

/** The /24 of an IPv4 address or the /64 of an IPv6 one: the servers of one sender are near each other. */
export function greylistNetwork(address: string): string {
  return address.includes(':') ? networkOf(address) : `${address.split('.').slice(0, 3).join('.')}.0/24`;
}
