// The mail hosts of a domain: MX look-up with priorities and ties in random order (RFC 5321 §5.1), the implicit MX, the null MX (RFC 7505),
// address literals; and the addresses of a host.

import type { DeliveryFault } from '../../mail-format/reports/delivery-status.js';
import { type Dns, DnsFailure, type MxRecord } from '../dns/resolver.js';
import { canonicalAddress } from '../tcp/ip-address.js';

export interface Exchanger {
  /** Lower case without a final dot; a literal has its brackets. */
  readonly host: string;
  readonly priority: number;
  /** The address of a literal. */
  readonly address?: string;
  /** True for the domain itself, when it has no MX record. */
  readonly isImplicit: boolean;
}

/** Returned when there is no route to the domain, or to a host. */
export interface NoRoute {
  readonly fault: DeliveryFault;
  readonly detail: string;
}

const HOST_NAME = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Returns the hosts in the order of trying, at least one. `random` returns values in [0, 1). */
export async function mailExchangers(
  dns: Dns,
  domain: string,
  random: () => number,
): Promise<readonly Exchanger[] | NoRoute> {
  if (domain.startsWith('[')) return literal(domain);
  let records: readonly MxRecord[];
  try {
    records = await dns.resolve(domain, 'MX');
  } catch (error) {
    if (!(error instanceof DnsFailure)) throw error;
    if (error.temporary) return { fault: 'dns', detail: `DNS gives no answer for MX of ${domain} (${error.code})` };
    if (error.code !== 'ENODATA') return { fault: 'no-domain', detail: `there is no domain ${domain} (${error.code})` };
    records = [];
  }
  if (records.length === 0) return [{ host: domain, priority: 0, isImplicit: true }];
  const hosts = records.map(({ priority, exchange }) => ({
    priority,
    host: exchange.toLowerCase().replace(/\.$/, ''),
  }));
  if (hosts.length === 1 && hosts[0]!.host === '') {
    return { fault: 'null-mx', detail: `${domain} does not accept mail (null MX)` };
  }
  const usable = hosts.filter(({ host }) => HOST_NAME.test(host));
  if (usable.length === 0) return { fault: 'no-host', detail: `no MX record of ${domain} names a host` };
  const best = new Map<string, number>();
  for (const { host, priority } of usable) best.set(host, Math.min(priority, best.get(host) ?? priority));
  return [...best]
    .map(([host, priority]) => ({ host, priority, isImplicit: false, draw: random() }))
    .sort((a, b) => a.priority - b.priority || a.draw - b.draw)
    .map(({ host, priority, isImplicit }) => ({ host, priority, isImplicit }));
}

/** RFC 5321 §4.1.3. */
function literal(domain: string): readonly Exchanger[] | NoRoute {
  const address = canonicalAddress(domain.slice(1, -1).replace(/^ipv6:/i, ''));
  if (address === undefined) return { fault: 'bad-address', detail: `${domain} is no address` };
  return [{ host: domain, priority: 0, address, isImplicit: false }];
}

/** Returns IPv6 addresses first, and addresses of one family in random order. @throws nothing: DNS faults are in the result */
export async function hostAddresses(
  dns: Dns,
  { host, address, isImplicit }: Exchanger,
  random: () => number,
): Promise<readonly string[] | NoRoute> {
  if (address !== undefined) return [address];
  const answers = await Promise.allSettled([dns.resolve(host, 'AAAA'), dns.resolve(host, 'A')]);
  const found = new Set<string>();
  let silent: string | undefined;
  for (const answer of answers) {
    if (answer.status === 'fulfilled') {
      for (const text of shuffled(answer.value, random)) {
        const plain = canonicalAddress(text);
        if (plain !== undefined) found.add(plain);
      }
    } else if (!(answer.reason instanceof DnsFailure)) throw answer.reason;
    else if (answer.reason.temporary) silent = answer.reason.code;
  }
  if (found.size > 0) return [...found];
  if (silent !== undefined) return { fault: 'dns', detail: `DNS gives no answer for ${host} (${silent})` };
  if (isImplicit) return { fault: 'no-domain', detail: `${host} has neither a mail host nor an address` };
  return { fault: 'no-host', detail: `mail host ${host} has no address` };
}

function shuffled<T>(values: readonly T[], random: () => number): T[] {
  return values
    .map((value) => ({ value, draw: random() }))
    .sort((a, b) => a.draw - b.draw)
    .map(({ value }) => value);
}
