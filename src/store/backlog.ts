// Port: how much accepted mail waits for its mailbox, for health checks and metrics.

export interface Backlog {
  /** ms since the epoch when the rows were counted, by the database's clock. */
  readonly at: number;
  /** Accepted messages that wait to be placed, one a recipient. */
  readonly waiting: number;
  /** How long the first of them has been waiting; null when none is. */
  readonly oldestMs: number | null;
}

export interface BacklogStore {
  inbound(): Promise<Backlog>;
}
