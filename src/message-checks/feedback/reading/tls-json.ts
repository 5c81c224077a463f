// Reads a TLS report (RFC 8460 §4). Its JSON comes from strangers: depth and number of values are bounded before it is parsed.
import { JsonExcess, JsonScan } from '../../../net/json-scan.js';
import {
  BoundedSums,
  OTHER_SOURCES,
  reportDomain,
  reportText,
  type TlsReport,
  type TlsSum,
  UnreadableReport,
} from '../feedback-reports.js';

/** Octets of a report: one of a large domain has some kB. */
const MOST_OCTETS = 4 * 1024 * 1024;
const BOUNDS = { depth: 12, values: 50_000, names: 1024 * 1024 };
const MOST_SESSIONS = 1e12;
const WORD = /^[a-z0-9-]{1,60}$/;
const HOST = /^[a-z0-9_*][a-z0-9_.:*-]{0,252}$/;

type Members = Readonly<Record<string, unknown>>;

/** @throws UnreadableReport */
export function readTlsJson(octets: Buffer): TlsReport {
  const report = membersOf(parse(octets));
  const range = membersOf(report['date-range']);
  const begin = Date.parse(textOf(range['start-datetime']));
  if (!Number.isFinite(begin)) throw new UnreadableReport('the start of the period is no time');
  const policies = listOf(report['policies']).map(membersOf);
  const domainOf = (policy: Members) => reportDomain(textOf(membersOf(policy['policy'])['policy-domain']));
  if (policies[0] === undefined) throw new UnreadableReport('the report has no policy');
  const domain = domainOf(policies[0]);
  const sums = new BoundedSums<Omit<TlsSum, 'sessions'>>((sum) => ({ ...sum, host: OTHER_SOURCES }));
  // A report is about one domain (§3): policies of others do not count.
  for (const policy of policies) if (domainOf(policy) === domain) addPolicy(sums, policy);
  return {
    kind: 'tls',
    domain,
    organization: reportText(textOf(report['organization-name']), 'the name of the organization'),
    reportId: reportText(textOf(report['report-id']), 'the id of the report'),
    begin,
    sums: sums.entries.map(([sum, sessions]) => ({ ...sum, sessions })),
  };
}

function addPolicy(sums: BoundedSums<Omit<TlsSum, 'sessions'>>, entry: Members): void {
  const policyType = wordOf(membersOf(entry['policy'])['policy-type']);
  const summary = membersOf(entry['summary']);
  const [succeeded, failed] = ['total-successful-session-count', 'total-failure-session-count'].map((name) =>
    countOf(summary[name] ?? 0),
  ) as [number, number];
  if (succeeded > 0) sums.add({ policyType, host: '', result: 'success' }, succeeded);
  let detailed = 0;
  const details = entry['failure-details'] ?? [];
  for (const detail of listOf(details).map(membersOf)) {
    const count = countOf(detail['failed-session-count'] ?? 0);
    detailed += count;
    const host = textOf(detail['receiving-mx-hostname'] ?? '')
      .toLowerCase()
      .replace(/\.$/, '');
    const known = HOST.test(host) ? host : '';
    if (count > 0) sums.add({ policyType, host: known, result: wordOf(detail['result-type']) }, count);
  }
  // Details are optional (§4.4).
  if (failed > detailed) sums.add({ policyType, host: '', result: 'unspecified' }, failed - detailed);
}

function parse(octets: Buffer): unknown {
  if (octets.length > MOST_OCTETS) throw new UnreadableReport('the JSON is too large');
  try {
    new JsonScan({ bounds: BOUNDS }).push(octets);
    return JSON.parse(octets.toString('utf8').replace(/^\ufeff/, ''));
  } catch (error) {
    if (error instanceof JsonExcess) throw new UnreadableReport('the JSON is too deep or has too many values');
    if (error instanceof SyntaxError) throw new UnreadableReport('the JSON is malformed');
    throw error;
  }
}

function membersOf(value: unknown): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UnreadableReport('an object is missing');
  return value as Members;
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new UnreadableReport('a list is missing');
  return value;
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new UnreadableReport('a text is missing');
  return value;
}

function wordOf(value: unknown): string {
  const word = textOf(value).toLowerCase();
  if (!WORD.test(word)) throw new UnreadableReport('a type is no word');
  return word;
}

function countOf(value: unknown): number {
  // Some senders write numbers as strings.
  const count = typeof value === 'string' && /^\d{1,13}$/.test(value) ? Number(value) : value;
  if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 0 || count > MOST_SESSIONS)
    throw new UnreadableReport('a count is no number');
  return count;
}
