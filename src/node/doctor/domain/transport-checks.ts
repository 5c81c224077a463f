// The checks of TLS between servers: `mta-sts` with its policy (RFC 8461), `tls-rpt` (RFC 8460).
import { fetchStsPolicy } from '../../../net/smtp-client/sts-fetch.js';
import { allowsHost, parseStsPolicy, stsId } from '../../../net/smtp-client/sts-policy.js';
import type { CheckedDomain, DomainCheck } from '../check.js';
import { type CheckResult, fail, ok, reasonOf, shown, warn } from '../finding.js';
import { addressesOf, answerOf, type DoctorSubject, mailHost } from '../subject.js';
import { ownAddresses } from './own-addresses.js';
import { httpsSetting, plannedRecord, silence, textsOf, txtRecord, zoneLine } from './records.js';

export const stsCheck: DomainCheck = {
  name: 'mta-sts',
  async run(domain, subject) {
    const { name, plan } = domain;
    if (subject.config.mtaStsMode === 'off') return ok(name, 'off (MANSIO_MTA_STS_MODE)');
    if (subject.records.endpoints.stsPolicy === undefined)
      return warn(name, 'there is no policy, because no node takes mail in', 'MANSIO_ROLES=all');
    const at = `_mta-sts.${name}`;
    const planned = plannedRecord(plan, 'TXT', at);
    if (planned === undefined)
      return warn(name, 'there is no policy: other servers read it over https at port 443', httpsSetting(subject));
    const fix = zoneLine(planned);
    const answer = await answerOf(subject.dns.resolve(at, 'TXT'));
    if (answer.kind === 'silent') return silence(name, `TXT of ${at}`, answer);
    const records = answer.kind === 'found' ? answer.records.map((strings) => [...strings]) : [];
    if (!records.some((strings) => /^v=STSv1\b/.test(strings.join(''))))
      return warn(name, 'there is no MTA-STS record: others deliver without verified TLS', fix);
    const id = stsId(records);
    if (id === undefined)
      return fail(
        name,
        `it is malformed, or there are several: ${shown(records.map((each) => each.join('')).join(' | '))}`,
        fix,
      );
    const found = await judgePolicy(domain, subject);
    if (found.status === 'ok' && !planned.value[0]!.endsWith(`id=${id}`))
      return warn(name, `the id ${id} is not that of the policy, so others keep the policy that they know`, fix);
    return found;
  },
};

async function judgePolicy({ name: domain, plan }: CheckedDomain, subject: DoctorSubject): Promise<CheckResult> {
  const host = `mta-sts.${domain}`;
  const planned = plannedRecord(plan, 'CNAME', host);
  const target = planned?.value[0] ?? `${subject.config.hostname}.`;
  const fix = `${host}. IN CNAME ${target}`;
  const [addresses, own] = await Promise.all([addressesOf(subject.dns, host), ownAddresses(subject)]);
  if (addresses.kind === 'silent') return silence(domain, `A of ${host}`, addresses);
  if (addresses.kind === 'absent') return fail(domain, `${host} has no address, so there is no policy`, fix);
  if (!addresses.records.some((address) => own.has(address)))
    return warn(
      domain,
      `${host} is ${addresses.records.join(', ')}, which is no address of this deployment: its policy is not read`,
      fix,
    );
  let text: string;
  try {
    text = await fetchStsPolicy(domain, {
      dns: subject.dns,
      isAllowed: (address) => own.has(address),
      port: subject.policyPort,
      ca: subject.policyCa,
      timeoutMs: subject.dialMs,
    });
  } catch (error) {
    return fail(
      domain,
      `the policy cannot be read: ${reasonOf(error)}`,
      `curl -v https://${host}/.well-known/mta-sts.txt`,
    );
  }
  const policy = parseStsPolicy(text);
  if (policy === undefined)
    return fail(domain, `the policy is malformed: ${shown(text)}`, `curl https://${host}/.well-known/mta-sts.txt`);
  const mx = mailHost(subject.records.endpoints);
  if (mx !== undefined && policy.mode !== 'none' && !allowsHost(policy, mx)) {
    const detail = `the policy does not name ${mx}: ${shown(policy.mx.join(', '))}`;
    return (policy.mode === 'enforce' ? fail : warn)(domain, detail, `MANSIO_PUBLIC_SMTP=${mx}:25`);
  }
  return ok(domain, `mode ${policy.mode}, for ${Math.round(policy.maxAge / 86_400_000)} days`);
}

export const tlsReportCheck: DomainCheck = {
  name: 'tls-rpt',
  async run({ name: domain, plan }, { dns }) {
    const at = `_smtp._tls.${domain}`;
    const planned = plannedRecord(plan, 'TXT', at);
    const fix =
      planned === undefined ? txtRecord(at, `v=TLSRPTv1; rua=mailto:postmaster@${domain}`) : zoneLine(planned);
    const answer = await textsOf(dns, at);
    if (answer.kind === 'silent') return silence(domain, `TXT of ${at}`, answer);
    const records = answer.kind === 'found' ? answer.records.filter((text) => /^v=TLSRPTv1\b/.test(text)) : [];
    if (records.length === 0)
      return warn(domain, 'there is no TLS-RPT record: nobody tells you of TLS that fails', fix);
    if (records.length > 1 || !/^v=TLSRPTv1\s*;\s*rua\s*=\s*(?:mailto:|https:)\S/.test(records[0]!))
      return fail(domain, `it is malformed, or there are several: ${shown(records.join(' | '))}`, fix);
    return ok(domain, shown(records[0]!));
  },
};
