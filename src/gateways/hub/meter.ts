// Port: metrics of the hub. Called once a frame or a round and account; it must not throw.

export interface HubMeter {
  /** So many messages went to each of so many connections. */
  sent(messages: number, connections: number): void;
  /** The lists of an account that had to be read were read and sent, or could not be. */
  listsRead(outcome: 'done' | 'failed', ms: number): void;
}

export const NO_METER: HubMeter = { sent: () => {}, listsRead: () => {} };
