// Writes a report about TLS (RFC 8460 §4).
import type { TlsCount, TlsResult } from '../../../store/feedback/own-tls-reports.js';

interface TlsReportHead {
  /** The name of this server. */
  readonly organization: string;
  /** The address of whoever sends the report. */
  readonly contact: string;
  readonly reportId: string;
  /** In s since the epoch. */
  readonly begin: number;
  readonly end: number;
}

/** `counts`: of the domain and one day. */
export function writeTlsJson(head: TlsReportHead, domain: string, counts: readonly TlsCount[]): string {
  const byPolicy = new Map<string, TlsCount[]>();
  for (const count of counts) {
    const key = JSON.stringify([count.result.policyType, count.result.policy]);
    byPolicy.set(key, [...(byPolicy.get(key) ?? []), count]);
  }
  return JSON.stringify({
    'organization-name': head.organization,
    'date-range': { 'start-datetime': dateTime(head.begin), 'end-datetime': dateTime(head.end) },
    'contact-info': head.contact,
    'report-id': head.reportId,
    policies: [...byPolicy.values()].map((ofPolicy) => policyEntry(domain, ofPolicy)),
  });
}

/** RFC 3339 without fractions. */
const dateTime = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');

function policyEntry(domain: string, counts: readonly TlsCount[]) {
  const { policyType, policy } = counts[0]!.result;
  const failures = counts.filter(({ result }) => result.result !== 'success');
  const [failed, all] = [failures, counts].map((of) => of.reduce((sum, { sessions }) => sum + sessions, 0)) as [
    number,
    number,
  ];
  return {
    policy: {
      'policy-type': policyType,
      ...(policy !== null && { 'policy-string': policyLines(policy), 'mx-host': policy.mx }),
      'policy-domain': domain,
    },
    summary: { 'total-successful-session-count': all - failed, 'total-failure-session-count': failed },
    ...(failures.length > 0 && { 'failure-details': failures.map(failureDetail) }),
  };
}

/** Lines as in the text of the policy (RFC 8461 §3.2). */
function policyLines({ mode, mx, maxAge }: NonNullable<TlsResult['policy']>): readonly string[] {
  const age = maxAge === null ? [] : [`max_age: ${maxAge}`];
  return ['version: STSv1', `mode: ${mode}`, ...mx.map((pattern) => `mx: ${pattern}`), ...age];
}

function failureDetail({ result: { result, host, address, reason }, sessions }: TlsCount) {
  return {
    'result-type': result,
    ...(host !== null && { 'receiving-mx-hostname': host }),
    ...(address !== null && { 'receiving-ip': address }),
    'failed-session-count': sessions,
    ...(reason !== null && { 'failure-reason-code': reason }),
  };
}
