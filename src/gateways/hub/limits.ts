// The limits of hub connections, with the defaults of ASP.NET Core where clients rely on them.

export interface LiveQueryLimits {
  /** The most subscriptions of one connection to lists. */
  readonly maxSubscriptions: number;
  /** The most different lists of one account on the node. */
  readonly maxAccountLists: number;
  /** The most of these lists that need a query of the store. */
  readonly maxAccountStoreLists: number;
  /** The most emails that all lists of the node may show: the sum of their page sizes. */
  readonly maxListedEmails: number;
}

export interface HubLimits extends LiveQueryLimits {
  /** A connection that has not completed the handshake within this time is closed. ms */
  readonly handshakeMs: number;
  /** Every client gets a message at least this often. The stock client gives up after 30 s. ms */
  readonly keepAliveMs: number;
  /** A connection without a WebSocket can be opened within this time after the negotiation. ms */
  readonly openMs: number;
  /** A poll between nodes, or of server-sent events, ends after this time without messages; the HTTP server allows a longer silence. ms */
  readonly silenceMs: number;
  /** A poll waits this long for another node to confirm that the messages of the previous poll have been sent. ms */
  readonly confirmMs: number;
  /** A connection closes when its client sends nothing for this long. The stock client pings every 15 s. ms */
  readonly clientTimeoutMs: number;
  /** A client that does not answer a close is dropped after this time. ms */
  readonly closeMs: number;
  /** The largest message from a client, in octets. */
  readonly maxMessageBytes: number;
  /** A client for which more than this waits is too slow and is cut off. Octets */
  readonly maxBufferedBytes: number;
  /** The most connections of one node; further ones are refused with 503. */
  readonly maxConnections: number;
  /** The most of these for one account, or for one address without an account; further ones are refused with 429. */
  readonly maxOwnConnections: number;
  /** The most messages and ping frames of a client in a third of the keep-alive time; the stock client pings once in 15 s. */
  readonly maxMessages: number;
  /** The time between two queue positions of one email that a client gets. ms */
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
