// The socket of a connection without a WebSocket: frames wait for the client's next poll. Long polling answers a request with them;
// server-sent events are polls of this server itself. The connection limits the buffer and cuts off a client that is too slow. A poll ends
// after a while without frames, so that callers on another node notice when this node is gone.
import type { Socket, SocketListener } from '../../web-socket.js';
import { joined } from '../shared-frames.js';

export type Polled =
  /** Whole messages. */
  | { readonly kind: 'frames'; readonly octets: Uint8Array; readonly isBinary: boolean }
  /** No frame came for a while; the connection is open. */
  | { readonly kind: 'silence' }
  /** The connection has ended, or another poll has replaced this one. */
  | { readonly kind: 'over' };

export interface PolledSocketOptions {
  readonly carriesBinary: boolean;
  /** A poll without frames ends after this time. ms */
  readonly silenceMs: number;
  /** Runs its argument after the input of the current turn of the event loop is handled. */
  defer(run: () => void): void;
}

/** A poll returns at most this many octets, or one larger frame: it fits into a packet of the bus. */
const POLL_OCTETS = 256 * 1024;
/** RFC 6455 §7.4.1: the connection closed without a close handshake. */
const ABNORMAL = 1006;
const OVER: Polled = { kind: 'over' };

export class PolledSocket implements Socket {
  readonly #options: PolledSocketOptions;
  #listener: SocketListener | undefined;
  #pending: Uint8Array[] = [];
  #pendingOctets = 0;
  #isBinary = false;
  /** The code of a close that waits until all frames before it have left. */
  #closing: number | undefined;
  #isClosed = false;
  #answer: ((polled: Polled) => void) | undefined;
  #silence: NodeJS.Timeout | undefined;
  #isScheduled = false;

  constructor(options: PolledSocketOptions) {
    this.#options = options;
  }

  start(listener: SocketListener): void {
    this.#listener = listener;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get isPolled(): boolean {
    return this.#answer !== undefined;
  }

  /** Resolves at once when frames wait. Ends another poll that is in progress. */
  poll(): Promise<Polled> {
    this.#finish(OVER);
    return new Promise((resolve) => {
      this.#answer = resolve;
      this.#settle();
      if (this.#answer !== undefined) {
        this.#silence = setTimeout(() => this.#finish({ kind: 'silence' }), this.#options.silenceMs);
      }
    });
  }

  useBinary(): boolean {
    this.#isBinary = this.#options.carriesBinary;
    return this.#isBinary;
  }

  send(octets: Uint8Array): boolean {
    if (this.#isClosed || this.#closing !== undefined) return false;
    this.#pending.push(octets);
    this.#pendingOctets += octets.length;
    this.#settleLater();
    return true;
  }

  bufferedBytes(): number {
    return this.#pendingOctets;
  }

  close(code: number): void {
    if (this.#isClosed) return;
    this.#closing ??= code;
    this.#settleLater();
  }

  terminate(): void {
    this.#end(ABNORMAL);
  }

  /** Waits for the end of the turn, because the frames of one turn leave together. */
  #settleLater(): void {
    if (this.#isScheduled || this.#answer === undefined) return;
    this.#isScheduled = true;
    this.#options.defer(() => {
      this.#isScheduled = false;
      this.#settle();
    });
  }

  #settle(): void {
    if (this.#answer === undefined) return;
    if (this.#pending.length > 0) this.#finish({ kind: 'frames', octets: this.#take(), isBinary: this.#isBinary });
    else if (this.#isClosed) this.#finish(OVER);
    else if (this.#closing !== undefined) this.#end(this.#closing);
  }

  #take(): Uint8Array {
    let count = 0;
    let octets = 0;
    for (const { length } of this.#pending) {
      if (count > 0 && octets + length > POLL_OCTETS) break;
      count++;
      octets += length;
    }
    this.#pendingOctets -= octets;
    this.#options.defer(() => {
      if (!this.#isClosed) this.#listener?.drained();
    });
    return joined(this.#pending.splice(0, count));
  }

  #finish(polled: Polled): void {
    const answer = this.#answer;
    this.#answer = undefined;
    clearTimeout(this.#silence);
    answer?.(polled);
  }

  #end(code: number): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#pending = [];
    this.#pendingOctets = 0;
    this.#finish(OVER);
    this.#listener?.closed(code);
  }
}
