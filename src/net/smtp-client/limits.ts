// Limits of attempts, hosts and connections of the SMTP client. Times are shorter than RFC 5321 §4.5.3.2 asks for only before a transaction
// has begun, when only time is lost.
import { CONNECTIONS, CONNECTIONS_PER_HOST } from '../../actors/delivery/delivery-transport.js';

export interface SmtpClientLimits {
  /** The open connections, including idle ones: the number that the scheduler allows in use. */
  readonly connections: number;
  readonly connectionsPerHost: number;
  /** The most messages over one connection. */
  readonly messagesPerConnection: number;
  /** The most recipients of one transaction: the number that a server must accept (RFC 5321 §4.5.3.1.8). */
  readonly recipients: number;
  /** The most MX hosts of one attempt, and addresses of one host. */
  readonly hosts: number;
  readonly addressesPerHost: number;
  readonly idleMs: number;
  readonly connectMs: number;
  /** The time from the connection to the reply to the last EHLO, including the greeting and TLS. */
  readonly setupMs: number;
  /** The time from MAIL to the reply to DATA, for all commands together (RFC 5321 §4.5.3.2.2, §4.5.3.2.3). */
  readonly envelopeMs: number;
  /** The time for each block of a message (§4.5.3.2.5). */
  readonly blockMs: number;
  /** The time from the final dot to the reply (§4.5.3.2.6). */
  readonly messageMs: number;
  /** The time of one task over all its hosts. */
  readonly attemptMs: number;
  /** The time for which a host that closes connections (421) is not connected to; it doubles each time. */
  readonly closingMs: number;
  /** The octets that a server may send in one transaction, or before the first. */
  readonly replyOctets: number;
}

export const DEFAULT_LIMITS: SmtpClientLimits = {
  connections: CONNECTIONS,
  connectionsPerHost: CONNECTIONS_PER_HOST,
  messagesPerConnection: 100,
  recipients: 100,
  hosts: 5,
  addressesPerHost: 4,
  idleMs: 3_000,
  connectMs: 30_000,
  setupMs: 60_000,
  envelopeMs: 300_000,
  blockMs: 180_000,
  messageMs: 600_000,
  attemptMs: 1_800_000,
  closingMs: 1_000,
  replyOctets: 256 * 1024,
};
