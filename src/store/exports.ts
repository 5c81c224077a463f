// Port: when an account last exported its mail, so that exports keep their distance whatever node they are asked of.

/** The answer to a claim: to wait, or the permit. */
export type ExportClaim =
  | { readonly waitSeconds: number; readonly permit?: never }
  /** Names the permit when it is given back; null when exports keep no distance. */
  | { readonly waitSeconds: 0; readonly permit: string | null };

export interface ExportStore {
  /** Says that the account exports now, unless it did not long ago. */
  claim(accountId: string, intervalSeconds: number): Promise<ExportClaim>;
  /**
   * The export of this permit was not served to its end: the account may export again at once. So many times within the interval;
   * a permit beyond that counts, as nothing happens for one that is another's by now.
   */
  giveBack(accountId: string, permit: string, intervalSeconds: number, times: number): Promise<void>;
}
