// Port: metrics of the hub. It is called once per frame, or per round and account, and must not throw.

export interface HubMeter {
  /** Each of `connections` got `messages`. */
  sent(messages: number, connections: number): void;
  /** One round over the lists of an account that had to be read: it sent the changes, or failed. */
  listsRead(outcome: 'done' | 'failed', ms: number): void;
}

export const NO_METER: HubMeter = { sent: () => {}, listsRead: () => {} };
