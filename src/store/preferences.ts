// Port: what accounts chose to have otherwise than by default. Which preferences there are is not the store's business.

export interface Choices {
  readonly chosen: Readonly<Record<string, unknown>>;
  /** When something was chosen last; when the account was made if nothing ever was. */
  readonly updatedAt: Date;
}

export interface PreferenceStore {
  /** Undefined when there is no such account. */
  choices(accountId: string): Promise<Choices | undefined>;
  /** Adds to what was chosen before; false when there is no such account. */
  choose(accountId: string, chosen: Readonly<Record<string, unknown>>): Promise<boolean>;
}
