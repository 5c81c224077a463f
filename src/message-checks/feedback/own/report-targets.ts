// Where the report about a domain goes: the addresses in its DMARC record, as far as their own domains allow that (RFC 7489 §7.1), so that
// nobody can have reports sent to strangers.
import { parseAddress } from '../../../mail-format/address.js';
import { type Dns, DnsFailure } from '../../../net/dns/resolver.js';
import { type DmarcRecord, dmarcRecord } from '../../mailauth/dmarc-record.js';
import { Lookups } from '../../mailauth/lookups.js';
import { organizationalDomain, walkTree } from '../../mailauth/tree-walk.js';
import { reportAddresses } from '../report-addresses.js';

export interface ReportPlan {
  readonly record: DmarcRecord;
  readonly targets: readonly { readonly address: string; readonly most: number | undefined }[];
}

/** RFC 7489 §6.2 asks for two at least. */
const MOST_TARGETS = 5;
const DEADLINE_MS = 20_000;
const LOOKUPS = 100;
const AUTHORIZATION = /^\s*v\s*=\s*DMARC1\s*(?:;|$)/i;

/** Undefined when the domain wants no reports any more. @throws DnsFailure when DNS cannot say now */
export async function planReport(dns: Dns, domain: string): Promise<ReportPlan | undefined> {
  const lookups = new Lookups(dns, '', { deadlineMs: DEADLINE_MS, lookups: LOOKUPS });
  try {
    const texts = await textsAt(lookups, `_dmarc.${domain}`);
    const [record, ...others] = texts.flatMap((text) => dmarcRecord(text) ?? []);
    if (record?.policy === undefined || others.length > 0) return undefined;
    const targets: { address: string; most: number | undefined }[] = [];
    for (const { address, most } of reportAddresses(texts)) {
      const parsed = address === undefined ? undefined : parseAddress(address);
      if (address === undefined || parsed === undefined || parsed.domain.startsWith('[')) continue;
      if (targets.length < MOST_TARGETS && (await mayGet(lookups, domain, parsed.domain)))
        targets.push({ address, most });
    }
    return targets.length === 0 ? undefined : { record, targets };
  } finally {
    lookups.close();
  }
}

async function mayGet(lookups: Lookups, domain: string, host: string): Promise<boolean> {
  if (host === domain || (await organizationOf(lookups, host)) === (await organizationOf(lookups, domain))) return true;
  const texts = await textsAt(lookups, `${domain}._report._dmarc.${host}`);
  return texts.some((text) => AUTHORIZATION.test(text));
}

async function organizationOf(lookups: Lookups, domain: string): Promise<string> {
  const walk = await walkTree(domain, lookups);
  if (walk.isCut) throw new DnsFailure('ESERVFAIL', `_dmarc.${domain}`, 'TXT');
  return organizationalDomain(walk);
}

async function textsAt(lookups: Lookups, name: string): Promise<readonly string[]> {
  try {
    return ((await lookups.resolve(name, 'TXT')) as readonly (readonly string[])[]).map((strings) => strings.join(''));
  } catch (error) {
    if (error instanceof DnsFailure && !error.temporary) return [];
    throw error;
  }
}
