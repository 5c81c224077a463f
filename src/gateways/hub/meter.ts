// Port: metrics of the hub. Called once a frame and account; it must not throw.

export interface HubMeter {
  /** So many messages went to each of so many connections. */
  sent(messages: number, connections: number): void;
}

export const NO_METER: HubMeter = { sent: () => {} };
