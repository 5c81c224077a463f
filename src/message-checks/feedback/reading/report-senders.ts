// Decides who sent a report, and whether it was sent to an address that the domain names for reports. What a report itself says about its
// author proves nothing.
import { canonicalAddress } from '../../../mail-format/address.js';
import type { Authenticated } from '../../../mail-format/authentication/authentication.js';
import { authorDomain } from '../../../mail-format/authentication/author-domain.js';
import type { MessageIndex } from '../../../mail-format/message-index.js';
import { type Dns, DnsFailure } from '../../../net/dns/resolver.js';
import { ownerDomain } from '../owner-domain.js';
import { reportAddresses } from '../report-addresses.js';

/**
 * Returns the domain that is authenticated as the sender: that of From when DMARC passes, else the first for which SPF or a signature
 * passes. Undefined for a message that nobody answers for, and for one that fails DMARC: it is not read.
 */
export function reportSender(
  { envelope }: Pick<MessageIndex, 'envelope'>,
  { passed, summary }: Pick<Authenticated, 'passed' | 'summary'>,
): string | undefined {
  if (summary['dmarc'] === 'fail') return undefined;
  const author = authorDomain(envelope.from[0]?.address ?? '');
  const sender = summary['dmarc'] === 'pass' ? author : passed[0];
  return sender === undefined ? undefined : ownerDomain(sender);
}

/** Whether reports about the domain may come to one of the addresses. @throws DnsFailure when DNS cannot say now */
export async function isAddressee(
  dns: Dns,
  report: { readonly kind: 'dmarc' | 'tls'; readonly domain: string; readonly hosted: string },
  recipients: readonly string[],
): Promise<boolean> {
  const to = new Set(recipients.map((address) => canonicalAddress(address) ?? address));
  // `mansio domain` prints records with this address.
  if (to.has(`postmaster@${report.hosted}`)) return true;
  const prefix = report.kind === 'dmarc' ? '_dmarc' : '_smtp._tls';
  for (const name of new Set([report.domain, report.hosted]))
    for (const { address } of reportAddresses(await texts(dns, `${prefix}.${name}`)))
      if (address !== undefined && to.has(canonicalAddress(address) ?? address)) return true;
  return false;
}

async function texts(dns: Dns, name: string): Promise<readonly string[]> {
  try {
    return (await dns.resolve(name, 'TXT')).map((strings) => strings.join(''));
  } catch (error) {
    if (error instanceof DnsFailure && !error.temporary) return [];
    throw error;
  }
}
