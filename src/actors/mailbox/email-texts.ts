// Port: the words of a message, for filters and search. Decoding is a gateway's craft, so the composition root gives the
// implementation. Accounts take turns.

/** What search finds of a message beside its subject and its sender. */
export interface SearchableTexts {
  /** Names and addresses of To and Cc. */
  readonly recipients: string;
  /** File names of attachments. */
  readonly attachments: string;
  /** Words of both bodies, or the octets of a text in valid UTF-8, which nobody changes. */
  readonly body: string | Buffer;
}

export interface StoredMessage {
  readonly accountId: string;
  /** SHA-256 of the message. */
  readonly blob: string;
}

export interface BodyText {
  readonly text: string;
  /** `start`: the body goes on. `undecoded`: there was no time to decode it, and this is its start as it stands. */
  readonly extent: 'whole' | 'start' | 'undecoded';
}

export interface EmailTexts {
  /** The words of the text body and of the HTML body, at most 256 kB; '' when there is none. @throws StoreFault */
  text(accountId: string, blob: string): Promise<BodyText>;
  /** As much of it as is shown to people: of at most 8 MiB of the message. @throws StoreFault */
  longText(accountId: string, blob: string): Promise<BodyText>;
  /** Of each message, all in memory at once; messages of one blob have the same object. Rejects when `signal` aborts. @throws StoreFault */
  searchable(messages: readonly StoredMessage[], signal?: AbortSignal): Promise<readonly SearchableTexts[]>;
}
