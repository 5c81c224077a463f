// The body of one request as it arrives, up to a limit and a time. Before a handler asks for the body, and while its
// reader is busy, only a little is kept and the client is held back. The server reads a short body that no handler has asked for
// to its end, so that the client reads the reply; after a longer one it closes the connection behind the reply. What follows a
// request waits in the kernel; for one that is answered at once nobody has to be told.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BodyError, type BodyFaultReason, type TakeBody } from './exchange.js';

/** Of the server's response object: reading from the client. */
export interface BodySource {
  onData(each: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  pause(): void;
  resume(): void;
}

export interface BodyLimits {
  /** Time for a whole body, unless its limit at the least rate takes longer. */
  readonly bodyMs: number;
  /** Least rate in octets a second for bodies too large for `bodyMs`. */
  readonly bodyRate: number;
}

/** Octets that wait to be read before the client is held back. */
const KEPT_UNREAD = 64 * 1024;
/** A connection closed with octets unread is reset, and the client may not get to see the reply. */
const DRAINED = 64 * 1024 * 1024;

export class RequestBody {
  readonly #source: BodySource;
  readonly #declared: number | null;
  readonly #limits: BodyLimits;
  readonly #isRead: boolean;
  #chunks: Uint8Array[] = [];
  #unread = 0;
  #received = 0;
  #complete = false;
  #paused = false;
  #unwanted = false;
  /** What follows is read: the reply is about to be written, or somebody watches whether the client is there. */
  #readsOn = false;
  #limit = Number.POSITIVE_INFINITY;
  #fault: BodyFaultReason | undefined;
  #settle: (() => void) | undefined;

  /**
   * To be made in the callback that brought the request: data follows at once. What follows the body is not read before
   * `abandon` or `readOn`. `isRead`: the request is a read, which is answered at once when all it needs is in memory.
   */
  constructor(source: BodySource, declared: number | null, limits: BodyLimits, isRead: boolean) {
    this.#source = source;
    this.#isRead = isRead;
    this.#declared = declared;
    this.#limits = limits;
    if (declared === 0) this.#completed();
    else source.onData((chunk, isLast) => this.#take(chunk, isLast));
  }

  /** Hands all octets to `take`, in order. @throws BodyFault, and what `take` throws */
  async read(limit: number, take: TakeBody): Promise<void> {
    this.#limit = limit;
    if ((this.#declared ?? this.#received) > limit) this.#fault ??= 'too-large';
    const timer = this.#complete ? undefined : this.#patience(limit);
    let hasWaited = false;
    try {
      for (;;) {
        if (this.#fault !== undefined) throw new BodyError(this.#fault);
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) {
          this.#unread -= chunk.length;
          await take(chunk);
        } else if (!this.#complete) {
          await this.#arrival();
          hasWaited = true;
        } else if (hasWaited) {
          // Everything that came in the same segment has been read then.
          await nextTurn();
          hasWaited = false;
        } else return;
      }
    } catch (error) {
      this.#unwanted = true;
      this.#chunks = [];
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The client is gone. */
  gone(): void {
    this.#fault ??= 'gone';
    this.#settle?.();
  }

  /** Somebody has to notice when the client leaves: what follows the body is read from now on. */
  readOn(): void {
    this.#readsOn = this.#complete;
    if (!this.#complete || !this.#paused) return;
    this.#paused = false;
    this.#source.resume();
  }

  /** The server library closes a connection some time after it was last told to read; it does not know that a reply is due. */
  stayOpen(): void {
    if (this.#complete && !this.#paused && this.#fault === undefined) this.#source.resume();
  }

  /** The reply is about to be written. True when the connection has to close behind it. */
  abandon(): boolean {
    this.#readsOn = true;
    if (this.#paused) this.#source.resume();
    this.#paused = false;
    if (this.#complete) return false;
    this.#unwanted = true;
    this.#chunks = [];
    return this.#fault === 'too-slow' || this.#declared === null || this.#declared - this.#received > DRAINED;
  }

  #patience(limit: number): NodeJS.Timeout {
    const expected = Math.min(limit, this.#declared ?? limit);
    const ms = Math.max(this.#limits.bodyMs, (expected / this.#limits.bodyRate) * 1000);
    return setTimeout(() => {
      if (this.#complete) return;
      this.#fault ??= 'too-slow';
      this.#settle?.();
    }, ms);
  }

  async #arrival(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#settle = resolve;
      if (this.#paused) this.#source.resume();
      this.#paused = false;
    });
    this.#settle = undefined;
  }

  /** What follows is not read from now on, unless it may be. */
  #hold(): void {
    if (this.#paused || this.#readsOn || this.#fault !== undefined) return;
    this.#paused = true;
    this.#source.pause();
  }

  #completed(): void {
    this.#complete = true;
    if (this.#paused || this.#unwanted) return;
    // After everything that this tick's promises still do, and before the server reads again.
    if (this.#isRead) queueMicrotask(() => process.nextTick(() => this.#hold()));
    else this.#hold();
  }

  #take(chunk: ArrayBuffer, isLast: boolean): void {
    this.#received += chunk.byteLength;
    if (isLast) this.#completed();
    if (!this.#unwanted) {
      if (this.#received > this.#limit) this.#fault ??= 'too-large';
      // The server takes the memory back when this returns.
      else if (chunk.byteLength > 0) {
        this.#chunks.push(new Uint8Array(chunk.slice(0)));
        this.#unread += chunk.byteLength;
      }
      if (this.#settle === undefined && !isLast && !this.#paused && this.#unread > KEPT_UNREAD) {
        this.#paused = true;
        this.#source.pause();
      }
    }
    this.#settle?.();
  }
}
