// Where imported mail comes from: a mailbox file, a Maildir or an IMAP server, read one message after the other. A message that
// cannot be taken is an item of its own, so that it is reported and the others follow.

/** Octets of a message: larger ones are not imported. */
export const MOST_OCTETS = 150 * 1024 * 1024;

export interface SourceMessage {
  readonly kind: 'message';
  /** Where the message is in the source, in words. */
  readonly where: string;
  /** Path of the folder that it goes to. */
  readonly folder: string;
  readonly bytes: Uint8Array;
  /** ms since the epoch; undefined when the source does not say, and the message is asked. */
  readonly receivedAt: number | undefined;
  /** Names of flags and keywords. */
  readonly flags: readonly string[];
  /** Only when no folder has the message: the source shows all mail once more in this one. */
  readonly isCopy?: boolean;
}

export interface SourceFailure {
  readonly kind: 'failure';
  readonly where: string;
  readonly problem: string;
}

/** All messages before it are taken once it is reached. */
export interface SourceCheckpoint {
  readonly kind: 'checkpoint';
  /** Server, user and mailbox. */
  readonly source: string;
  readonly uidValidity: number;
  readonly uid: number;
}

/** Messages that were taken before and are not read again. */
interface SourceSkip {
  readonly kind: 'skip';
  readonly count: number;
}

export type SourceItem = SourceMessage | SourceFailure | SourceCheckpoint | SourceSkip;

export interface MailSource {
  /** Resolves to the items in their order; the next is read when it is asked for. */
  items(): AsyncGenerator<SourceItem, void>;
  /** How much is read, of what there is, in any unit. */
  readonly progress: { readonly done: number; readonly total: number };
}
