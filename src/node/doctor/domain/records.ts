// What the checks of a domain share: the planned records, the addresses of the hosts that send, and the findings about DNS itself.
import type { Dns } from '../../../net/dns/resolver.js';
import { isPublicAddress } from '../../../net/tcp/address-scope.js';
import { canonicalAddress } from '../../../net/tcp/ip-address.js';
import { type DnsPlan, type DnsRecord, isFullName, zoneLines } from '../../domains/dns-records.js';
import { type CheckResult, shown, warn } from '../finding.js';
import {
  addressesOf,
  answerOf,
  type DnsAnswer,
  type DoctorSubject,
  machineAddresses,
  sendingHosts,
} from '../subject.js';

/** The line of a zone file. */
export function zoneLine(record: DnsRecord): string {
  return zoneLines({ records: [record], notes: [] })[0]!;
}

export function txtRecord(name: string, text: string): string {
  return zoneLine({ name, type: 'TXT', value: [text] });
}

export function plannedRecord({ records }: DnsPlan, type: DnsRecord['type'], name: string): DnsRecord | undefined {
  return records.find((record) => record.type === type && record.name === name);
}

/** The texts of the TXT records of a name, each joined from its strings. */
export async function textsOf(dns: Dns, name: string): Promise<DnsAnswer<string>> {
  const answer = await answerOf(dns.resolve(name, 'TXT'));
  if (answer.kind !== 'found') return answer;
  return { kind: 'found', records: answer.records.map((strings) => strings.join('')) };
}

/** The finding when no server answers for a name. */
export function silence(
  domain: string,
  what: string,
  { code }: Extract<DnsAnswer<unknown>, { kind: 'silent' }>,
): CheckResult {
  const [type = '', , name = domain] = what.split(' ');
  const fix = code === 'ECONNREFUSED' ? 'MANSIO_DNS of a name server that answers' : `dig +trace ${type} ${name}`;
  return warn(domain, `DNS gives no answer for ${what} (${shown(code)})`, fix);
}

/** The setting with which pages and policies are at port 443 of a name: of a node itself, or of the proxy that MANSIO_PUBLIC_URL names. */
export function httpsSetting({ config: { publicUrl, hostname } }: DoctorSubject): string {
  if (publicUrl === undefined) return 'MANSIO_HTTPS_PORT=443';
  const { hostname: told } = new URL(publicUrl);
  return `MANSIO_PUBLIC_URL=https://${isFullName(told) ? told : hostname}`;
}

export function hostName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

export interface SendingAddress {
  readonly host: string;
  readonly address: string;
}

/** The addresses that DNS has for the hosts that send mail, and the hosts without an address. */
export async function sendingAddresses(
  subject: DoctorSubject,
): Promise<{ readonly addresses: readonly SendingAddress[]; readonly unknown: readonly string[] }> {
  const hosts = sendingHosts(subject);
  const answers = await Promise.all(hosts.map((host) => addressesOf(subject.dns, host)));
  const addresses = answers.flatMap((answer, i) =>
    answer.kind === 'found'
      ? answer.records.map((address) => ({ host: hosts[i]!, address: canonicalAddress(address) ?? address }))
      : [],
  );
  return { addresses, unknown: hosts.filter((_, i) => answers[i]!.kind !== 'found') };
}

/** The finding when DNS has no address for the hosts that send. */
export function noAddress(domain: string, hosts: readonly string[]): CheckResult {
  const host = hosts[0]!;
  return warn(domain, `DNS has no address of ${hosts.join(', ')}, so this cannot be checked`, addressRecord(host));
}

/** The address record of a host, with the address of this machine where it has a public one. */
export function addressRecord(host: string): string {
  const own = machineAddresses().find((address) => isPublicAddress(address) && !address.includes(':'));
  return `${host}. IN A ${own ?? 'ADDRESS'}`;
}
