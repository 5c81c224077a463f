// Writes a reply to the server's response object at the client's pace: at most one piece waits in memory, a stream is pulled only after the
// previous piece has left, and a client that does not accept a piece in time loses the connection.
import type { HttpReply, ReplyStream, SendingResult } from '../exchange.js';

/** The part of the server's response object that writes to the client. */
export interface ReplySink {
  cork(write: () => void): unknown;
  writeStatus(status: string): unknown;
  writeHeader(name: string, value: string): unknown;
  /** Writes a chunk in chunked coding; false when the client is behind. */
  write(chunk: Uint8Array): boolean;
  end(body?: Uint8Array, closeConnection?: boolean): unknown;
  endWithoutBody(): unknown;
  /** Returns [the chunk is accepted, the reply is complete]; after a complete reply the sink must not be used. */
  tryEnd(chunk: Uint8Array, total: number): [boolean, boolean];
  getWriteOffset(): number;
  onWritable(handler: (offset: number) => boolean): unknown;
  close(): unknown;
}

export interface WriteOptions {
  /** HEAD: only the head of the reply is written. */
  readonly head: boolean;
  /** Ends the connection with the reply: a header field announces it, and the close follows a small reply. */
  readonly close: boolean;
  /** The time that the client has to accept one piece. */
  readonly stallMs: number;
}

export interface Written {
  readonly outcome: SendingResult;
  readonly error?: unknown;
}

const PIECE = 64 * 1024;
/**
 * The size of the first write together with the head. When the kernel accepts nothing of the cork buffer of 16 KiB, uWebSockets.js silently
 * drops what did not fit into that buffer: the middle of a chunk (20.51 does; 20.69 is not tested).
 */
const CORKED = 8 * 1024;
const NOTHING = new Uint8Array(0);
/** More than the cork buffer of uWebSockets.js holds. */
const BEYOND_CORK = 16 * 1024;

/**
 * Refuses a request within the callback that brought it, and ends the connection before uWebSockets.js reads on: the rest of the segment
 * may belong to this request, and is not executed. A reply that fits the cork buffer would leave, and close the connection, only after the
 * whole segment is read. So spaces fill the body.
 */
export function refuseAtOnce(sink: ReplySink, reply: HttpReply & { readonly body: Uint8Array }): void {
  sink.cork(() => {
    writeHead(sink, reply);
    sink.end(Buffer.concat([reply.body, Buffer.alloc(BEYOND_CORK, ' ')]), true);
  });
}

export class ReplyWriter {
  readonly #sink: ReplySink;
  #aborted = false;
  #wake: (() => void) | undefined;
  #onAbort: (() => void) | undefined;
  /** The part that tryEnd did not accept, and its offset in the body. */
  #rest: Uint8Array | undefined;
  #restAt = 0;
  #total = 0;

  constructor(sink: ReplySink) {
    this.#sink = sink;
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  /** The client has not accepted what was written. An order to read in this state may make uWebSockets.js 20.51 cut the reply off. */
  get isBehind(): boolean {
    return this.#wake !== undefined;
  }

  /** The connection is gone: the sink must not be used any more. */
  abort(): void {
    this.#aborted = true;
    this.#wake?.();
    this.#onAbort?.();
  }

  /** Writes the reply or gives it up; never throws. */
  async write(reply: HttpReply, options: WriteOptions): Promise<Written> {
    const { body } = reply;
    if (body === null || options.head) {
      if (body !== null && !(body instanceof Uint8Array)) void leave(body.chunks[Symbol.asyncIterator]());
      if (this.#aborted) return { outcome: 'aborted' };
      const length = body instanceof Uint8Array ? body.length : body?.length;
      this.#sink.cork(() => {
        writeHead(this.#sink, reply, options.close);
        // uWebSockets.js 20.51 waits for a body for ever when it knows the length, so the field is written here.
        if (typeof length === 'number') this.#sink.writeHeader('Content-Length', String(length));
        this.#sink.endWithoutBody();
      });
      return { outcome: 'sent' };
    }
    if (!(body instanceof Uint8Array)) return this.#stream(reply, body, options);
    if (this.#aborted) return { outcome: 'aborted' };
    if (options.close && body.length <= CORKED) {
      this.#sink.cork(() => {
        writeHead(this.#sink, reply);
        this.#sink.end(body, true);
      });
      return { outcome: 'sent' };
    }
    return this.#whole(reply, body, options);
  }

  /** Writes a body in memory. Most are accepted at once, without a wait. */
  async #whole(reply: HttpReply, body: Uint8Array, options: WriteOptions): Promise<Written> {
    try {
      this.#sink.onWritable((offset) => this.#writable(offset));
      this.#total = body.length;
      await this.#putSized(body, () => writeHead(this.#sink, reply, options.close), options.stallMs);
      return { outcome: this.#aborted ? 'aborted' : 'sent' };
    } catch (error) {
      return this.#broken(error);
    }
  }

  async #stream(reply: HttpReply, stream: ReplyStream, options: WriteOptions): Promise<Written> {
    const iterator = stream.chunks[Symbol.asyncIterator]();
    let ended = false;
    this.#onAbort = () => void leave(iterator);
    try {
      if (this.#aborted) return { outcome: 'aborted' };
      this.#sink.onWritable((offset) => this.#writable(offset));
      this.#total = stream.length ?? 0;
      let sent = 0;
      let head: (() => void) | undefined = () => writeHead(this.#sink, reply, options.close);
      for (;;) {
        const next = await iterator.next();
        if (this.#aborted) return { outcome: 'aborted' };
        if (next.done) {
          ended = true;
          break;
        }
        sent += next.value.length;
        if (stream.length === null) await this.#putChunked(next.value, head, options.stallMs);
        else {
          // The last octet completes the reply, so the writer first checks that the stream has no more.
          if (sent === stream.length && (await hasMore(iterator))) sent = Number.POSITIVE_INFINITY;
          if (sent > stream.length) throw new LengthMismatch(stream.length);
          if (this.#aborted) return { outcome: 'aborted' };
          await this.#putSized(next.value, head, options.stallMs);
        }
        head = undefined;
        if (this.#aborted) return { outcome: 'aborted' };
        if (sent === stream.length) return { outcome: 'sent' };
      }
      if (stream.length !== null && sent !== stream.length) throw new LengthMismatch(stream.length);
      this.#sink.cork(() => {
        head?.();
        if (stream.length === null) this.#sink.end();
        else this.#sink.tryEnd(NOTHING, 0);
      });
      return { outcome: 'sent' };
    } catch (error) {
      this.#onAbort = undefined;
      return this.#broken(error);
    } finally {
      this.#onAbort = undefined;
      if (!ended) void leave(iterator);
    }
  }

  #broken(error: unknown): Written {
    if (this.#aborted) return { outcome: 'aborted' };
    this.#sink.close();
    return { outcome: 'broken', error };
  }

  async #putSized(chunk: Uint8Array, head: (() => void) | undefined, stallMs: number): Promise<void> {
    for (let at = 0; at === 0 || at < chunk.length; at += PIECE) {
      const piece = chunk.subarray(at, at + PIECE);
      if (piece.length === 0 && head === undefined) return;
      let taken = false;
      this.#sink.cork(() => {
        if (at === 0) head?.();
        const before = this.#sink.getWriteOffset();
        const [ok, complete] = this.#sink.tryEnd(piece, this.#total);
        taken = ok || complete;
        if (!taken) {
          this.#rest = piece;
          this.#restAt = before;
        }
      });
      if (!taken) await this.#drained(stallMs);
      if (this.#aborted) return;
    }
  }

  async #putChunked(chunk: Uint8Array, head: (() => void) | undefined, stallMs: number): Promise<void> {
    for (let at = 0; at === 0 || at < chunk.length; at += CORKED) {
      const piece = chunk.subarray(at, at + CORKED);
      let taken = true;
      this.#sink.cork(() => {
        if (at === 0) head?.();
        // An empty chunk would end the body.
        if (piece.length > 0) taken = this.#sink.write(piece);
      });
      if (!taken) await this.#drained(stallMs);
      if (this.#aborted) return;
    }
  }

  #writable(offset: number): boolean {
    if (this.#rest !== undefined) {
      const rest = this.#rest.subarray(offset - this.#restAt);
      const [ok, complete] = this.#sink.tryEnd(rest, this.#total);
      if (!ok && !complete) return false;
      this.#rest = undefined;
    }
    this.#wake?.();
    return true;
  }

  async #drained(stallMs: number): Promise<void> {
    const timer = setTimeout(() => {
      if (!this.#aborted) this.#sink.close();
    }, stallMs);
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
    clearTimeout(timer);
  }
}

/** `close`: asks the client to close the connection; uWebSockets.js closes it only after `end`. */
function writeHead(sink: ReplySink, reply: HttpReply, close = false): void {
  sink.writeStatus(STATUS_LINES[reply.status] ?? String(reply.status));
  for (const [name, value] of reply.headers) {
    // A line break would start a header field that the sender of the text chooses.
    sink.writeHeader(name, /[\r\n\0]/.test(value) ? value.replace(/[\r\n\0]+/g, ' ') : value);
  }
  if (close) sink.writeHeader('Connection', 'close');
}

class LengthMismatch extends Error {
  constructor(announced: number) {
    super(`stream does not have the ${announced} octets it announced`);
    this.name = 'LengthMismatch';
  }
}

/** Ends an iterator early; an error on the way out is ignored. */
async function leave(iterator: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    await iterator.return?.();
  } catch {}
}

async function hasMore(iterator: AsyncIterator<Uint8Array>): Promise<boolean> {
  for (;;) {
    const next = await iterator.next();
    if (next.done) return false;
    if (next.value.length > 0) return true;
  }
}

const STATUS_LINES: Readonly<Record<number, string>> = {
  200: '200 OK',
  201: '201 Created',
  202: '202 Accepted',
  204: '204 No Content',
  303: '303 See Other',
  304: '304 Not Modified',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  408: '408 Request Timeout',
  410: '410 Gone',
  412: '412 Precondition Failed',
  413: '413 Content Too Large',
  414: '414 URI Too Long',
  415: '415 Unsupported Media Type',
  426: '426 Upgrade Required',
  429: '429 Too Many Requests',
  431: '431 Request Header Fields Too Large',
  500: '500 Internal Server Error',
  501: '501 Not Implemented',
  503: '503 Service Unavailable',
};
