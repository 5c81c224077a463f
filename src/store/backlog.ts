// Port: how much accepted mail waits for its mailbox, for health checks and metrics.

export interface Backlog {
  /** ms since the epoch when the rows were counted, by the database's clock. */
  readonly at: number;
  /** Accepted messages that wait to be placed, counted once per recipient. */
  readonly waiting: number;
  /** Age of the oldest of them; null when none waits. */
  readonly oldestMs: number | null;
}

export interface BacklogStore {
  inbound(): Promise<Backlog>;
}
