// The bounds of hub connections, with the defaults of ASP.NET Core where clients rely on them.

export interface StandingQueryLimits {
  /** Subscriptions of one connection to lists. */
  readonly maxSubscriptions: number;
  /** Different lists of one account on the node. */
  readonly maxAccountLists: number;
  /** Of these, those that the store is asked for. */
  readonly maxAccountStoreLists: number;
  /** Emails that the lists of the node may show, which is the sum of their page sizes. */
  readonly maxListedEmails: number;
}

export interface HubLimits extends StandingQueryLimits {
  /** A connection that has not completed the handshake by then is closed. ms */
  readonly handshakeMs: number;
  /** Every client is sent a message at least this often. The stock client gives up after 30 s. ms */
  readonly keepAliveMs: number;
  /** So long after the negotiation, a connection without a WebSocket can be opened. ms */
  readonly openMs: number;
  /** A poll between nodes, or of server-sent events, ends after so long without messages; shorter than HTTP connections may be silent. ms */
  readonly silenceMs: number;
  /** A poll waits so long until another node confirms that the messages of the poll before have been sent. ms */
  readonly confirmMs: number;
  /** A client that sends nothing for so long is closed. The stock client pings every 15 s. ms */
  readonly clientTimeoutMs: number;
  /** A client that does not answer a close is dropped after so long. ms */
  readonly closeMs: number;
  /** Largest message from a client, octets. */
  readonly maxMessageBytes: number;
  /** A client with more than this waiting to be sent is too slow and is cut off. Octets */
  readonly maxBufferedBytes: number;
  /** Connections of one node; more are refused with 503. */
  readonly maxConnections: number;
  /** Of these, those of one account, or of one address without an account; more are refused with 429. */
  readonly maxOwnConnections: number;
  /** Messages and ping frames that a client may send in a third of the keep-alive time; the stock client pings once in 15 s. */
  readonly maxMessages: number;
  /** Between two positions in the queue that a client is sent of one email. ms */
  readonly queuePositionMs: number;
}

export const HUB_LIMITS: HubLimits = {
  handshakeMs: 15_000,
  keepAliveMs: 15_000,
  openMs: 30_000,
  silenceMs: 5_000,
  confirmMs: 3_000,
  clientTimeoutMs: 30_000,
  closeMs: 5_000,
  maxMessageBytes: 32 * 1024,
  maxBufferedBytes: 1024 * 1024,
  maxConnections: 100_000,
  maxOwnConnections: 10_000,
  maxMessages: 500,
  maxSubscriptions: 20,
  maxAccountLists: 1_000,
  maxAccountStoreLists: 100,
  maxListedEmails: 1_000_000,
  queuePositionMs: 1_000,
};
