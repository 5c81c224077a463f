// Limits of attempts, hosts and connections of the SMTP client. Times are shorter than RFC 5321 §4.5.3.2 asks for only before a
// transaction has begun, where nothing but time is lost.
import { CONNECTIONS, CONNECTIONS_PER_HOST } from '../actors/delivery/delivery-transport.js';

export interface SmtpClientLimits {
  /** Connections that are open, idle ones included: what the scheduler lets be in use. */
  readonly connections: number;
  readonly connectionsPerHost: number;
  /** Messages over one connection. */
  readonly messagesPerConnection: number;
  /** Recipients of one transaction; what a server must take (RFC 5321 §4.5.3.1.8). */
  readonly recipients: number;
  /** MX hosts of one attempt, and addresses of one host. */
  readonly hosts: number;
  readonly addressesPerHost: number;
  readonly idleMs: number;
  readonly connectMs: number;
  /** From the connection to the reply to the last EHLO, the greeting and TLS included. */
  readonly setupMs: number;
  /** From MAIL to the reply to DATA, all commands together (RFC 5321 §4.5.3.2.2, §4.5.3.2.3). */
  readonly envelopeMs: number;
  /** For every block of a message to be sent (§4.5.3.2.5). */
  readonly blockMs: number;
  /** From the final dot to the reply (§4.5.3.2.6). */
  readonly messageMs: number;
  /** Of one task over all its hosts. */
  readonly attemptMs: number;
  /** For how long a host that closes connections (421) is not connected to, each time twice as long. */
  readonly closingMs: number;
  /** Octets that a server may say in one transaction, or before the first. */
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
