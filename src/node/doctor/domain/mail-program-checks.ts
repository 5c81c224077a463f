// The checks of what mail programs look up: `srv` (RFC 6186, RFC 8314) and `autoconfig`.
import { probeService } from '../../../net/tcp/server-probe.js';
import type { DnsRecord } from '../../domains/dns-records.js';
import type { CheckedDomain, DomainCheck } from '../check.js';
import { type CheckResult, ok, reasonOf, shown, warn } from '../finding.js';
import { addressesOf, answerOf, type DoctorSubject } from '../subject.js';
import { ownAddresses } from './own-addresses.js';
import { hostName, httpsSetting, silence, zoneLine } from './records.js';

const AUTODISCOVER = '_autodiscover._tcp.';

export const srvCheck: DomainCheck = {
  name: 'srv',
  async run({ name: domain, plan }, subject) {
    const planned = plan.records.filter(({ type, name }) => type === 'SRV' && !name.startsWith(AUTODISCOVER));
    const note = plan.notes.find((text) => text.startsWith('SRV: '));
    if (note !== undefined) return warn(domain, note.slice('SRV: '.length), `MANSIO_HOSTNAME=mail.${domain}`);
    const results = await Promise.all(planned.map((record) => serviceFault(record, subject)));
    const wrong = planned.filter((_, i) => results[i] !== undefined);
    if (wrong.length === 0) return ok(domain, `${planned.length} records lead programs to their servers`);
    const detail = results.flatMap((result) => result ?? []).join('; ');
    return warn(domain, shown(detail), mending(domain, wrong));
  },
};

/** One record mends one fault; the command prints them all. */
function mending(domain: string, records: readonly DnsRecord[]): string {
  return records.length === 1 ? zoneLine(records[0]!) : `mansio domain show ${domain}`;
}

/** Undefined when DNS says what is planned. A service that is not offered needs no record. */
async function serviceFault({ name, value }: DnsRecord, { dns }: DoctorSubject): Promise<string | undefined> {
  const [, , port, target] = value as readonly [string, string, string, string];
  const answer = await answerOf(dns.resolve(name, 'SRV'));
  const isOffered = target !== '.';
  if (answer.kind === 'silent') return `${name}: no answer (${answer.code})`;
  if (answer.kind === 'absent') return isOffered ? `${name} is missing` : undefined;
  const found = answer.records.map((record) => ({ port: String(record.port), host: hostName(record.name) }));
  if (!isOffered) {
    const other = found.find(({ host }) => host !== '');
    return other === undefined ? undefined : `${name} names ${other.host}, and the service is off`;
  }
  if (found.some((each) => each.port === port && each.host === hostName(target))) return undefined;
  return `${name} names ${found.map((each) => `${each.host}:${each.port}`).join(', ')}`;
}

export const autoconfigCheck: DomainCheck = {
  name: 'autoconfig',
  async run(domain, subject) {
    const { name, plan } = domain;
    const aliases = plan.records.filter(
      ({ type, name: at }) => type === 'CNAME' && /^auto(?:config|discover)\./.test(at),
    );
    const note = plan.notes.find((text) => text.startsWith('autoconfig'));
    if (note !== undefined)
      return warn(name, 'programs that look for the servers over https find nothing', httpsSetting(subject));
    const own = await ownAddresses(subject);
    const results = await Promise.all(aliases.map((record) => aliasFault(domain, record, own, subject)));
    const wrong = results.flatMap((result) => result ?? []);
    if (wrong.length > 0) return wrong.length === 1 ? wrong[0]! : { ...wrong[0]!, fix: mending(name, aliases) };
    return ok(name, aliases.map(({ name: at }) => at).join(', '));
  },
};

async function aliasFault(
  { name: domain }: CheckedDomain,
  record: DnsRecord,
  own: ReadonlySet<string>,
  { dns, dialMs, records }: DoctorSubject,
): Promise<CheckResult | undefined> {
  const host = record.name;
  const addresses = await addressesOf(dns, host);
  if (addresses.kind === 'silent') return silence(domain, `A of ${host}`, addresses);
  if (addresses.kind === 'absent') return warn(domain, `${host} has no address`, zoneLine(record));
  const address = addresses.records.find((each) => own.has(each));
  if (address === undefined)
    return warn(
      domain,
      `${host} is ${addresses.records.join(', ')}, which is no address of this deployment`,
      zoneLine(record),
    );
  const port = Number(new URL(records.endpoints.apiUrl!).port || 443);
  const request = { address, port, protocol: 'http', tls: 'implicit', serverName: host } as const;
  try {
    const { certificate } = await probeService({ ...request, sendsProxyHeader: false, timeoutMs: dialMs });
    if (certificate?.leaf.checkHost(host) !== undefined) return undefined;
    return warn(domain, `the certificate at ${host} is not for this name`, `a certificate for ${host}`);
  } catch (error) {
    return warn(domain, `${host}: ${reasonOf(error)}`, `curl -v https://${host}/`);
  }
}
