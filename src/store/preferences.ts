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

/** Where all mail of an account is sent on. */
export interface Forwarding {
  readonly isEnabled: boolean;
  /** In canonical form; null: never chosen. */
  readonly address: string | null;
  /** Whether the account keeps what is forwarded. */
  readonly keepCopy: boolean;
}

export const NO_FORWARDING: Forwarding = { isEnabled: false, address: null, keepCopy: true };
