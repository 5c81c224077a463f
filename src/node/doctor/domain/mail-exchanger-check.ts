// The check `mx`: mail of the domain comes to this deployment.
import { isPublicAddress } from '../../../net/tcp/address-scope.js';
import type { DomainCheck } from '../check.js';
import { type CheckResult, fail, ok, shown, warn } from '../finding.js';
import { addressesOf, answerOf, type DoctorSubject, mailHost } from '../subject.js';
import { addressRecord, hostName, plannedRecord, silence, zoneLine } from './records.js';

export const mailExchangerCheck: DomainCheck = {
  name: 'mx',
  async run({ name: domain, plan }, subject) {
    const ours = mailHost(subject.records.endpoints);
    if (ours === undefined) return warn(domain, 'no node takes mail in', 'MANSIO_ROLES=all');
    const planned = plannedRecord(plan, 'MX', domain);
    if (planned === undefined)
      return fail(domain, `${ours} is not the full name of a host`, `MANSIO_HOSTNAME=mail.${domain}`);
    const fix = zoneLine(planned);
    const answer = await answerOf(subject.dns.resolve(domain, 'MX'));
    if (answer.kind === 'silent') return silence(domain, `MX of ${domain}`, answer);
    if (answer.kind === 'absent') return fail(domain, 'there is no MX record', fix);
    const hosts = [...answer.records].sort((a, b) => a.priority - b.priority).map(({ exchange }) => hostName(exchange));
    if (hosts.every((host) => host === '')) return fail(domain, 'a null MX says that the domain takes no mail', fix);
    const host = await sameHost(hosts, ours, subject);
    if (host === undefined) return fail(domain, `mail goes to ${shown(hosts.join(', '))}, not to ${ours}`, fix);
    return judgeHost(domain, host, hosts, fix, subject, plan.notes);
  },
};

/** The host of `hosts` that is ours, by its name or by an address. */
async function sameHost(hosts: readonly string[], ours: string, { dns }: DoctorSubject): Promise<string | undefined> {
  if (hosts.includes(ours)) return ours;
  const own = await addressesOf(dns, ours);
  if (own.kind !== 'found') return undefined;
  for (const host of hosts.slice(0, 10)) {
    const theirs = await addressesOf(dns, host);
    if (theirs.kind === 'found' && theirs.records.some((address) => own.records.includes(address))) return host;
  }
  return undefined;
}

async function judgeHost(
  domain: string,
  host: string,
  hosts: readonly string[],
  fix: string,
  { dns, config }: DoctorSubject,
  notes: readonly string[],
): Promise<CheckResult> {
  const [addresses, alias] = await Promise.all([addressesOf(dns, host), answerOf(dns.resolve(host, 'CNAME'))]);
  if (addresses.kind === 'silent') return silence(domain, `A of ${host}`, addresses);
  if (addresses.kind === 'absent') return fail(domain, `${host} has no address`, addressRecord(host));
  if (alias.kind === 'found')
    return warn(domain, `${host} is an alias, and RFC 2181 wants a name with addresses`, addressRecord(host));
  if (!config.outboundAllowPrivate && !addresses.records.some(isPublicAddress))
    return warn(domain, `${host} is ${addresses.records.join(', ')}, which others cannot reach`, addressRecord(host));
  const port = notes.find((note) => note.startsWith('MX: other servers'));
  if (port !== undefined) return warn(domain, port.slice('MX: '.length), 'MANSIO_MX_PORT=25');
  const others = hosts.filter((each) => each !== host);
  if (others.length > 0 && hosts[0] !== host)
    return warn(domain, `mail goes to ${shown(others.join(', '))} first, then to ${host}`, fix);
  return ok(domain, `${host} (${addresses.records.join(', ')})`);
}
