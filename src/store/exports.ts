// Port: when an account last exported its mail, so that exports keep their distance whatever node they are asked of.

export interface ExportStore {
  /** Says that the account exports now: 0, or for how many more seconds it must not, because it did not long ago. */
  claim(accountId: string, intervalSeconds: number): Promise<number>;
}
