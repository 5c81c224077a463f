// The seam between the HTTP server, which owns sockets, and a WebSocket gateway (the hub), which owns the protocol on
// them and its fall-backs over plain requests. Neither imports the other; main joins them.

export interface UpgradeRequest {
  /** Path without the query. */
  readonly path: string;
  /** Raw query without `?`; holds tokens, so never log it. */
  readonly query: string;
  /** Header value, or an empty string. */
  header(lowerCaseName: string): string;
  /** Textual IP address of the peer. */
  readonly remoteAddress: string;
}

/** A request to the path of an endpoint that is no upgrade. */
export interface EndpointRequest extends UpgradeRequest {
  readonly method: string;
  /** Aborts when the client is gone. */
  readonly aborted: AbortSignal;
  /** The whole body; rejects when it is longer, which the server answers. */
  body(maxOctets: number): Promise<Uint8Array>;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Pieces are pulled as fast as the client reads, and left early when the client goes. */
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** Called once at the end: whether all of the answer was handed to the kernel. */
  readonly finished?: (isSent: boolean) => void;
}

export interface Socket {
  /**
   * Queues a frame, whose octets must not change afterwards; false when the socket is closed. Frames are text in UTF-8 until
   * `useBinary` is called. The server corks: frames of one tick leave in one write.
   */
  send(octets: Uint8Array): boolean;
  /** Called before anything is sent: frames are binary. False when the transport carries text only. */
  useBinary(): boolean;
  /** Octets accepted but not yet taken by the kernel. */
  bufferedBytes(): number;
  /** Close handshake after what is queued has been sent. */
  close(code: number, reason: string): void;
  /** Drops the connection now. */
  terminate(): void;
}

export interface SocketListener {
  message(data: Uint8Array, isBinary: boolean): void;
  /** A ping frame, which the server has answered (RFC 6455 §5.5.2). */
  pinged(): void;
  /** Kernel took some of what was buffered. */
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
  /** Largest message accepted from a client, in octets. */
  readonly maxMessageBytes: number;
}
