// Port: reads the values that accounts chose instead of the defaults; the commit of the mailbox writes them. The store does not
// know which preferences exist.

export interface Choices {
  readonly chosen: Readonly<Record<string, unknown>>;
  /** Time of the last choice; without any, when the account was created. */
  readonly updatedAt: Date;
}

export interface PreferenceStore {
  /** Undefined when there is no such account. */
  choices(accountId: string): Promise<Choices | undefined>;
}
