// One HTTP request and its reply as plain values. The pipeline and the routes see nothing else of HTTP, so both work with any server.
// server.ts makes requests out of sockets and writes replies to them.

export interface HttpRequest {
  /** The method as sent; methods are case-sensitive (RFC 9110 §9.1). */
  readonly method: string;
  /** The path without the query, percent-encoded as sent. */
  readonly path: string;
  /** Raw, without `?`; may hold tokens, so it is never logged. */
  readonly query: string;
  /** Names are in lower case; fields sent more than once are joined with `, `. */
  readonly headers: ReadonlyMap<string, string>;
  /** Textual IP address of the peer. */
  readonly remoteAddress: string;
  /** The client came over https: by the word of a trusted proxy, otherwise by the socket. */
  readonly isSecure: boolean;
  /** Aborts when the client is gone or is cut off. */
  readonly aborted: AbortSignal;
  /**
   * Reads the body, at most `limit` octets, piece by piece; the client waits while `take` works. May be called once. @throws BodyError, and
   * what `take` throws
   */
  body(limit: number, take: TakeBody): Promise<void>;
}

export type TakeBody = (octets: Uint8Array) => void | Promise<void>;

export type HeaderField = readonly [name: string, value: string];

export interface ReplyStream {
  /** The exact number of octets to come; null when unknown (chunked). A stream that gives another number breaks the connection. */
  readonly length: number | null;
  /** Pulled one piece at a time, as fast as the client reads; returned early when the client goes away. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** How an exchange ended: the kernel took the whole reply, the client left, or the server broke the reply off. */
export type SendingResult = 'sent' | 'aborted' | 'broken';

export interface HttpReply {
  readonly status: number;
  readonly headers: readonly HeaderField[];
  readonly body: Uint8Array | ReplyStream | null;
  /** Called once when the exchange is over; `error` is what broke a stream. */
  readonly finished?: (outcome: SendingResult, error?: unknown) => void;
}

export type HttpHandler = (request: HttpRequest) => Promise<HttpReply>;

export type BodyErrorReason = 'too-large' | 'too-slow' | 'gone';

/** The body of the request could not be read. */
export class BodyError extends Error {
  readonly reason: BodyErrorReason;

  constructor(reason: BodyErrorReason) {
    super(`request body ${reason}`);
    this.name = 'BodyError';
    this.reason = reason;
  }
}

/** The methods of a logger that this gateway calls; pino's fits. */
export interface Log {
  debug(fields: object, text: string): void;
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}
