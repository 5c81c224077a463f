// The DNS Tree Walk (RFC 9989 §4.10): finds the DMARC records of a domain and of the domains above it, then its organizational domain and
// the policy that applies. It asks for at most eight names, all at once, since their answers are remembered for the next message.
import { DnsFailure } from '../../net/dns/resolver.js';
import { type DmarcRecord, dmarcRecord } from './dmarc-record.js';
import type { Lookups } from './lookups.js';

/** The records found, the longest name first. */
export interface Walk {
  readonly domain: string;
  readonly records: readonly (readonly [name: string, record: DmarcRecord])[];
  /** True when DNS did not answer: from there on, names are not among the records. */
  readonly isCut: boolean;
}

export interface Discovery {
  /** The domain that has the record. */
  readonly name: string;
  readonly record: DmarcRecord;
  /** True when the record is that of the domain itself. */
  readonly isOwn: boolean;
}

const MOST_LABELS = 8;

/** Returns the names that a walk asks for, the domain itself first; an address literal has none. */
function walkNames(domain: string): readonly string[] {
  if (domain.startsWith('[')) return [];
  const labels = domain.split('.');
  const parents = labels.slice(labels.length < MOST_LABELS ? 1 : 1 - MOST_LABELS);
  return [domain, ...parents.map((_, i) => parents.slice(i).join('.'))];
}

/** Never rejects. */
export async function walkTree(domain: string, lookups: Lookups): Promise<Walk> {
  const names = walkNames(domain);
  const found = await Promise.all(names.map((name) => recordAt(name, lookups)));
  const records: (readonly [string, DmarcRecord])[] = [];
  for (const [i, record] of found.entries()) {
    const name = names[i]!;
    // Few top-level domains have a record, and a server that fails for a whole top-level domain must not disable DMARC for it.
    if (record === 'failed' && name.includes('.')) return { domain, records, isCut: true };
    if (record === 'failed' || record === undefined) continue;
    records.push([name, record]);
    if (record.psd !== 'u') break;
  }
  return { domain, records, isCut: false };
}

/** §4.10.2. The walk must not be cut. */
export function organizationalDomain({ domain, records }: Walk): string {
  for (const [name, { psd }] of records) {
    if (psd === 'n') return name;
    if (psd === 'y' && name !== domain) return childOf(name, domain);
  }
  return records.at(-1)?.[0] ?? domain;
}

/** §4.10.1: finds the policy of the domain, otherwise of its organizational domain, otherwise of its public suffix. */
export function discoverPolicy(walk: Walk): Discovery | 'none' | 'unknown' {
  const { domain, records, isCut } = walk;
  const at = (name: string | undefined) => records.find(([other]) => other === name);
  const own = at(domain);
  if (own !== undefined) return { name: domain, record: own[1], isOwn: true };
  if (isCut) return 'unknown';
  const found = at(organizationalDomain(walk)) ?? records.find(([, { psd }]) => psd === 'y');
  return found === undefined ? 'none' : { name: found[0], record: found[1], isOwn: false };
}

/** Returns the domain one label below `parent` that contains `domain` or equals it. */
function childOf(parent: string, domain: string): string {
  return domain
    .split('.')
    .slice(-(parent.split('.').length + 1))
    .join('.');
}

async function recordAt(name: string, lookups: Lookups): Promise<DmarcRecord | 'failed' | undefined> {
  try {
    const texts = (await lookups.resolve(`_dmarc.${name}`, 'TXT')) as readonly (readonly string[])[];
    const records = texts.flatMap((strings) => dmarcRecord(strings.join('')) ?? []);
    return records.length === 1 ? records[0] : undefined;
  } catch (error) {
    return error instanceof DnsFailure && error.temporary ? 'failed' : undefined;
  }
}
