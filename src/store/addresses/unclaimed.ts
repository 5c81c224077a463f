// Port: mail that hosted domains accepted for addresses that no account has. It waits in mailboxes without a login
// (`DirectoryStore` creates, claims and expires them) for an owner of the address, or for a command of the operator.

export interface UnclaimedMail {
  readonly address: string;
  readonly messages: number;
  readonly bytes: number;
  /** When the newest message was received; null without one. */
  readonly newest: Date | null;
}

export interface UnclaimedMessage {
  readonly receivedAt: Date;
  readonly from: string;
  readonly subject: string;
  readonly bytes: number;
}

/** Addresses are in canonical form. Accepted messages that are not placed yet count too. */
export interface UnclaimedStore {
  /** Lists one domain, or all; the address with the newest mail comes first. */
  list(domain?: string): Promise<readonly UnclaimedMail[]>;
  /** Undefined when nothing waits for the address. */
  find(address: string): Promise<UnclaimedMail | undefined>;
  /** Newest first. */
  messages(address: string): Promise<readonly UnclaimedMessage[]>;
  /**
   * Accepts the mail again, for the account: its mailbox places it. The address stays unknown. Returns what was delivered;
   * undefined when nothing waits for the address, or there is no such account.
   */
  deliver(address: string, accountId: string): Promise<UnclaimedMail | undefined>;
  /** Deletes the mail permanently and returns what was deleted; undefined when nothing waits for the address. */
  delete(address: string): Promise<UnclaimedMail | undefined>;
}
