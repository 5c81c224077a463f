// Port: the counts of DMARC results for the daily reports to owners of policies, and which reports are sent.

/** A result, and how many messages have it. */
export interface DmarcCount {
  /** The domain that has the policy. */
  readonly domain: string;
  /** The day in UTC, as `2026-11-29`. */
  readonly day: string;
  readonly result: DmarcCountResult;
  readonly messages: number;
}

export interface DmarcCountResult {
  /** An IP address. */
  readonly source: string;
  readonly disposition: 'none' | 'quarantine' | 'reject';
  readonly dkim: boolean;
  readonly spf: boolean;
  /** The author's domain. */
  readonly author: string;
  readonly results: readonly {
    readonly method: 'spf' | 'dkim';
    readonly domain: string;
    readonly result: string;
    readonly selector?: string;
    readonly isHelo?: boolean;
  }[];
}

export interface DueOwnReport {
  readonly domain: string;
  readonly day: string;
}

/** `network`: that of the host that sent the messages, which has a share of the results of a domain and day. */
export interface ArrivedCount extends DmarcCount {
  readonly network: string;
}

export interface OwnReportStore {
  /** Adds to the counts, within the bounds of a domain and of a day. What is beyond them is not reported. */
  add(counts: readonly ArrivedCount[]): Promise<void>;
  /** Domains with counts of days before `before`, those with most results first. */
  due(before: string, limit: number): Promise<readonly DueOwnReport[]>;
  counts(report: DueOwnReport): Promise<readonly DmarcCount[]>;
  /** Drops the counts: the report is sent, or nobody wants it. */
  settle(report: DueOwnReport): Promise<void>;
  /** Whether the account has an outbound email with this Message-ID, brackets included. */
  isQueued(accountId: string, messageId: string): Promise<boolean>;
  /** Drops what is older than `days`; returns how many rows. */
  prune(days: number): Promise<number>;
}
