// Port: values that accounts chose in place of the defaults, to be read; the commit of the mailbox writes them. The store does not
// know which preferences there are.

export interface Choices {
  readonly chosen: Readonly<Record<string, unknown>>;
  /** When something was chosen last; when the account was made if nothing ever was. */
  readonly updatedAt: Date;
}

export interface PreferenceStore {
  /** Undefined when there is no such account. */
  choices(accountId: string): Promise<Choices | undefined>;
}
