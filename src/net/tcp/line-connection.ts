// One connection of a line protocol (IMAP, POP3): its addresses, its TLS, input at the session's pace, output at the peer's pace, and the
// time limits of the peer. A session asks for the next line and learns how the connection ended.
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
  /** The same while at least half of the listener's connections are in use. */
  readonly stressLoginMs: number;
  readonly handshakeMs: number;
  /** Octets per second that a peer must send when octets are read by number; reading begins with `minRateGraceMs`. */
  readonly minRate: number;
  readonly minRateGraceMs: number;
}

/** The listener as its connections see it. */
export interface OwningListener {
  readonly times: ConnectionTimes;
  /** The current time, in ms, from the start of a connection to the login. */
  readonly loginMs: number;
  readonly lines: LineFramerOptions;
  readonly writerLimits: WriterLimits | undefined;
  readonly tls: CertificateSource;
  /** Called when the session is over; `error`: the reason. */
  over(connection: LineConnection, error?: unknown): void;
}

/** The property of a socket that names its connection: handlers of events read it, so that no connection needs closures of its own. */
const OWNED = Symbol('connection');
type OwnedSocket = LineSocket & { [OWNED]?: LineConnection };

// The class sets these functions, because they use its private members.
let readable: (connection: LineConnection) => void;
let ended: (connection: LineConnection) => void;
let closed: (connection: LineConnection, socket: LineSocket) => void;

export class LineConnection {
  /** The address of the client, also behind a trusted proxy. */
  readonly peer: Endpoint;
  readonly #owner: OwningListener;
  readonly #slot: ConnectionSlot;
  readonly #framer: LineFramer;
  readonly #writer: SocketWriter;
  readonly #plain: Socket;
  /** When the time to log in began. */
  #began = performance.now();
  #socket: OwnedSocket;
  #secured: TLSSocket | undefined;
  #session: LineSession | undefined;
  #isCompressed = false;
  #isLoggedIn = false;
  #hasEnded = false;
  #isDraining = false;
  #isResting = false;
  /** The reason for which nothing more is read. */
  #cut: EndReason | undefined;
  /** Settles the wait for more input; a reason ends the connection. */
  #wake: ((reason?: EndReason) => void) | undefined;
  #isBetweenLines = false;
  /** The time at which the wait for input, or the rest, is over, by the clock of `performance`; and the reason that then applies. */
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
   * The next line without its end, at once when it is there; undefined when the peer has closed its side. The buffer stays valid.
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
      this.#isBetweenLines = this.#framer.buffered === 0;
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
      // The time that the session needs for the octets does not count for the peer.
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
   * STARTTLS: `reply` tells the peer to begin, and everything that the peer sent before is discarded (RFC 3207 §4.2).
   * @throws ConnectionEnd when the handshake fails
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

  /** Compresses octets from now on (RFC 4978); `reply` tells the peer so. Input that has already arrived is read as compressed. */
  async compress(reply: string): Promise<void> {
    if (this.#isCompressed) throw new Error('the connection is compressed');
    this.#writer.write(reply);
    await this.#writer.flush();
    this.#detach();
    const early = this.#framer.readOctets(this.#framer.buffered);
    this.#isCompressed = true;
    // From now on, the end of the compressed data is the end of the peer's side.
    this.#hasEnded = false;
    this.#use(new DeflatedSocket(this.#secured ?? this.#plain, early));
  }

  /** The peer is gone, so nobody reads the output. */
  get isLost(): boolean {
    return this.#socket.destroyed;
  }

  get isCompressed(): boolean {
    return this.#isCompressed;
  }

  /** Starts TLS before the first line. @throws ConnectionEnd when the handshake fails */
  async beginWithTls(): Promise<void> {
    this.#detach();
    await this.#handshake();
  }

  /** Whether the account may have this connection as well. The time limit for a login ends. */
  logIn(account: string): boolean {
    if (!this.#slot.logIn(account)) return false;
    this.#isLoggedIn = true;
    return true;
  }

  /** The account no longer has the connection, and the time limit for a login begins again. */
  logOut(): void {
    this.#slot.logOut();
    this.#isLoggedIn = false;
    this.#began = performance.now();
  }

  /** Runs the session, now and whenever there is input after a rest; at its end the owner is told. */
  start(session: LineSession): void {
    this.#session = session;
    this.#run(session);
  }

  /** Whether a session that reads now finds input, or the end of the connection. */
  get hasInput(): boolean {
    return this.#framer.buffered > 0 || this.#hasEnded || this.#cut !== undefined || this.#pull();
  }

  /** The connection ends with `stopping` as soon as the peer is between two lines. */
  drain(): void {
    this.#isDraining = true;
    this.#endIdle();
  }

  /** Ends reading with this reason, now or at the session's next read; the session may finish its current work. */
  cut(reason: EndReason): void {
    this.#cut ??= reason;
    this.#resume(this.#cut);
  }

  /** Ends a wait that takes too long. */
  sweep(now: number): void {
    if (this.#until === Number.POSITIVE_INFINITY) return;
    if (this.#owesLogin(now)) this.#resume('no-login');
    else if (now >= this.#until) this.#resume(this.#late);
  }

  /** Sends the waiting data and the last words, and closes. */
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

  /** Waits for the peer with this object alone: no promise and no timer is pending. */
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

  /** Continues the waiting session: the socket has input or, with a reason, ends. */
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

  /** Whether the time to log in is over; it gets shorter when the listener fills. */
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

  /** Resolves when there is more input. @throws ConnectionEnd */
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
    // The peer waits for this output before it sends more.
    this.#writer.uncork();
  }

  /** Input that arrived while this process was busy is read before the peer counts as idle. */
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

  /** Reads and writes use this stream from now on. */
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
