// Port: MTA-STS policies of other domains (RFC 8461), so that a fetched policy stays valid after a restart and on other nodes.
export interface StsPolicy {
  /** `id` of the TXT record for which it was fetched. */
  readonly id: string;
  readonly mode: 'enforce' | 'testing' | 'none';
  /** Patterns of MX hosts: names, or `*.` and a name. */
  readonly mx: readonly string[];
  /** `max_age` of the text, in s; undefined where the policy was kept without it. */
  readonly maxAge?: number | undefined;
  /** ms since the epoch. */
  readonly expiresAt: number;
}

export interface StsPolicyMaintenance {
  /** Deletes expired policies; returns how many. */
  dropExpired(): Promise<number>;
}

export interface StsPolicyStore {
  /** Undefined when there is none, or it has expired. */
  policyOf(domain: string): Promise<StsPolicy | undefined>;
  keep(domain: string, policy: StsPolicy): Promise<void>;
}
