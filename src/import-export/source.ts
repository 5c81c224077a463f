// Where imported mail comes from: a mailbox file, a Maildir or an IMAP server, read message by message. A message that cannot be
// read is an item of its own, so that it is reported and the others follow.

/** Octets of a message: larger ones are not imported. */
export const MOST_OCTETS = 150 * 1024 * 1024;

export interface SourceMessage {
  readonly kind: 'message';
  /** A text that says where the message is in the source. */
  readonly where: string;
  /** Path of the folder that the message goes to. */
  readonly folder: string;
  readonly bytes: Uint8Array;
  /** ms since the epoch; undefined when the source does not say: then the date of the message counts. */
  readonly receivedAt: number | undefined;
  /** Names of flags and keywords. */
  readonly flags: readonly string[];
  /** The source shows all mail a second time in this folder, so the message is imported only when no folder has it. */
  readonly isCopy?: boolean;
}

export interface SourceFailure {
  readonly kind: 'failure';
  readonly where: string;
  readonly problem: string;
}

/** A position in the source: all messages before it are imported once it is reached. */
export interface SourceCheckpoint {
  readonly kind: 'checkpoint';
  /** Server, user and mailbox. */
  readonly source: string;
  readonly uidValidity: number;
  readonly uid: number;
}

/** Messages that an earlier run imported and that are not read again. */
interface SourceSkip {
  readonly kind: 'skip';
  readonly count: number;
}

export type SourceItem = SourceMessage | SourceFailure | SourceCheckpoint | SourceSkip;

export interface MailSource {
  /** Yields the items in their order; the next one is read when it is requested. */
  items(): AsyncGenerator<SourceItem, void>;
  /** How much is read and how much there is, in any unit. */
  readonly progress: { readonly done: number; readonly total: number };
}
