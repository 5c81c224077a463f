// Port: when an account last exported its mail, so that the interval between exports holds on all nodes together.

/** The answer to a claim: a time to wait, or a permit. */
export type ExportClaim =
  | { readonly waitSeconds: number; readonly permit?: never }
  /** `permit` identifies the permit for `giveBack`; null when there is no interval between exports. */
  | { readonly waitSeconds: 0; readonly permit: string | null };

export interface ExportStore {
  /** Records that the account exports now, unless it did so recently. */
  claim(accountId: string, intervalSeconds: number): Promise<ExportClaim>;
  /**
   * Releases the permit of an export that did not finish: the account may export again at once, at most `times` times within the
   * interval. A permit beyond that counts. A permit that belongs to a later export is ignored.
   */
  giveBack(accountId: string, permit: string, intervalSeconds: number, times: number): Promise<void>;
}
