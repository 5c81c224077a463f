// Port: the words of a message, for filters and search. Decoding is a gateway's craft, so the composition root gives the
// implementation. Accounts take turns.

/** What search finds of a message beside its subject and its sender. */
export interface SearchableTexts {
  /** Names and addresses of To and Cc. */
  readonly recipients: string;
  /** File names of attachments. */
  readonly attachments: string;
  readonly body: string;
}

export interface EmailTexts {
  /**
   * Decoded text of the message body, at most 256 kB; '' when there is none. What could not be decoded within the time that
   * a message has is the start of the body as it stands, with `isWhole` false.
   * @throws StoreFault
   */
  text(accountId: string, blob: string): Promise<{ readonly text: string; readonly isWhole: boolean }>;
  /** @throws StoreFault */
  searchable(accountId: string, blob: string): Promise<SearchableTexts>;
}
