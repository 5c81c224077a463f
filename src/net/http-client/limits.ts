// Limits of requests to URLs that users gave. The peers are strangers: each request ends in time, the size of an answer is limited, and no
// account or host takes all connections.

export interface HttpClientLimits {
  /** The connections in use, of all hosts together and of one. */
  readonly connections: number;
  readonly connectionsPerHost: number;
  /** The requests of one account that are running or wait for their host. */
  readonly requestsPerAccount: number;
  /** The requests that wait for a connection, for all hosts together and for one. */
  readonly waiting: number;
  readonly waitingPerHost: number;
  /** The idle connections that are kept, of all hosts together and of one, and for how long. */
  readonly idle: number;
  readonly idlePerHost: number;
  readonly idleMs: number;
  /** The time for the connection and the TLS handshake. */
  readonly connectMs: number;
  /** The time from the look-up of the name to the end of the answer's header. */
  readonly answerMs: number;
  /** The time for the answer's body. */
  readonly bodyMs: number;
  readonly headerOctets: number;
  /** A longer body is cut. */
  readonly bodyOctets: number;
  /** The part of the body that is kept. */
  readonly excerptOctets: number;
  /** The time for a download from its turn on: redirects and body included. */
  readonly downloadMs: number;
  /** The redirects that a download follows. */
  readonly redirects: number;
}

export const DEFAULT_HTTP_LIMITS: HttpClientLimits = {
  connections: 256,
  connectionsPerHost: 16,
  requestsPerAccount: 8,
  waiting: 10_000,
  waitingPerHost: 2_000,
  idle: 64,
  idlePerHost: 4,
  // This is shorter than the idle time of common servers, so that few requests meet a connection that its server closes.
  idleMs: 4_000,
  connectMs: 10_000,
  answerMs: 20_000,
  bodyMs: 5_000,
  headerOctets: 16 * 1024,
  bodyOctets: 64 * 1024,
  excerptOctets: 1024,
  downloadMs: 5_000,
  redirects: 5,
};
