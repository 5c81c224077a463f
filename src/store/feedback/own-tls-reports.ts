// Port: what outbound mail saw of TLS at the mail hosts of other domains, for the daily reports to them (RFC 8460), and which reports are
// sent.
import type { DueOwnReport } from './own-reports.js';

/** What a session, or the look-up of a policy, resulted in (RFC 8460 §4.3). */
export interface TlsResult {
  /** `sts` under an MTA-STS policy, also one that could not be fetched. */
  readonly policyType: 'sts' | 'no-policy-found';
  /** The policy as far as it is reported; null without one. */
  readonly policy: ReportedPolicy | null;
  /** The mail host; null when no host was tried. */
  readonly host: string | null;
  /** The IP address of the host; null when it was not connected to. */
  readonly address: string | null;
  readonly result: TlsResultType;
  /** Says more about a failure; a word such as `CERT_HAS_EXPIRED`. */
  readonly reason: string | null;
}

export interface ReportedPolicy {
  readonly mode: 'enforce' | 'testing';
  /** The first patterns of MX hosts. */
  readonly mx: readonly string[];
  /** In s; null where the policy was fetched by a version that did not keep it. */
  readonly maxAge: number | null;
}

export type TlsResultType =
  | 'success'
  | 'starttls-not-supported'
  | 'certificate-host-mismatch'
  | 'certificate-expired'
  | 'certificate-not-trusted'
  | 'validation-failure'
  | 'sts-policy-fetch-error'
  | 'sts-policy-invalid'
  | 'sts-webpki-invalid';

/** A result, and how many sessions have it. */
export interface TlsCount {
  /** The domain of the recipients. */
  readonly domain: string;
  /** The day in UTC, as `2026-11-29`. */
  readonly day: string;
  readonly result: TlsResult;
  readonly sessions: number;
}

export interface OwnTlsReportStore {
  /** Adds to the counts, within the bounds of an owner's day and of all. What is beyond them is not reported. */
  add(counts: readonly (TlsCount & { readonly owner: string })[]): Promise<void>;
  /** Domains with counts of days before `before`, those with most results first. */
  due(before: string, limit: number): Promise<readonly DueOwnReport[]>;
  counts(report: DueOwnReport): Promise<readonly TlsCount[]>;
  /** Notes that the target has the report. */
  posted(report: DueOwnReport, target: string): Promise<void>;
  /** The targets that have the report. */
  targetsOf(report: DueOwnReport): Promise<readonly string[]>;
  /** Drops the counts: the report is sent, or nobody wants it. */
  settle(report: DueOwnReport): Promise<void>;
  /** Drops what is older than `days`; returns the number of counts. */
  prune(days: number): Promise<number>;
}
