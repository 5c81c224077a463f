// Port: feedback reports of other servers about hosted domains. A message that may be a report is noted before it is accepted; one node
// reads it later, and counts each report once. What reports say is kept as sums by day, and bounded per domain and per sender.

/** A message that may be a report. */
export interface DueReport {
  /** SHA-256 of the message, which is stored when it is accepted. */
  readonly blob: string;
  /** As the peer wrote them. */
  readonly recipients: readonly string[];
  /** The domain that is authenticated as the sender. */
  readonly sender: string;
}

export interface WaitingReport extends DueReport {
  /** ms since it was noted. */
  readonly ageMs: number;
}

interface ReportKey {
  readonly domain: string;
  /** The hosted domain of `domain`. */
  readonly hosted: string;
  readonly organization: string;
  readonly reportId: string;
  /** ms since the epoch: the day that the sums count for, in UTC. */
  readonly begin: number;
}

export interface DmarcSums extends ReportKey {
  readonly kind: 'dmarc';
  readonly sums: readonly {
    readonly source: string;
    readonly dkim: boolean;
    readonly spf: boolean;
    readonly disposition: string;
    readonly messages: number;
  }[];
}

export interface TlsSums extends ReportKey {
  readonly kind: 'tls';
  readonly sums: readonly {
    readonly policyType: string;
    readonly host: string;
    readonly result: string;
    readonly sessions: number;
  }[];
}

/** `tooMany`: the sender has had its share of the day. */
export type Counted = 'counted' | 'repeated' | 'tooMany';

export interface ArrivedReports {
  /** False when too many wait, of this sender or of all: the message is not read. */
  expect(report: DueReport): Promise<boolean>;
  /** Those that are due, the oldest first. */
  due(limit: number): Promise<readonly WaitingReport[]>;
  /** It is due again after `ms`. */
  postpone(blob: string, ms: number): Promise<void>;
  /** It is not read again. */
  drop(blob: string): Promise<void>;
  /** Counts the report and drops its message, in one transaction. */
  count(due: DueReport, report: DmarcSums | TlsSums): Promise<Counted>;
  /** Deletes sums of days that are older; returns how many rows. */
  prune(days: number): Promise<number>;
}

/** What one source sent in the name of a domain. */
interface SourceSum {
  readonly domain: string;
  readonly source: string;
  readonly messages: number;
  /** Messages for which an aligned SPF, DKIM, or either of them, passes. */
  readonly spfPass: number;
  readonly dkimPass: number;
  readonly dmarcPass: number;
  readonly quarantined: number;
  readonly rejected: number;
  /** The domains whose reports say so. */
  readonly reporters: readonly string[];
}

interface TlsResultSum {
  readonly domain: string;
  readonly policyType: string;
  readonly host: string;
  readonly result: string;
  readonly sessions: number;
  readonly reporters: readonly string[];
}

export interface ReportSums {
  /** Those with most messages first. */
  readonly dmarc: readonly SourceSum[];
  readonly tls: readonly TlsResultSum[];
}

export interface ReportReader {
  /** `domain`: one hosted domain with its subdomains; undefined: all. `days`: the last ones, today included. */
  sums(domain: string | undefined, days: number, limit: number): Promise<ReportSums>;
}
