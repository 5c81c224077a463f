// Port: what is measured of the SMTP client. It must not throw. Recipients are counted by the delivery queue.
import type { OutcomeKind } from '../mail/outbound-status.js';

export interface SmtpClientMeter {
  /** One host was tried for a message; `ms` from when it had its permit to the last reply. */
  attempted(outcome: OutcomeKind, ms: number): void;
  /** A connection that got as far as the first transaction. */
  connected(tls: 'none' | 'unverified' | 'verified'): void;
  /** Octets of a message that a host took. */
  sent(octets: number): void;
  /** How many connections there are, and how many tasks wait for one. */
  inUse(connections: number, waiting: number): void;
}

export const NO_METER: SmtpClientMeter = {
  attempted: () => {},
  connected: () => {},
  sent: () => {},
  inUse: () => {},
};
