// Port: the record of refused mail: senders, recipients and messages that the SMTP listeners did not take.

/** How long the record is kept, and how many refusals it has at most. */
export const REFUSAL_AGE_MS = 30 * 24 * 3_600_000;
export const MOST_REFUSALS = 1_000_000;

export interface RefusedMail {
  /** ms since the epoch. */
  readonly at: number;
  readonly node: string;
  readonly listener: 'mx' | 'submission';
  readonly remoteAddress: string;
  /** The sender of the envelope; null for the null sender and before MAIL. */
  readonly sender: string | null;
  readonly recipients: readonly string[];
  /** The id of the transaction, for a message that was refused. */
  readonly transaction: string | null;
  readonly messageId: string | null;
  readonly code: number;
  /** One of a closed set of words. */
  readonly reason: string;
}

export interface RefusalStore {
  add(refusals: readonly RefusedMail[]): Promise<void>;
  /** Drops refusals that are older than `maxAgeMs`, and all but the newest `most`; returns how many. */
  prune(maxAgeMs: number, most: number): Promise<number>;
}
