// The checks of who may send for a domain: `spf`, `dkim`, `dmarc`.

import { tagList } from '../../../mail-format/authentication/tag-list.js';
import { type Relay, relayPlace } from '../../../mail-format/relay-url.js';
import { dmarcRecord } from '../../../message-checks/mailauth/dmarc-record.js';
import { Lookups } from '../../../message-checks/mailauth/lookups.js';
import { checkPublishedKey } from '../../../message-checks/mailauth/published-key.js';
import { Spf } from '../../../message-checks/mailauth/spf.js';
import type { SigningKey } from '../../../store/signing-keys.js';
import { signingKeysFor } from '../../domains/domain-records.js';
import type { CheckedDomain, DomainCheck } from '../check.js';
import { type CheckResult, counted, fail, ok, shown, warn } from '../finding.js';
import { type DoctorSubject, relayOf } from '../subject.js';
import {
  noAddress,
  plannedRecord,
  type SendingAddress,
  sendingAddresses,
  silence,
  textsOf,
  txtRecord,
  zoneLine,
} from './records.js';

const SPF = /^v=spf1(?: |$)/i;
/** A record that names the domain's own hosts alone. */
const OWN_HOSTS_ONLY = /^v=spf1(?: +[+?~-]?(?:mx|a|all))*$/i;
/** RFC 7208 §4.6.4. */
const MOST_TERMS = 10;
/** SPF of one address needs at most this many: 10 terms, each with 10 hosts of two families, are bounded by `Spf` itself. */
const MOST_LOOKUPS = 100;

export const spfCheck: DomainCheck = {
  name: 'spf',
  async run({ name: domain, plan }, subject) {
    const planned = plan.records.find(
      ({ type, name, value }) => type === 'TXT' && name === domain && SPF.test(value[0]!),
    );
    const fix = planned === undefined ? txtRecord(domain, 'v=spf1 mx ~all') : zoneLine(planned);
    const answer = await textsOf(subject.dns, domain);
    if (answer.kind === 'silent') return silence(domain, `TXT of ${domain}`, answer);
    const records = answer.kind === 'found' ? answer.records.filter((text) => SPF.test(text)) : [];
    if (records.length === 0) return fail(domain, 'there is no SPF record', fix);
    if (records.length > 1)
      return fail(domain, `there are ${records.length} SPF records, and only one may be there`, fix);
    const relay = relayOf(domain, subject);
    if (relay !== undefined) return judgeRelayed(domain, records[0]!, relay);
    const { addresses, unknown } = await sendingAddresses(subject);
    if (addresses.length === 0) return noAddress(domain, unknown);
    return judgeSpf(domain, records[0]!, addresses, subject);
  },
};

/** Which addresses a smart host sends from, only its operator knows. */
function judgeRelayed(domain: string, record: string, relay: Relay): CheckResult {
  const way = `mail leaves through the smart host ${relayPlace(relay)}`;
  if (!OWN_HOSTS_ONLY.test(record)) return ok(domain, `${way}: its operator knows whether ${shown(record)} names it`);
  const fix = txtRecord(domain, record.replace(/^v=spf1/i, `v=spf1 a:${relay.host}`));
  return warn(domain, `${way}, which ${shown(record)} does not name; its operator may want another mechanism`, fix);
}

async function judgeSpf(
  domain: string,
  record: string,
  addresses: readonly SendingAddress[],
  { dns, config, lookupsMs }: DoctorSubject,
): Promise<CheckResult> {
  const spf = new Spf(config.hostname);
  const results = await Promise.all(
    addresses.map(async ({ host, address }) => {
      const lookups = new Lookups(dns, address, { deadlineMs: lookupsMs, lookups: MOST_LOOKUPS });
      try {
        return { host, address, ...(await spf.mayPass(domain, { address, name: host }, lookups)) };
      } finally {
        lookups.close();
      }
    }),
  );
  const wrong = results.find(({ result }) => result !== 'pass' && result !== 'temperror');
  if (wrong !== undefined) return refused(domain, record, wrong);
  const unsure = results.find(({ result }) => result !== 'pass');
  if (unsure !== undefined)
    return warn(domain, `DNS gives no answer for a part of ${shown(record)}`, `dig +trace TXT ${domain}`);
  const terms = Math.max(...results.map((each) => each.terms));
  if (/(?:^| )\+?all(?: |$)/i.test(record))
    return warn(
      domain,
      `everybody may send: ${shown(record)}`,
      txtRecord(domain, record.replace(/\+?all(?= |$)/i, '~all')),
    );
  const allowed = results.map(({ address }) => address).join(', ');
  return ok(domain, `${allowed} may send; ${counted(terms, 'look-up')} of ${MOST_TERMS}`);
}

function refused(
  domain: string,
  record: string,
  { host, address, result, terms }: SendingAddress & { readonly result: string; readonly terms: number },
): CheckResult {
  const term = `${address.includes(':') ? 'ip6' : 'ip4'}:${address}`;
  const fix = txtRecord(domain, record.replace(/^v=spf1/i, `v=spf1 ${term}`));
  if (result !== 'permerror')
    return fail(domain, `${address} (${host}) may not send: ${result} by ${shown(record)}`, fix);
  if (terms > MOST_TERMS)
    return fail(
      domain,
      `it takes more than ${MOST_TERMS} look-ups: ${shown(record)}`,
      txtRecord(domain, `v=spf1 ${term} ~all`),
    );
  return fail(
    domain,
    `it is malformed, or names hosts that do not exist: ${shown(record)}`,
    txtRecord(domain, 'v=spf1 mx ~all'),
  );
}

export const dkimCheck: DomainCheck = {
  name: 'dkim',
  async run(domain, subject) {
    const { facts, records } = subject;
    if (facts === undefined)
      return warn(domain.name, 'not checked: the database does not answer', `mansio doctor --domain ${domain.name}`);
    const keys = newestOfEach(signingKeysFor(domain.name, facts.keys, records.fallback));
    if (keys.length === 0)
      return fail(domain.name, 'it has no key, so its mail leaves unsigned', `mansio domain add ${domain.name}`);
    const found = await Promise.all(keys.map((key) => judgeKey(key, domain, subject)));
    const worst = found.find(({ status }) => status === 'fail') ?? found.find(({ status }) => status === 'warn');
    return worst ?? ok(domain.name, `${found.map(({ detail }) => detail).join(', ')}: signed and verified`);
  },
};

/** The keys that sign: the newest of each algorithm, RSA first. `keys`: newest first. */
function newestOfEach(keys: readonly SigningKey[]): readonly SigningKey[] {
  return (['rsa', 'ed25519'] as const).flatMap((kind) => keys.find(({ algorithm }) => algorithm === kind) ?? []);
}

/** Many servers verify RSA alone: mail without a verified Ed25519 signature is still signed. */
async function judgeKey(
  key: SigningKey,
  { name, plan }: CheckedDomain,
  { dns, lookupsMs }: DoctorSubject,
): Promise<CheckResult> {
  const { record } = plan.dkim.find(({ selector }) => selector === key.selector)!;
  const fix = zoneLine(record);
  const answer = await textsOf(dns, record.name);
  if (answer.kind === 'silent') return silence(name, `TXT of ${record.name}`, answer);
  const severity = key.algorithm === 'rsa' ? fail : warn;
  const texts = answer.kind === 'found' ? answer.records : [];
  if (texts.length === 0) return severity(name, `${record.name} is not published`, fix);
  if (texts.length > 1) return fail(name, `${record.name} has ${texts.length} records`, fix);
  if (keyIn(texts[0]!) !== keyIn(record.value.join('')))
    return fail(name, `the key at ${record.name} is not ours: ${shown(texts[0]!)}`, fix);
  const { result, comment } = await checkPublishedKey(key, dns, lookupsMs);
  if (result === 'pass') return ok(name, `${key.selector} (${key.algorithm})`);
  const detail = `a signature by ${key.selector} is ${result}${comment === undefined ? '' : ` (${comment})`}: ${shown(texts[0]!)}`;
  return result === 'temperror' ? warn(name, detail, fix) : fail(name, detail, fix);
}

/** The tag `p` of a key record without its white space; the whole text where it is no tag list. */
function keyIn(text: string): string {
  return (tagList(text)?.get('p') ?? text).replace(/\s/g, '');
}

const DMARC = /^\s*v\s*=\s*DMARC1\b/i;

export const dmarcCheck: DomainCheck = {
  name: 'dmarc',
  async run({ name: domain, plan }, { dns }) {
    const at = `_dmarc.${domain}`;
    const planned = plannedRecord(plan, 'TXT', at);
    const fix =
      planned === undefined ? txtRecord(at, `v=DMARC1; p=none; rua=mailto:postmaster@${domain}`) : zoneLine(planned);
    const answer = await textsOf(dns, at);
    if (answer.kind === 'silent') return silence(domain, `TXT of ${at}`, answer);
    const records = answer.kind === 'found' ? answer.records.filter((text) => DMARC.test(text)) : [];
    if (records.length > 1)
      return fail(domain, `there are ${records.length} DMARC records, and none of them counts`, fix);
    if (records.length === 0) {
      const parent = await parentPolicy(domain, dns);
      if (parent !== undefined) return ok(domain, `the record of ${parent.domain} counts: p=${parent.policy}`);
      return warn(domain, 'there is no DMARC record: others cannot tell your mail from forged mail', fix);
    }
    const record = dmarcRecord(records[0]!);
    const written = tagList(records[0]!)?.get('p')?.toLowerCase();
    if (record?.policy === undefined || written !== record.policy)
      return fail(domain, `it is malformed: ${shown(records[0]!)}`, fix);
    const means = record.policy === 'none' ? 'p=none asks for reports only' : `p=${record.policy}`;
    return ok(domain, means);
  },
};

/** The nearest domain above with a policy (RFC 9989 §4.10): at most 5 look-ups, none of a top-level domain. */
async function parentPolicy(domain: string, dns: DoctorSubject['dns']) {
  const labels = domain.split('.');
  for (let from = Math.max(1, labels.length - 6); from <= labels.length - 2; from++) {
    const parent = labels.slice(from).join('.');
    const answer = await textsOf(dns, `_dmarc.${parent}`);
    if (answer.kind === 'silent') return undefined;
    const texts = answer.kind === 'found' ? answer.records.filter((text) => DMARC.test(text)) : [];
    const record = texts.length === 1 ? dmarcRecord(texts[0]!) : undefined;
    if (record?.policy !== undefined) return { domain: parent, policy: record.ofSubdomains ?? record.policy };
  }
  return undefined;
}
