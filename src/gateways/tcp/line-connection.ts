// One connection of a protocol of lines (IMAP, POP3): its addresses, its TLS, lines and octets in at the session's pace, octets
// out at the peer's, and the times that a peer may take. A session asks for the next line and is told how the connection ended.
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { CertificateSource } from './certificate-source.js';
import { ConnectionEnd, type EndReason } from './connection-end.js';
import type { ConnectionSlot } from './connection-limits.js';
import { DeflatedSocket } from './deflated-socket.js';
import { drainAndClose } from './draining.js';
import { LineFramer, type LineFramerOptions } from './line-framer.js';
import type { LineSession } from './line-session.js';
import type { Endpoint } from './proxy-header.js';
import { RateCredit } from './rate-credit.js';
import { type LineSocket, SocketWriter, type WriterLimits } from './socket-writer.js';
import { secure } from './starttls.js';

export interface ConnectionTimes {
  /** ms for a whole line. */
  readonly idleMs: number;
  /** ms from the start of the connection to the login. */
  readonly loginMs: number;
  /** The same from half of the listener's connections on. */
  readonly stressLoginMs: number;
  readonly handshakeMs: number;
  /** Octets that earn a second, of those read by number; reading begins with `minRateGraceMs`. */
  readonly minRate: number;
  readonly minRateGraceMs: number;
}

/** The listener, as its connections see it. */
export interface OwningListener {
  readonly times: ConnectionTimes;
  /** ms from the start of a connection to the login, at present. */
  readonly loginMs: number;
  readonly lines: LineFramerOptions;
  readonly writerLimits: WriterLimits | undefined;
  readonly tls: CertificateSource;
  /** The session is over; `error`: what ended it. */
  over(connection: LineConnection, error?: unknown): void;
}

/** The connection of a socket: handlers of events find it there, so that no connection has functions of its own. */
const OWNED = Symbol('connection');
type OwnedSocket = LineSocket & { [OWNED]?: LineConnection };

// Set by the class: they reach its private parts.
let readable: (connection: LineConnection) => void;
let ended: (connection: LineConnection) => void;
let closed: (connection: LineConnection, socket: LineSocket) => void;

export class LineConnection {
  /** Of the client, also behind a trusted proxy. */
  readonly peer: Endpoint;
  readonly #owner: OwningListener;
  readonly #slot: ConnectionSlot;
  readonly #framer: LineFramer;
  readonly #writer: SocketWriter;
  readonly #plain: Socket;
  readonly #began = performance.now();
  #socket: OwnedSocket;
  #secured: TLSSocket | undefined;
  #session: LineSession | undefined;
  #isCompressed = false;
  #isLoggedIn = false;
  #hasEnded = false;
  #isDraining = false;
  #isResting = false;
  /** Nothing more is read. */
  #cut: EndReason | undefined;
  /** Settles the wait for more input; the reason ends it. */
  #wake: ((reason?: EndReason) => void) | undefined;
  #isBetweenLines = false;
  /** When the wait for input, or the rest, is over, by the clock of `performance`; and why. */
  #until = Number.POSITIVE_INFINITY;
  #late: EndReason = 'idle';

  constructor(socket: Socket, peer: Endpoint, slot: ConnectionSlot, owner: OwningListener) {
    this.#owner = owner;
    this.#slot = slot;
    this.#plain = socket;
    this.#socket = socket;
    this.peer = peer;
    this.#framer = new LineFramer(owner.lines);
    this.#writer = new SocketWriter(socket, owner.writerLimits);
    this.#attach(socket);
  }

  get isSecure(): boolean {
    return this.#secured !== undefined;
  }

  /** Undefined before TLS. */
  get tls(): { readonly protocol: string; readonly cipher: string } | undefined {
    if (this.#secured === undefined) return undefined;
    return { protocol: this.#secured.getProtocol() ?? '', cipher: this.#secured.getCipher().name };
  }

  /**
   * The next line without its end, at once when it is there; undefined when the peer has closed its side. Valid for good.
   * @throws ConnectionEnd, FramingError, also from the promise
   */
  readLine(idleMs = this.#owner.times.idleMs): Buffer | undefined | Promise<Buffer | undefined> {
    this.#check();
    return this.#framer.readLine() ?? this.#lineSoon(performance.now() + idleMs);
  }

  async #lineSoon(until: number): Promise<Buffer | undefined> {
    for (;;) {
      this.#check();
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
    const { minRate, minRateGraceMs, idleMs } = this.#owner.times;
    const credit = new RateCredit(minRate, minRateGraceMs, performance.now());
    let left = length;
    while (left > 0) {
      this.#check();
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

  /** Each character of a string is one octet. Returns a promise when the session should wait before it writes again. */
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

  /** Octets are compressed from now on (RFC 4978); `reply` tells the peer so. What the peer has sent is read as compressed. */
  async compress(reply: string): Promise<void> {
    if (this.#isCompressed) throw new Error('the connection is compressed');
    this.#writer.write(reply);
    await this.#writer.flush();
    this.#detach();
    const early = this.#framer.readOctets(this.#framer.held);
    this.#isCompressed = true;
    // The peer has ended its side when what is compressed ends.
    this.#hasEnded = false;
    this.#use(new DeflatedSocket(this.#secured ?? this.#plain, early));
  }

  /** Nobody is there to read what is written. */
  get isLost(): boolean {
    return this.#socket.destroyed;
  }

  get isCompressed(): boolean {
    return this.#isCompressed;
  }

  /** TLS before anything is said. @throws ConnectionEnd when there is no handshake */
  async beginWithTls(): Promise<void> {
    this.#detach();
    await this.#handshake();
  }

  /** Whether the account may have this connection too. The time for a login ends. */
  logIn(account: string): boolean {
    if (!this.#slot.logIn(account)) return false;
    this.#isLoggedIn = true;
    return true;
  }

  /** Runs the session, now and whenever there is input after a rest; then the owner is told that it is over. */
  start(session: LineSession): void {
    this.#session = session;
    this.#run(session);
  }

  /** Whether a session that reads now finds something, or the end of the connection. */
  get hasInput(): boolean {
    return this.#framer.held > 0 || this.#hasEnded || this.#cut !== undefined || this.#pull();
  }

  /** The connection ends with `stopping` as soon as the peer is between two lines. */
  drain(): void {
    this.#isDraining = true;
    this.#endIdle();
  }

  /** Reading ends with this reason, now or when the session reads again: what the session is doing it may finish. */
  cut(reason: EndReason): void {
    this.#cut ??= reason;
    this.#resume(this.#cut);
  }

  /** Ends what takes too long. */
  sweep(now: number): void {
    if (this.#until === Number.POSITIVE_INFINITY) return;
    if (this.#owesLogin(now)) this.#resume('no-login');
    else if (now >= this.#until) this.#resume(this.#late);
  }

  /** Sends what waits and the last words, and closes. */
  end(words?: string): void {
    this.#detach();
    if (this.#socket.destroyed) return;
    this.#writer.uncork();
    drainAndClose(this.#socket, words);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #run(session: LineSession): void {
    session.run().then(
      (next) => {
        if (next === 'over') this.#finish();
        else this.#rest(session);
      },
      (error) => this.#finish(error),
    );
  }

  /** Nothing but this object waits for the peer. */
  #rest(session: LineSession): void {
    if (this.hasInput) {
      this.#run(session);
      return;
    }
    if (this.#socket.destroyed) {
      this.#finish(new ConnectionEnd('lost'));
      return;
    }
    this.#isResting = true;
    this.#isBetweenLines = true;
    this.#waitUntil(performance.now() + this.#owner.times.idleMs, 'idle');
    if (this.#isDraining) this.#endIdle();
  }

  #finish(error?: unknown): void {
    const session = this.#session;
    this.#session = undefined;
    session?.close();
    this.#owner.over(this, error);
  }

  #attach(socket: OwnedSocket): void {
    socket[OWNED] = this;
    socket.on('readable', onReadable);
    socket.on('end', onEnd);
    socket.on('close', onClose);
    socket.on('error', onClose);
  }

  #detach(): void {
    this.#socket.off('readable', onReadable);
    this.#socket.off('end', onEnd);
  }

  /** The socket has input or, with a reason, ends; goes on with what waits. */
  #resume(reason?: EndReason): void {
    this.#wake?.(reason);
    if (!this.#isResting) return;
    this.#isResting = false;
    this.#isBetweenLines = false;
    this.#until = Number.POSITIVE_INFINITY;
    const session = this.#session;
    if (session === undefined) return;
    if (reason === undefined) this.#run(session);
    else this.#finish(new ConnectionEnd(reason));
  }

  static {
    readable = (connection) => connection.#resume();
    ended = (connection) => {
      connection.#hasEnded = true;
      connection.#resume();
    };
    closed = (connection, socket) => {
      if (socket !== connection.#socket) return;
      connection.#writer.closed();
      connection.#resume('lost');
    };
  }

  /** The time to log in is over; it gets shorter when the listener fills. */
  #owesLogin(now: number): boolean {
    return !this.#isLoggedIn && now - this.#began > this.#owner.loginMs;
  }

  #pull(): boolean {
    const chunk: Buffer | null = this.#socket.read();
    if (chunk === null) return false;
    this.#framer.push(chunk);
    return true;
  }

  #check(): void {
    if (this.#cut !== undefined) throw new ConnectionEnd(this.#cut);
    if (this.#owesLogin(performance.now())) throw new ConnectionEnd('no-login');
  }

  /** Until there is more input. @throws ConnectionEnd */
  #more(until: number, late: EndReason): Promise<void> {
    if (this.#socket.destroyed) return Promise.reject(new ConnectionEnd('lost'));
    this.#waitUntil(until, late);
    return new Promise((resolve, reject) => {
      this.#wake = (reason) => {
        this.#wake = undefined;
        this.#isBetweenLines = false;
        this.#until = Number.POSITIVE_INFINITY;
        if (reason === undefined) resolve();
        else reject(new ConnectionEnd(reason));
      };
      if (this.#isDraining) this.#endIdle();
    });
  }

  #waitUntil(until: number, late: EndReason): void {
    this.#until = until;
    this.#late = late;
    // The peer waits for what was written before it sends more.
    this.#writer.uncork();
  }

  /** What has arrived while this process was busy is read before the peer is called idle. */
  #endIdle(): void {
    setImmediate(() =>
      setImmediate(() => {
        if (this.#isBetweenLines) this.#resume('stopping');
      }),
    );
  }

  async #handshake(): Promise<void> {
    const { tls, times } = this.#owner;
    try {
      this.#secured = await secure(this.#plain, tls, times.handshakeMs);
    } catch (error) {
      throw new ConnectionEnd('lost', error);
    }
    this.#use(this.#secured);
  }

  /** What is read and written goes through this stream from now on. */
  #use(socket: OwnedSocket): void {
    this.#socket = socket;
    this.#writer.use(socket);
    this.#attach(socket);
  }
}

function onReadable(this: OwnedSocket): void {
  readable(this[OWNED]!);
}

function onEnd(this: OwnedSocket): void {
  ended(this[OWNED]!);
}

function onClose(this: OwnedSocket): void {
  closed(this[OWNED]!, this);
}
