// The interface between the HTTP server, which owns sockets, and a WebSocket gateway (the hub), which owns the protocol on them and its
// fallbacks over plain requests. Neither imports the other; main joins them.

export interface UpgradeRequest {
  /** The path without the query. */
  readonly path: string;
  /** The raw query without `?`; it contains tokens, so it must never be logged. */
  readonly query: string;
  /** The value of a header, or an empty string. */
  header(lowerCaseName: string): string;
  /** Textual IP address of the peer. */
  readonly remoteAddress: string;
  /** The client came over https: by the word of a trusted proxy, otherwise by the socket. */
  readonly isSecure: boolean;
}

/** A request to the path of an endpoint that is not an upgrade. */
export interface EndpointRequest extends UpgradeRequest {
  readonly method: string;
  /** Aborts when the client is gone. */
  readonly aborted: AbortSignal;
  /** Reads the whole body; rejects when it is longer, which the server answers. */
  body(maxOctets: number): Promise<Uint8Array>;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Pieces are pulled as fast as the client reads; the iteration ends early when the client goes. */
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** Called once at the end; `isSent`: the kernel has accepted the whole answer. */
  readonly finished?: (isSent: boolean) => void;
}

export interface Socket {
  /**
   * Queues a frame, whose octets must not change afterwards; false when the socket is closed. Frames are text in UTF-8 until `useBinary` is
   * called. The server corks, so frames of one tick leave in one write.
   */
  send(octets: Uint8Array): boolean;
  /** Makes frames binary; called before anything is sent. False when the transport carries text only. */
  useBinary(): boolean;
  /** The number of octets that are queued and that the kernel has not accepted yet. */
  bufferedBytes(): number;
  /** Starts the close handshake after all queued frames have been sent. */
  close(code: number, reason: string): void;
  /** Drops the connection now. */
  terminate(): void;
}

export interface SocketListener {
  message(data: Uint8Array, isBinary: boolean): void;
  /** A ping frame, which the server has answered (RFC 6455 §5.5.2). */
  pinged(): void;
  /** The kernel has accepted some of the queued octets. */
  drained(): void;
  /** Called exactly once; the socket must not be used any more. */
  closed(code: number): void;
}

/** The function that takes the socket, or the answer that refuses the upgrade. */
export type UpgradeDecision = ((socket: Socket) => SocketListener) | HttpAnswer;

export interface WebSocketEndpoint {
  /** Decides about an upgrade before it happens. An upgrade that is decided at once is cheaper. */
  upgrade(request: UpgradeRequest): UpgradeDecision | Promise<UpgradeDecision>;
  /** `POST <path>/negotiate`. */
  negotiate(request: UpgradeRequest): Promise<HttpAnswer>;
  /** `GET`, `POST` or `DELETE <path>` without an upgrade. */
  exchange(request: EndpointRequest): Promise<HttpAnswer>;
  /** The largest message that is accepted from a client, in octets. */
  readonly maxMessageBytes: number;
}
