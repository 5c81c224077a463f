// Port: the metrics of the SMTP client. It must not throw. The delivery queue counts recipients.
import type { OutcomeKind } from '../../mail-format/outbound-status.js';

export interface SmtpClientMeter {
  /** Called when one host was tried for a message; `ms` is the time from its permit to the last reply. */
  attempted(outcome: OutcomeKind, ms: number): void;
  /** Called when a connection has reached its first transaction. */
  connected(tls: 'none' | 'unverified' | 'verified'): void;
  /** Called with the octets of a message that a host accepted. */
  sent(octets: number): void;
  /** Called with the number of connections and the number of tasks that wait for one. */
  inUse(connections: number, waiting: number): void;
  /** Called when a smart host has accepted or refused the credentials. */
  relayLogin(outcome: 'accepted' | 'refused'): void;
}

export const NO_METER: SmtpClientMeter = {
  attempted: () => {},
  connected: () => {},
  sent: () => {},
  inUse: () => {},
  relayLogin: () => {},
};
