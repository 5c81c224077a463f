// Port: the positions of durable consumers in the event logs of their accounts. A durable consumer is an external receiver of the
// events of one account in order: a push subscription or a webhook. The consumer's own row has the position, so both are deleted
// together.

export type ConsumerKind = 'push' | 'webhook';

export interface ConsumerPosition {
  readonly accountId: string;
  readonly id: string;
  /** The consumer is done with all changes up to this one. */
  readonly seq: number;
  /** ms since the epoch; null when nothing has failed, or the retry is due. */
  readonly retryAt: number | null;
  /** Failed attempts since the last success. */
  readonly failures: number;
  /** Time of the first of these failures, in ms since the epoch. */
  readonly failingSince: number | null;
}

export interface PositionUpdate {
  readonly accountId: string;
  readonly id: string;
  /** The position that the row must have: otherwise the update changes nothing. */
  readonly before: number;
  readonly seq: number;
}

/** `recovered`: something was delivered, so earlier failures no longer count. */
export interface ConsumerAdvance extends PositionUpdate {
  readonly recovered: boolean;
}

/** `seq`: the change before the one that could not be delivered. */
export interface ConsumerFailure extends PositionUpdate {
  readonly retryAt: number;
  readonly failures: number;
  readonly failingSince: number | null;
}

export interface ConsumerStore {
  /** Accounts on these shards that have enabled consumers. */
  accounts(kind: ConsumerKind, shards: readonly number[]): Promise<readonly string[]>;
  /**
   * Accounts on these shards with a consumer that has not reached the newest change of its account and does not wait for a retry.
   * Returns at most `limit` accounts whose ids follow `after`.
   */
  behind(
    kind: ConsumerKind,
    shards: readonly number[],
    after: string | undefined,
    limit: number,
  ): Promise<readonly string[]>;
  /** The enabled consumers of the account. */
  of(kind: ConsumerKind, accountId: string): Promise<readonly ConsumerPosition[]>;
  /**
   * Returns the ids of the consumers that were advanced. The others are deleted, disabled, or have another position, set by a
   * replay or by another node.
   */
  advance(kind: ConsumerKind, advances: readonly ConsumerAdvance[]): Promise<ReadonlySet<string>>;
  /** Returns false when the consumer was not updated, for the same reasons. */
  fail(kind: ConsumerKind, failure: ConsumerFailure): Promise<boolean>;
}
