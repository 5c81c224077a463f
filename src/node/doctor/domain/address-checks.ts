// The checks of the addresses from which mail of a domain leaves: `ptr` both ways, `ipv6`, and `blocklist` where it is asked for.
import { blockListName, listingIn } from '../../../net/dns/block-list.js';
import { reverseName } from '../../../net/dns/reverse-name.js';
import { isPublicAddress } from '../../../net/tcp/address-scope.js';
import { canonicalAddress } from '../../../net/tcp/ip-address.js';
import { probeService } from '../../../net/tcp/server-probe.js';
import { portOf } from '../../listeners/connection-info.js';
import type { DomainCheck } from '../check.js';
import { type CheckResult, fail, ok, reasonOf, shown, warn } from '../finding.js';
import {
  addressesOf,
  answerOf,
  type DoctorSubject,
  isOfThisMachine,
  machineAddresses,
  mailHost,
  sendingHosts,
} from '../subject.js';
import { hostName, noAddress, type SendingAddress, sendingAddresses, silence } from './records.js';

export const reverseCheck: DomainCheck = {
  name: 'ptr',
  async run({ name: domain }, subject) {
    const { addresses, unknown } = await sendingAddresses(subject);
    if (addresses.length === 0) return noAddress(domain, unknown);
    const found = await Promise.all(addresses.map((sender) => reverseOf(domain, sender, subject)));
    const worst = found.find(({ status }) => status === 'fail') ?? found.find(({ status }) => status === 'warn');
    return worst ?? ok(domain, addresses.map(({ address, host }) => `${address} is ${host}, and back`).join('; '));
  },
};

async function reverseOf(
  domain: string,
  { host, address }: SendingAddress,
  { dns }: DoctorSubject,
): Promise<CheckResult> {
  const at = reverseName(address) ?? address;
  const fix = `${at}. IN PTR ${host}.`;
  const answer = await answerOf(dns.resolve(address, 'PTR'));
  if (answer.kind === 'silent') return silence(domain, `PTR of ${at}`, answer);
  // Nobody else asks for the names of private addresses.
  const severity = isPublicAddress(address) ? fail : warn;
  if (answer.kind === 'absent') return severity(domain, `${address} has no name: many servers refuse its mail`, fix);
  const names = answer.records.map(hostName);
  const forward = await Promise.all(names.slice(0, 5).map((name) => addressesOf(dns, name)));
  const isBack = forward.map(
    (each) => each.kind === 'found' && each.records.some((one) => canonicalAddress(one) === address),
  );
  if (!isBack.includes(true))
    return severity(domain, `${address} is ${shown(names.join(', '))}, and that name is not ${address}`, fix);
  if (!names.includes(host))
    return warn(domain, `${address} is ${shown(names.join(', '))}, and it greets as ${host}`, fix);
  return ok(domain, `${address} is ${host}`);
}

export const sixthVersionCheck: DomainCheck = {
  name: 'ipv6',
  async run({ name: domain }, subject) {
    const hosts = [...new Set([...sendingHosts(subject), ...[mailHost(subject.records.endpoints) ?? []].flat()])];
    const answers = await Promise.all(hosts.map((host) => answerOf(subject.dns.resolve(host, 'AAAA'))));
    const silent = answers.findIndex(({ kind }) => kind === 'silent');
    if (silent >= 0) {
      const answer = answers[silent]!;
      if (answer.kind === 'silent') return silence(domain, `AAAA of ${hosts[silent]!}`, answer);
    }
    const published = answers.flatMap((answer, i) =>
      answer.kind === 'found' ? answer.records.map((address) => ({ host: hosts[i]!, address })) : [],
    );
    if (published.length > 0) return judgePublished(domain, published, subject);
    const own = machineAddresses().find((address) => address.includes(':') && isPublicAddress(address));
    if (own === undefined) return ok(domain, 'not used: neither DNS nor this machine has an address of IPv6');
    const host = hosts[0]!;
    return warn(
      domain,
      `mail may leave from ${own}, which DNS does not have: servers refuse it`,
      `${host}. IN AAAA ${own}`,
    );
  },
};

/** Others that find an address of IPv6 try it first. */
async function judgePublished(
  domain: string,
  published: readonly SendingAddress[],
  { records, dialMs, config }: DoctorSubject,
): Promise<CheckResult> {
  const { mxAddress } = records.endpoints;
  const host = mailHost(records.endpoints);
  const asked = published.filter((each) => each.host === host && isOfThisMachine(each.address));
  for (const { address } of mxAddress === undefined ? [] : asked) {
    const request = { address, port: portOf(mxAddress!), protocol: 'smtp', tls: 'none', serverName: host! } as const;
    try {
      await probeService({ ...request, sendsProxyHeader: false, timeoutMs: dialMs });
    } catch (error) {
      const detail = `${address} is published, and does not answer (MANSIO_BIND is ${config.bind}): ${reasonOf(error)}`;
      return fail(domain, detail, 'MANSIO_BIND=::');
    }
  }
  return ok(domain, published.map((each) => `${each.host} is ${each.address}`).join('; '));
}

export const blockListCheck: DomainCheck = {
  name: 'blocklist',
  applies: ({ blockLists }) => blockLists.length > 0,
  async run({ name: domain }, subject) {
    const { addresses, unknown } = await sendingAddresses(subject);
    if (addresses.length === 0) return noAddress(domain, unknown);
    const pairs = addresses.flatMap(({ address }) => subject.blockLists.map((zone) => ({ address, zone })));
    const found = await Promise.all(pairs.map(({ address, zone }) => listed(domain, address, zone, subject)));
    const worst = found.find(({ status }) => status === 'fail') ?? found.find(({ status }) => status === 'warn');
    return (
      worst ??
      ok(domain, `${addresses.map(({ address }) => address).join(', ')}: not in ${subject.blockLists.join(', ')}`)
    );
  },
};

async function listed(domain: string, address: string, zone: string, { dns }: DoctorSubject): Promise<CheckResult> {
  const name = blockListName(address, zone);
  const answer = await answerOf(dns.resolve(name, 'A'));
  if (answer.kind === 'silent') return silence(domain, `A of ${name}`, answer);
  if (answer.kind === 'absent') return ok(domain, `${address} is not in ${zone}`);
  const codes = answer.records.join(', ');
  const listing = listingIn(answer.records);
  if (listing === 'clear') return ok(domain, `${address} is not in ${zone}`);
  if (listing === 'refused')
    return warn(
      domain,
      `${zone} does not answer this resolver (${shown(codes)})`,
      'MANSIO_DNS of a resolver of your own',
    );
  return fail(domain, `${zone} lists ${address} (${shown(codes)})`, `dig TXT ${name}`);
}
