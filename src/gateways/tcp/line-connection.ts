// One connection of a protocol of lines (IMAP, POP3): its addresses, its TLS, lines and octets in at the session's pace, octets
// out at the peer's, and the times that a peer may take. A session asks for the next line and is told how the connection ended.
import type { Socket } from 'node:net';
import type { SecureContext, TLSSocket } from 'node:tls';
import { closeAfter } from './closing.js';
import type { ConnectionSlot } from './connection-limits.js';
import { LineFramer, type LineFramerOptions } from './line-framer.js';
import type { Endpoint } from './proxy-header.js';
import { RateCredit } from './rate-credit.js';
import { SocketWriter, type WriterLimits } from './socket-writer.js';
import { secure } from './starttls.js';

export interface ConnectionTimes {
  /** ms for a whole line. */
  readonly idleMs: number;
  /** ms from the start of the connection to the login. */
  readonly loginMs: number;
  readonly handshakeMs: number;
  /** Octets that earn a second, of those read by number; reading begins with `minRateGraceMs`. */
  readonly minRate: number;
  readonly minRateGraceMs: number;
}

export type EndReason =
  /** No line in time. */
  | 'idle'
  /** No login in time. */
  | 'no-login'
  | 'too-slow'
  /** The listener stops, and the peer was between two lines. */
  | 'stopping'
  /** The peer is gone, or nothing can be said to it. */
  | 'lost';

/** Why nothing more comes from the connection. A session may let it pass: the listener says farewell and closes. */
export class ConnectionEnd extends Error {
  override readonly name = 'ConnectionEnd';
  readonly reason: EndReason;

  constructor(reason: EndReason, cause?: unknown) {
    super(`the connection ended: ${reason}`, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

export interface ConnectionOptions {
  readonly peer: Endpoint;
  readonly slot: ConnectionSlot;
  readonly times: ConnectionTimes;
  readonly lines: LineFramerOptions;
  readonly writer?: WriterLimits;
  readonly secureContext: () => SecureContext;
}

export class LineConnection {
  /** Of the client, also behind a trusted proxy. */
  readonly peer: Endpoint;
  readonly #options: ConnectionOptions;
  readonly #framer: LineFramer;
  readonly #writer: SocketWriter;
  readonly #loginBy: number;
  #socket: Socket;
  #secured: TLSSocket | undefined;
  #isLoggedIn = false;
  #hasEnded = false;
  #isDraining = false;
  /** Settles the wait for more input; the reason ends it. */
  #wake: ((reason?: EndReason) => void) | undefined;
  #isBetweenLines = false;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#options = options;
    this.#socket = socket;
    this.peer = options.peer;
    this.#framer = new LineFramer(options.lines);
    this.#writer = new SocketWriter(socket, options.writer);
    this.#loginBy = performance.now() + options.times.loginMs;
    this.#attach(socket);
  }

  /** Undefined before TLS. */
  get tls(): { readonly protocol: string; readonly cipher: string } | undefined {
    if (this.#secured === undefined) return undefined;
    return { protocol: this.#secured.getProtocol() ?? '', cipher: this.#secured.getCipher().name };
  }

  /**
   * The next line without its end; undefined when the peer has closed its side. Valid for good.
   * @throws ConnectionEnd, FramingError
   */
  async readLine(idleMs = this.#options.times.idleMs): Promise<Buffer | undefined> {
    const until = performance.now() + idleMs;
    for (;;) {
      const line = this.#framer.readLine();
      if (line !== undefined) return line;
      if (this.#pull()) continue;
      if (this.#hasEnded) return undefined;
      this.#isBetweenLines = this.#framer.held === 0;
      await this.#more(until, 'idle');
    }
  }

  /** The next `length` octets, piece by piece. @throws ConnectionEnd, `lost` when the peer closes its side before */
  async *readOctets(length: number): AsyncGenerator<Buffer> {
    const { minRate, minRateGraceMs, idleMs } = this.#options.times;
    const credit = new RateCredit(minRate, minRateGraceMs, performance.now());
    let left = length;
    while (left > 0) {
      const octets = this.#framer.readOctets(left);
      if (octets !== undefined) {
        left -= octets.length;
        yield octets;
        continue;
      }
      if (this.#pull()) continue;
      if (this.#hasEnded) throw new ConnectionEnd('lost');
      // The time that the session took for the octets is not the peer's.
      const now = performance.now();
      await this.#more(now + credit.left(length - left, idleMs, now, true), 'too-slow');
      credit.left(length - left, idleMs, performance.now(), false);
    }
  }

  /** Returns a promise when the session should wait before it writes again. */
  write(octets: string | Uint8Array): Promise<void> | undefined {
    return this.#writer.write(octets);
  }

  /**
   * STARTTLS: `reply` tells the peer to begin, and what the peer sent before that is forgotten (RFC 3207 §4.2).
   * @throws ConnectionEnd when there is no handshake
   */
  async startTls(reply: string): Promise<void> {
    if (this.#secured !== undefined) throw new Error('the connection has TLS');
    await this.#writer.flush();
    this.#detach();
    this.#framer.discard();
    while (this.#socket.read() !== null);
    this.#writer.write(reply);
    await this.#writer.flush();
    await this.#handshake();
  }

  /** TLS before anything is said. @throws ConnectionEnd when there is no handshake */
  async beginWithTls(): Promise<void> {
    this.#detach();
    await this.#handshake();
  }

  /** Whether the account may have this connection too. The time for a login ends. */
  logIn(account: string): boolean {
    if (!this.#options.slot.logIn(account)) return false;
    this.#isLoggedIn = true;
    return true;
  }

  /** The connection ends with `stopping` as soon as the peer is between two lines. */
  drain(): void {
    this.#isDraining = true;
    this.#endIdle();
  }

  /** Sends what waits and the last words, and closes. */
  end(words?: string): void {
    this.#detach();
    if (this.#socket.destroyed) return;
    this.#writer.uncork();
    closeAfter(this.#socket, words);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #attach(socket: Socket): void {
    socket.on('readable', this.#onReadable);
    socket.on('end', this.#onEnd);
    socket.on('close', this.#onClose);
    socket.on('error', this.#onClose);
  }

  #detach(): void {
    this.#socket.off('readable', this.#onReadable);
    this.#socket.off('end', this.#onEnd);
  }

  readonly #onReadable = (): void => this.#wake?.();
  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    this.#wake?.();
  };
  readonly #onClose = (): void => this.#wake?.('lost');

  #pull(): boolean {
    const chunk: Buffer | null = this.#socket.read();
    if (chunk === null) return false;
    this.#framer.push(chunk);
    return true;
  }

  /** Until there is more input. @throws ConnectionEnd */
  #more(until: number, late: EndReason): Promise<void> {
    if (this.#socket.destroyed) return Promise.reject(new ConnectionEnd('lost'));
    const isLoginLate = !this.#isLoggedIn && this.#loginBy < until;
    const end = isLoginLate ? this.#loginBy : until;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => this.#wake?.(isLoginLate ? 'no-login' : late),
        Math.max(0, end - performance.now()),
      );
      this.#wake = (reason) => {
        clearTimeout(timer);
        this.#wake = undefined;
        this.#isBetweenLines = false;
        if (reason === undefined) resolve();
        else reject(new ConnectionEnd(reason));
      };
      if (this.#isDraining) this.#endIdle();
    });
  }

  /** What has arrived while this process was busy is read before the peer is called idle. */
  #endIdle(): void {
    setImmediate(() =>
      setImmediate(() => {
        if (this.#isBetweenLines) this.#wake?.('stopping');
      }),
    );
  }

  async #handshake(): Promise<void> {
    const { secureContext, times } = this.#options;
    try {
      this.#secured = await secure(this.#socket, secureContext(), times.handshakeMs);
    } catch (error) {
      throw new ConnectionEnd('lost', error);
    }
    this.#socket = this.#secured;
    this.#writer.use(this.#secured);
    this.#attach(this.#secured);
  }
}
