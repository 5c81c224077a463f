// Port: the positions of durable consumers in the event logs of their accounts. A durable consumer is something outside that gets
// the events of one account in order: a push subscription or a webhook. The position is kept in the consumer's own row, so it
// goes with the consumer, and with the account.

export type ConsumerKind = 'push' | 'webhook';

export interface ConsumerPosition {
  readonly accountId: string;
  readonly id: string;
  /** All changes up to this one are done. */
  readonly seq: number;
  /** ms since the epoch; null when nothing has failed, or the retry is due. */
  readonly retryAt: number | null;
  /** Attempts that have failed since the last success. */
  readonly failures: number;
  /** ms since the epoch: the first of these failures. */
  readonly failingSince: number | null;
}

export interface PositionUpdate {
  readonly accountId: string;
  readonly id: string;
  /** The position that the row has: an update of another position is not made. */
  readonly before: number;
  readonly seq: number;
}

/** `recovered`: something was delivered, so what had failed before no longer counts. */
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
  /** Accounts on these shards that have consumers which are enabled. */
  accounts(kind: ConsumerKind, shards: readonly number[]): Promise<readonly string[]>;
  /**
   * Of these accounts, those with a consumer that has not reached its account's newest change and waits for no retry. At most
   * `limit` accounts, after the account `after` by id.
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
   * Returns the ids of the consumers that were advanced. The others are gone, disabled, or have another position: of a replay
   * or of another node.
   */
  advance(kind: ConsumerKind, advances: readonly ConsumerAdvance[]): Promise<ReadonlySet<string>>;
  /** False when the consumer was not updated, for the same reasons. */
  fail(kind: ConsumerKind, failure: ConsumerFailure): Promise<boolean>;
}
